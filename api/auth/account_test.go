package auth_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// register registers an address from an address of its own.
func (o *office) register(address, code string, from int) (home.User, error) {
	return o.Register(o.t.Context(), auth.Registration{Email: address, Password: password, FirstName: "J", LastName: "Doe", SetupCode: code, From: at(from)})
}

func (o *office) mustRegister(address string, from int) home.User {
	o.t.Helper()
	u, err := o.register(address, "", from)
	if err != nil {
		o.t.Fatal(err)
	}
	return u
}

// byAddress returns the stored user of an address.
func (o *office) byAddress(address string) (u home.User, ok bool) {
	o.t.Helper()
	err := o.db.View(o.t.Context(), func(tx *store.Tx) (err error) {
		u, ok, err = tx.UserByEmail(address)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return u, ok
}

func (o *office) try(address, word string, from int) error {
	_, err := o.Login(o.t.Context(), auth.Credentials{Email: address, Password: word, From: at(from)})
	return err
}

func TestRegisteredUserIsUnconfirmed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.mustRegister("New@Example.com", 1)
	if u.Confirmed() || u.Username != "New" || u.ID == 0 || u.Sub == "" {
		t.Errorf("user %+v", u)
	}
	token := o.tokenMailed(notify.Confirm, "New@Example.com")
	err := o.try("new@example.com", password, 1)
	o.wantKind(err, fault.Forbidden)
	if f, _ := err.(*fault.Error); f == nil || f.Code != "unconfirmed" {
		t.Errorf("error %v, want code unconfirmed", err)
	}
	o.wantKind(o.try("new@example.com", "wrong word", 1), fault.Unauthorized)
	confirmed, err := o.Confirm(t.Context(), token, at(1))
	if err != nil || !confirmed.Confirmed() {
		t.Fatalf("%+v %v", confirmed, err)
	}
	if err := o.try("new@example.com", password, 1); err != nil {
		t.Errorf("after the confirmation: %v", err)
	}
	_, err = o.Confirm(t.Context(), token, at(1))
	o.wantKind(err, fault.Unauthorized)
}

func TestKnownAddressAnswersTheSame(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.mustRegister("waiting@example.com", 1)
	o.mailed()
	unknown := o.mustRegister("new@example.com", 2)
	o.mailed()
	last := unknown.ID
	for _, c := range []struct {
		address string
		kind    notify.Kind
	}{{email, notify.KnownAddress}, {"JDOE@example.com", notify.KnownAddress}, {"waiting@example.com", notify.Reset}} {
		u := o.mustRegister(c.address, 3)
		mails := o.mailed()
		if len(mails) != 1 || mails[0].Kind != c.kind || mails[0].To != strings.ToLower(c.address) {
			t.Errorf("%s: mails %+v", c.address, mails)
		}
		same := cmpopts.IgnoreFields(home.User{}, "ID", "Email", "Username", "Sub")
		if diff := cmp.Diff(unknown, u, same); diff != "" || u.Email != c.address || len(u.Sub) != len(unknown.Sub) || u.Sub == unknown.Sub {
			t.Errorf("%s: %+v differs from a new user: %s", c.address, u, diff)
		}
		if u.ID != last+1 {
			t.Errorf("%s: id %d after %d", c.address, u.ID, last)
		}
		last = u.ID
		if stored, _ := o.byAddress(c.address); stored.ID == u.ID {
			t.Errorf("%s: the id is the account's", c.address)
		}
	}
	if next := o.mustRegister("another@example.com", 4); next.ID != last+1 {
		t.Errorf("id %d after the made-up %d: there is a way to tell", next.ID, last)
	}
	if err := o.try(email, password, 1); err != nil {
		t.Errorf("the account was changed: %v", err)
	}
}

func TestUnknownAndKnownAddressGetTheSameAnswers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.mustRegister("waiting@example.com", 1)
	o.mailed()
	wrong := map[string]bool{}
	for i, address := range []string{email, "waiting@example.com", "nobody@example.com"} {
		wrong[fmt.Sprint(o.try(address, "wrong word", 10+i))] = true
		for _, ask := range []error{o.SendReset(t.Context(), address, at(20+i)), o.SendConfirmation(t.Context(), address, at(30+i))} {
			if ask != nil {
				t.Errorf("%s: %v", address, ask)
			}
		}
	}
	if len(wrong) != 1 {
		t.Errorf("logins answer %v", wrong)
	}
	var got []string
	for _, m := range o.mailed() {
		got = append(got, string(m.Kind)+" "+m.To)
	}
	if diff := cmp.Diff([]string{"reset " + email, "reset waiting@example.com", "confirm waiting@example.com"}, got); diff != "" {
		t.Errorf("mails (-want +got):\n%s", diff)
	}
}

