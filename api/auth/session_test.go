package auth_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

func TestNewSessionEndsEarlierOnes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	first := o.login(false)
	second := o.login(false) // within the same second
	if o.valid(first.Token) || !o.valid(second.Token) {
		t.Errorf("first %t, second %t; want the second alone", o.valid(first.Token), o.valid(second.Token))
	}
	if second.User.ValidFrom != first.User.ValidFrom+1 {
		t.Errorf("valid_from %d then %d, want one second more", first.User.ValidFrom, second.User.ValidFrom)
	}
	if _, err := o.sessions.Refresh(t.Context(), first.RefreshToken, true); err == nil {
		t.Error("the refresh token of the ended session works")
	}
}

func TestMultiSessionsLiveSideBySide(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	first := o.login(false)
	o.login(false)
	o.login(false) // valid_from is ahead of the clock now
	second := o.login(true)
	third := o.login(true)
	if o.valid(first.Token) || !o.valid(second.Token) || !o.valid(third.Token) {
		t.Error("want the second and the third, and not the first")
	}
	if second.User.ValidFrom != third.User.ValidFrom {
		t.Error("multi has moved valid_from")
	}
}

func TestOldestSessionGivesWay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	var all []auth.Tokens
	for range store.MaxSessions + 1 {
		tokens, err := o.sessions.Start(t.Context(), u.ID, true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tokens)
		o.pass(time.Second)
	}
	if o.valid(all[0].Token) || !o.valid(all[1].Token) || !o.valid(all[store.MaxSessions].Token) {
		t.Error("want all but the first")
	}
	if o.ended.Load() == 0 {
		t.Error("nobody was told that a session ended")
	}
}

func TestSessionTokenLivesAnHour(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	tokens := o.login(false)
	o.pass(59 * time.Minute)
	if !o.valid(tokens.Token) {
		t.Error("it has ended early")
	}
	o.pass(time.Minute)
	if o.valid(tokens.Token) {
		t.Error("it lives on")
	}
}

func TestRefreshRotates(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	first := o.login(false)
	o.pass(time.Hour)
	second, err := o.sessions.Refresh(t.Context(), first.RefreshToken, false)
	if err != nil {
		t.Fatal(err)
	}
	if !o.valid(second.Token) || second.User.Email != email {
		t.Errorf("new token does not work, or is of %q", second.User.Email)
	}
	o.pass(29 * 24 * time.Hour)
	if _, err := o.sessions.Refresh(t.Context(), second.RefreshToken, false); err != nil {
		t.Errorf("after 29 days: %v", err)
	}
}

func TestRefreshTokenLivesThirtyDays(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	tokens := o.login(false)
	o.pass(30 * 24 * time.Hour)
	_, err := o.sessions.Refresh(t.Context(), tokens.RefreshToken, false)
	o.wantKind(err, fault.Unauthorized)
}

func TestLostAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	for _, multi := range []bool{false, true} {
		o := newOffice(t)
		o.person(email)
		first := o.login(false)
		lost, err := o.sessions.Refresh(t.Context(), first.RefreshToken, multi)
		if err != nil {
			t.Fatal(err)
		}
		o.pass(30 * time.Second)
		again, err := o.sessions.Refresh(t.Context(), first.RefreshToken, multi)
		if err != nil {
			t.Fatalf("multi %t: %v", multi, err)
		}
		if !o.valid(lost.Token) || !o.valid(again.Token) {
			t.Errorf("multi %t: want both answers to work", multi)
		}
		if _, err := o.sessions.Refresh(t.Context(), lost.RefreshToken, multi); err != nil {
			t.Errorf("multi %t: the first answer's refresh token: %v", multi, err)
		}
	}
}

func TestReuseOfRefreshTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	stolen := o.login(false)
	next, err := o.sessions.Refresh(t.Context(), stolen.RefreshToken, true)
	if err != nil {
		t.Fatal(err)
	}
	other := o.login(true)
	o.pass(31 * time.Second)
	told := o.ended.Load()
	_, err = o.sessions.Refresh(t.Context(), stolen.RefreshToken, true)
	o.wantKind(err, fault.Unauthorized)
	if o.valid(next.Token) || !o.valid(other.Token) {
		t.Error("want that session ended, and the other one not")
	}
	if _, err := o.sessions.Refresh(t.Context(), next.RefreshToken, true); err == nil {
		t.Error("the session can be refreshed still")
	}
	if o.ended.Load() == told {
		t.Error("nobody was told")
	}
}

func TestTwiceUsedTokenWithinTheGraceEndsTheSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	first := o.login(false)
	second, _ := o.sessions.Refresh(t.Context(), first.RefreshToken, true)
	third, err := o.sessions.Refresh(t.Context(), second.RefreshToken, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.sessions.Refresh(t.Context(), first.RefreshToken, true) // two generations old
	o.wantKind(err, fault.Unauthorized)
	if o.valid(third.Token) {
		t.Error("the session goes on")
	}
}

func TestRefreshWithoutMultiEndsOthers(t *testing.T) {
	t.Parallel()
	for _, multi := range []bool{false, true} {
		o := newOffice(t)
		o.person(email)
		one, other := o.login(true), o.login(true)
		if _, err := o.sessions.Refresh(t.Context(), one.RefreshToken, multi); err != nil {
			t.Fatal(err)
		}
		if o.valid(other.Token) != multi {
			t.Errorf("multi %t: the other session is valid: %t", multi, !multi)
		}
	}
}

