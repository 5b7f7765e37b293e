package auth_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

const agent = "Mozilla/5.0 (Android 15; Mobile)"

var here = netip.MustParseAddr("192.0.2.1")

// browse begins a session of a browser.
func (o *office) browse(email string) (auth.Halves, home.User) {
	o.t.Helper()
	halves, u, err := o.LoginBrowser(o.t.Context(), auth.Credentials{Email: email, Password: password, Browser: agent, From: here})
	if err != nil {
		o.t.Fatal(err)
	}
	return halves, u
}

// opens reports whether two halves open a session.
func (o *office) opens(h auth.Halves) bool {
	o.t.Helper()
	_, err := o.sessions.CheckBrowser(o.t.Context(), h, here)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		o.t.Fatal(err)
	}
	return err == nil
}

func TestBothHalvesOfOneSessionAreNeeded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person("jdoe@example.com")
	first, u := o.browse("jdoe@example.com")
	second, _ := o.browse("jdoe@example.com")
	id, _, _ := strings.Cut(first.Cookie, ".")
	for name, c := range map[string]struct {
		halves auth.Halves
		opens  bool
	}{
		"both":                        {first, true},
		"both of the other session":   {second, true},
		"no cookie":                   {auth.Halves{Proof: first.Proof}, false},
		"no proof":                    {auth.Halves{Cookie: first.Cookie}, false},
		"nothing":                     {auth.Halves{}, false},
		"the proof of another":        {auth.Halves{Cookie: first.Cookie, Proof: second.Proof}, false},
		"the cookie of another":       {auth.Halves{Cookie: second.Cookie, Proof: first.Proof}, false},
		"the session's id and proof":  {auth.Halves{Cookie: id, Proof: first.Proof}, false},
		"the cookie as proof as well": {auth.Halves{Cookie: first.Cookie, Proof: first.Cookie}, false},
	} {
		if got := o.opens(c.halves); got != c.opens {
			t.Errorf("%s: opens %v, want %v", name, got, c.opens)
		}
	}
	who, err := o.sessions.CheckBrowser(t.Context(), first, here)
	if err != nil || who.ID != u.ID || who.Session != id || !who.Browser {
		t.Errorf("%+v %v, want the browser's user", who, err)
	}
}

func TestTokensAndBrowsersDoNotShareSessions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person("jdoe@example.com")
	tokens, err := o.sessions.Start(t.Context(), u.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	who, err := o.sessions.Check(t.Context(), tokens.Token, here)
	if err != nil {
		t.Fatal(err)
	}
	if o.opens(auth.Halves{Cookie: who.Session + "." + tokens.Token, Proof: tokens.Token}) {
		t.Error("a session of tokens is open to a browser")
	}
	if err := o.sessions.StillOpen(t.Context(), who); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("a session of tokens goes on as a browser's: %v", err)
	}
}

func TestBrowserSessionEndsWithoutUseAndInAnyCaseAfterNinetyDays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	o := newOffice(t)
	o.person("jdoe@example.com")
	idle, _ := o.browse("jdoe@example.com")
	used, _ := o.browse("jdoe@example.com")
	for range 29 {
		o.pass(day)
		if !o.opens(used) {
			t.Fatal("a session in use has ended")
		}
	}
	o.pass(day + time.Second)
	if o.opens(idle) {
		t.Error("a session goes on after 30 days without use")
	}
	for range 59 {
		if !o.opens(used) {
			t.Fatal("a session in use has ended")
		}
		o.pass(day)
	}
	o.pass(day)
	if o.opens(used) {
		t.Error("a session goes on after 90 days")
	}
}