func TestFloodOfMailsIsThrottled(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	for range 5 {
		if err := o.SendReset(t.Context(), "a@example.com", at(1)); err != nil {
			t.Fatal(err)
		}
	}
	o.wantKind(o.SendReset(t.Context(), "b@example.com", at(1)), fault.Throttled)
	o.wantKind(o.SendConfirmation(t.Context(), "b@example.com", at(1)), fault.Throttled)
	_, err := o.register("b@example.com", "", 1)
	o.wantKind(err, fault.Throttled)
	for n := range 10 { // from many addresses to one
		if err := o.SendReset(t.Context(), email, at(10+n)); err != nil {
			t.Errorf("the owner of the address is locked out: %v", err)
		}
	}
	if n := len(o.mailed()); n != 5 {
		t.Errorf("%d mails, want 5", n)
	}
}

func TestResetSetsThePasswordOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	session := o.login(false)
	if err := o.SendReset(t.Context(), strings.ToUpper(email), at(1)); err != nil {
		t.Fatal(err)
	}
	if err := o.SendReset(t.Context(), email, at(1)); err != nil {
		t.Fatal(err)
	}
	mails := o.mailed()
	told := o.ended.Load()
	o.pass(59 * time.Minute)
	u, err := o.Reset(t.Context(), mails[0].Token, "battery staple", at(1))
	if err != nil || u.Email != email {
		t.Fatalf("%+v %v", u, err)
	}
	if o.valid(session.Token) || o.ended.Load() == told {
		t.Error("the sessions go on")
	}
	for i, m := range mails { // one was used, the other is of the old password
		_, err := o.Reset(t.Context(), m.Token, "third word", at(1))
		if fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("token %d again: %v", i, err)
		}
	}
	o.wantKind(o.try(email, password, 1), fault.Unauthorized)
	if err := o.try(email, "battery staple", 1); err != nil {
		t.Error(err)
	}
}

func TestMailedTokensExpire(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	tokens := o.genuine()
	o.pass(time.Hour)
	_, err := o.Reset(t.Context(), tokens["reset"], "battery staple", at(1))
	o.wantKind(err, fault.Unauthorized)
	o.pass(47*time.Hour - time.Second)
	if _, err := o.Confirm(t.Context(), tokens["confirm"], at(1)); err != nil {
		t.Errorf("before 48 h: %v", err)
	}
	o.mustRegister("late@example.com", 2)
	late := o.tokenMailed(notify.Confirm, "late@example.com")
	o.pass(48 * time.Hour)
	_, err = o.Confirm(t.Context(), late, at(1))
	o.wantKind(err, fault.Unauthorized)
}

func TestResetConfirmsTheAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.mustRegister("new@example.com", 1)
	confirm := o.tokenMailed(notify.Confirm, "new@example.com")
	if err := o.SendReset(t.Context(), "new@example.com", at(1)); err != nil {
		t.Fatal(err)
	}
	u, err := o.Reset(t.Context(), o.tokenMailed(notify.Reset, "new@example.com"), "battery staple", at(1))
	if err != nil || !u.Confirmed() {
		t.Errorf("%+v %v", u, err)
	}
	_, err = o.Confirm(t.Context(), confirm, at(1)) // of whoever registered the address
	o.wantKind(err, fault.Unauthorized)
}

func TestAddressMovesWhenItsMailIsOpened(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	who := auth.User{ID: u.ID, Address: at(1)}
	next, name := "new@example.com", "Jane"
	changed, err := o.Change(t.Context(), who, auth.Changes{Email: &next, FirstName: &name, Current: password})
	if err != nil || changed.Email != email || changed.FirstName != name {
		t.Fatalf("%+v %v", changed, err)
	}
	token := o.tokenMailed(notify.Confirm, next)
	moved, err := o.Confirm(t.Context(), token, at(1))
	if err != nil || moved.Email != next || moved.ID != u.ID {
		t.Fatalf("%+v %v", moved, err)
	}
	if err := o.try(next, password, 1); err != nil {
		t.Error(err)
	}
	o.wantKind(o.try(email, password, 2), fault.Unauthorized)
}