func TestLogoutEndsOneOrAll(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		o := newOffice(t)
		u := o.person(email)
		one, other := o.login(true), o.login(true)
		who, err := o.sessions.Check(t.Context(), one.Token, netip.Addr{})
		if err != nil || who.ID != u.ID {
			t.Fatalf("%+v %v", who, err)
		}
		told := o.ended.Load()
		if err := o.sessions.End(t.Context(), who, all); err != nil {
			t.Fatal(err)
		}
		if o.valid(one.Token) || o.valid(other.Token) == all || o.ended.Load() == told {
			t.Errorf("all %t: one %t, other %t, told %d", all, o.valid(one.Token), o.valid(other.Token), o.ended.Load()-told)
		}
		if _, err := o.sessions.Refresh(t.Context(), one.RefreshToken, true); err == nil {
			t.Error("the ended session can be refreshed")
		}
		if later := o.login(true); !o.valid(later.Token) {
			t.Error("the next login is born invalid")
		}
	}
}

func TestExpiredSessionsAreCleared(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	for range 3 {
		o.login(true)
	}
	o.pass(31 * 24 * time.Hour)
	last := o.login(true)
	err := o.db.View(t.Context(), func(tx *store.Tx) error {
		left, err := tx.SessionsOfUser(last.User.ID)
		if len(left) != 1 {
			t.Errorf("%d sessions, want the new one", len(left))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSessionSurvivesARestart(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	tokens := o.login(false)
	o.restart(cheap)
	if !o.valid(tokens.Token) {
		t.Error("the token is not valid any more")
	}
}

func TestDeletedUserHasNoSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	tokens := o.login(false)
	if err := o.db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteUser(u.ID) }); err != nil {
		t.Fatal(err)
	}
	if o.valid(tokens.Token) {
		t.Error("the token works")
	}
	_, err := o.sessions.Refresh(t.Context(), tokens.RefreshToken, false)
	o.wantKind(err, fault.Unauthorized)
	_, err = o.sessions.Start(t.Context(), home.UserID(99), false)
	o.wantKind(err, fault.NotFound)
}

func TestClockThatGoesBackMakesNoEternalToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.pass(365 * 24 * time.Hour)
	o.login(false)
	o.pass(-365 * 24 * time.Hour)
	tokens := o.login(false)
	if !o.valid(tokens.Token) {
		t.Error("nobody can log in any more")
	}
	o.pass(time.Hour)
	if o.valid(tokens.Token) {
		t.Error("the token lives longer than an hour")
	}
}

// TestLogInBeforeTheClockIsSetEndsThen logs in on a clock in 1970, at which a session of
// before goes on: when it is set, the log-in has ended, and that session goes on.
func TestLogInBeforeTheClockIsSetEndsThen(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	before := o.login(true)
	behind := o.now.Sub(time.Unix(60, 0))
	o.pass(-behind)
	in1970 := o.login(true)
	if !o.valid(in1970.Token) || !o.valid(before.Token) {
		t.Error("nobody can log in, or stay logged in, before the clock is set")
	}
	o.pass(behind + time.Minute)
	if o.valid(in1970.Token) || !o.valid(before.Token) {
		t.Error("want the log-in of 1970 ended, the one of before to go on")
	}
	_, err := o.sessions.Refresh(t.Context(), in1970.RefreshToken, true)
	o.wantKind(err, fault.Unauthorized)
	if again := o.login(true); !o.valid(again.Token) {
		t.Error("nobody can log in again")
	}
}

func TestTokensSayNothingButIDs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	tokens := o.login(false)
	for _, token := range []string{tokens.Token, tokens.RefreshToken} {
		if text := payloadOf(t, token); strings.Contains(text, email) {
			t.Errorf("claims %s name the address", text)
		}
	}
}

func TestValidFromStaysWithTheClock(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	var last auth.Tokens
	begun := 0
	for range 20 { // all within one second
		s, err := o.sessions.Start(t.Context(), u.ID, false)
		if err != nil {
			o.wantKind(err, fault.Throttled)
			continue
		}
		begun++
		if last.Token != "" && o.valid(last.Token) {
			t.Error("the log-in before goes on")
		}
		last = s
	}
	now := o.clock().Unix()
	if ahead := last.User.ValidFrom - now; begun < 2 || ahead > 5 || !o.valid(last.Token) {
		t.Errorf("%d log-ins, valid_from is %d s ahead", begun, ahead)
	}
	if err := o.sessions.End(t.Context(), o.caller(last, 1), true); err != nil {
		t.Errorf("an end is refused: %v", err)
	}
	if o.valid(last.Token) {
		t.Error("ended, and valid")
	}
	o.pass(time.Second)
	if _, err := o.sessions.Start(t.Context(), u.ID, false); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

func TestClockThatWasSetBackKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	before := o.login(false)
	o.pass(-24 * time.Hour)
	s := o.login(false)
	if ahead := s.User.ValidFrom - o.clock().Unix(); ahead > 5 || !o.valid(s.Token) || o.valid(before.Token) {
		t.Errorf("valid_from is %d s ahead, or the wrong session is valid", ahead)
	}
}