// TestClockThatIsSetEndsNoBrowserSessionAndProlongsNone: a box without a clock of its own wakes
// up in 1970 and gets the time a little later; another one began in 2036.
func TestClockThatIsSetEndsNoBrowserSessionAndProlongsNone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.now = time.Date(2026, time.November, 24, 8, 0, 0, 0, time.UTC)
	halves, _ := o.browse(email)
	o.pass(-56 * 365 * 24 * time.Hour)
	if !o.opens(halves) {
		t.Error("a session is closed while the clock is not set")
	}
	o.pass(56 * 365 * 24 * time.Hour)
	if !o.opens(halves) {
		t.Error("a use by an unset clock has ended the session")
	}
	o.pass(10 * 365 * 24 * time.Hour)
	ahead, _ := o.browse(email)
	o.pass(-10 * 365 * 24 * time.Hour)
	if o.opens(ahead) {
		t.Error("a session from the future is open")
	}
}

func TestUseOfABrowserIsStoredOnceADay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person("jdoe@example.com")
	halves, u := o.browse("jdoe@example.com")
	seen := func() float64 {
		list, err := o.sessions.Sessions(t.Context(), auth.User{ID: u.ID})
		if err != nil || len(list) != 1 || list[0].Browser != agent {
			t.Fatalf("%+v %v", list, err)
		}
		return float64(list[0].SeenAt)
	}
	began := seen()
	o.pass(23 * time.Hour)
	if o.opens(halves); seen() != began {
		t.Error("a use within a day was stored")
	}
	o.pass(2 * time.Hour)
	if o.opens(halves); seen() != began+25*3600 {
		t.Errorf("seen at %v, want a day and an hour after %v", seen(), began)
	}
}

func TestSessionEndsByItsUserAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person("jdoe@example.com")
	o.person("mum@example.com")
	first, u := o.browse("jdoe@example.com")
	second, _ := o.browse("jdoe@example.com")
	_, other := o.browse("mum@example.com")
	id, _, _ := strings.Cut(first.Cookie, ".")
	if err := o.sessions.EndOne(t.Context(), auth.User{ID: other.ID}, id); fault.KindOf(err) != fault.NotFound || !o.opens(first) {
		t.Errorf("somebody else's: %v", err)
	}
	before := o.ended.Load()
	if err := o.sessions.EndOne(t.Context(), auth.User{ID: u.ID}, id); err != nil || o.opens(first) || !o.opens(second) {
		t.Errorf("%v, first opens %v, second %v", err, o.opens(first), o.opens(second))
	}
	if o.ended.Load() == before {
		t.Error("live connections are not checked again")
	}
	if _, err := o.sessions.Start(t.Context(), u.ID, false); err != nil || o.opens(second) {
		t.Errorf("a log-in that ends all others leaves a browser's session: %v", err)
	}
}

func TestTicketOpensOnceAndSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := auth.NewSessions(nil, nil, nil)
		ticket := func() string {
			text, err := s.Ticket(auth.User{ID: 7, Session: "s", Address: here, Browser: true})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		used, late := ticket(), ticket()
		if who, err := s.Redeem(used); err != nil || who.ID != 7 || who.Session != "s" {
			t.Errorf("%+v %v", who, err)
		}
		if _, err := s.Redeem(used); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("a second use: %v", err)
		}
		if _, err := s.Redeem(""); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("none: %v", err)
		}
		time.Sleep(31 * time.Second)
		if _, err := s.Redeem(late); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("after 31 s: %v", err)
		}
		if _, err := s.Ticket(auth.User{ID: 7}); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("to a caller with a token: %v", err)
		}
		first := ticket()
		for range 15 {
			time.Sleep(time.Millisecond)
			ticket()
		}
		newest := ticket()
		if _, err := s.Redeem(first); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the oldest of 17: %v", err)
		}
		if _, err := s.Redeem(newest); err != nil {
			t.Errorf("the newest of 17: %v", err)
		}
		var err error
		for i := range home.UserID(1024) {
			_, err = s.Ticket(auth.User{ID: 8 + i, Browser: true})
		}
		if fault.KindOf(err) != fault.Throttled {
			t.Errorf("one too many: %v", err)
		}
		time.Sleep(31 * time.Second)
		ticket()
	})
}