// Whoever moves their account sees the mail in the outbox, and may have its link.
func TestMoveToATakenAddressLooksLikeAnyOther(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	o.person("taken@example.com")
	who := auth.User{ID: u.ID, Address: at(1)}
	var tokens []string
	for _, next := range []string{"free@example.com", "Taken@example.com"} {
		if err := o.change(who, auth.Changes{Email: &next, Current: password}); err != nil {
			t.Fatal(err)
		}
		mails := o.mailed()
		if len(mails) != 1 || mails[0].Kind != notify.Confirm || mails[0].To != next || mails[0].User != u.ID || mails[0].Token == "" {
			t.Fatalf("%s: mails %+v", next, mails)
		}
		tokens = append(tokens, mails[0].Token)
	}
	o.person("free@example.com") // somebody else was faster
	_, expired := o.Confirm(t.Context(), "x", at(2))
	for i, token := range tokens {
		_, err := o.Confirm(t.Context(), token, at(3))
		_, shown := o.ConfirmWithPassword(t.Context(), token, password, at(3))
		for _, err := range []error{err, shown} {
			if diff := cmp.Diff(expired, err); diff != "" {
				t.Errorf("link %d is refused in other words than one that is not valid: %s", i, diff)
			}
		}
	}
	if mails := o.mailed(); len(mails) != 0 {
		t.Errorf("mails %+v", mails)
	}
	if kept, _ := o.byAddress(email); kept.ID != u.ID {
		t.Error("the account has moved")
	}
}

func TestNewPasswordEndsSessionsAndPendingMoves(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	session := o.login(false)
	thief, word := "thief@example.com", "battery staple"
	who := auth.User{ID: u.ID, Address: at(1)}
	if _, err := o.Change(t.Context(), who, auth.Changes{Email: &thief, Current: password}); err != nil {
		t.Fatal(err)
	}
	token := o.tokenMailed(notify.Confirm, thief)
	if _, err := o.Change(t.Context(), who, auth.Changes{Password: &word, Current: password}); err != nil {
		t.Fatal(err)
	}
	if o.valid(session.Token) {
		t.Error("the session goes on")
	}
	_, err := o.Confirm(t.Context(), token, at(1))
	o.wantKind(err, fault.Unauthorized)
}

func TestEveryMistakeOfARegistrationIsTold(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, err := o.Register(t.Context(), auth.Registration{Email: "no address", Password: "short", From: at(1)})
	f, ok := err.(*fault.Error)
	if !ok || f.Kind != fault.Invalid || len(f.Details) != 2 || f.Details[0].Location != "body.email" || f.Details[1].Location != "body.password" {
		t.Errorf("%+v", err)
	}
}

func TestLoginFillsEmptyNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email) // J, without a last name
	tokens, err := o.Login(t.Context(), auth.Credentials{Email: email, Password: password, FirstName: "X", LastName: "Doe", From: at(1)})
	if err != nil || tokens.User.FirstName != "J" || tokens.User.LastName != "Doe" {
		t.Errorf("%+v %v", tokens.User, err)
	}
}

func TestPasswordIsHashedAnewWhenTheCostChanges(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	hash := func() (text string) {
		err := o.db.View(t.Context(), func(tx *store.Tx) (err error) {
			text, err = tx.Password(u.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	o.restart(auth.Argon{Memory: 8192, Passes: 1, Threads: 1})
	o.wantKind(o.try(email, "wrong word", 1), fault.Unauthorized)
	if !strings.Contains(hash(), "m=7168") {
		t.Error("a wrong password has changed the hash")
	}
	o.login(true)
	if !strings.Contains(hash(), "m=8192") {
		t.Errorf("hash %s", hash()[:30])
	}
	o.login(true)
}

func TestGuessesAreThrottledAndResidentsGetIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.login(true) // from at(1), which is familiar now
	kinds := map[fault.Kind]int{}
	for range 50 {
		kinds[fault.KindOf(o.try(email, "wrong word", 66))]++
	}
	if kinds[fault.Unauthorized] != 5 || kinds[fault.Throttled] != 45 {
		t.Errorf("answers %v, want 5 verified", kinds)
	}
	o.wantKind(o.try(email, password, 66), fault.Throttled)
	for _, from := range []int{1, 2} {
		if err := o.try(email, password, from); err != nil {
			t.Errorf("the resident at %v: %v", at(from), err)
		}
	}
}

func TestAbandonedRegistrationGivesWay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	squatter := o.mustRegister("new@example.com", 1)
	o.pass(49 * time.Hour)
	owner := o.mustRegister("new@example.com", 2)
	if stored, ok := o.byAddress("new@example.com"); !ok || stored.ID != owner.ID || stored.ID == squatter.ID {
		t.Errorf("stored %+v, want %d", stored, owner.ID)
	}
	o.pass(8 * 24 * time.Hour)
	o.mustRegister("other@example.com", 3)
	if _, ok := o.byAddress("new@example.com"); ok {
		t.Error("an account that was never confirmed is kept for ever")
	}
}

func TestSetupCodeWorksOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	former, err := auth.NewSetupCode(t.Context(), o.db)
	if err != nil {
		t.Fatal(err)
	}
	code, err := auth.NewSetupCode(t.Context(), o.db)
	if err != nil || len(code) != 14 {
		t.Fatalf("%q %v", code, err)
	}
	for name, wrong := range map[string]string{"former": former, "none": "0000-0000-0000", "blank": " "} {
		_, err := o.register(name+"@example.com", wrong, 1)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := o.byAddress(name + "@example.com"); ok {
			t.Errorf("%s: an account was made", name)
		}
	}
	u, err := o.register("owner@example.com", strings.ToLower(strings.ReplaceAll(code, "-", " ")), 1)
	if err != nil || !u.Confirmed() {
		t.Fatalf("%+v %v", u, err)
	}
	if len(o.mailed()) > 0 {
		t.Error("a confirmation mail was sent")
	}
	_, err = o.register("second@example.com", code, 2)
	o.wantKind(err, fault.Invalid)
	err = o.db.Update(t.Context(), func(tx *store.Tx) error {
		for user, want := range map[home.UserID]bool{u.ID: true, u.ID + 1: false, 0: false} {
			if has, err := tx.HasSetupCode(user); has != want || err != nil {
				t.Errorf("user %d has shown it: %t %v", user, has, err)
			}
		}
		if err := tx.RedeemSetupCode(code, u.ID); err != nil {
			t.Errorf("shown already: %v", err)
		}
		return tx.EndSetupCode()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSetupCodeHolderHearsOfAKnownAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	code, err := auth.NewSetupCode(t.Context(), o.db)
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.register(email, code, 1)
	o.wantKind(err, fault.Conflict)
	_, err = o.register(email, "wrong", 1)
	o.wantKind(err, fault.Invalid)
	if u, err := o.register("new@example.com", code, 2); err != nil || !u.Confirmed() {
		t.Errorf("the code was used up: %v", err)
	}
}

func TestWrongSetupCodesAreThrottled(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for n := range 5 {
		_, err := o.register(fmt.Sprintf("u%d@example.com", n), "wrong", 1)
		o.wantKind(err, fault.Invalid)
	}
	_, err := o.TryCode(at(1))
	o.wantKind(err, fault.Throttled)
	for range 10 {
		judge, err := o.TryCode(at(2))
		if err != nil {
			t.Fatal(err)
		}
		judge(nil)
	}
}

func TestAdministratorSetsPasswords(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.mustRegister(email, 1)
	u, err := o.SetPassword(t.Context(), email, "battery staple")
	if err != nil || !u.Confirmed() {
		t.Fatalf("%+v %v", u, err)
	}
	if err := o.try(email, "battery staple", 1); err != nil {
		t.Error(err)
	}
	_, err = o.SetPassword(t.Context(), "nobody@example.com", "battery staple")
	o.wantKind(err, fault.NotFound)
	_, err = o.Create(t.Context(), auth.Registration{Email: email, Password: password})
	o.wantKind(err, fault.Conflict)
}
