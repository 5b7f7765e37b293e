package auth_test

import (
	"errors"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
)

// caller is who shows the token of a session, from an address.
func (o *office) caller(s auth.Tokens, address int) auth.User {
	o.t.Helper()
	who, err := o.sessions.Check(o.t.Context(), s.Token, at(address))
	if err != nil {
		o.t.Fatal(err)
	}
	return who
}

// wantCode wants a fault with a code.
func (o *office) wantCode(err error, kind fault.Kind, code string) {
	o.t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Code != code {
		o.t.Errorf("error %v, want kind %d with code %q", err, kind, code)
	}
}

func TestStepUpTakesTheLoginOfTenMinutesOrThePassword(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 1)
	for _, row := range []struct {
		after time.Duration
		code  string
	}{{0, ""}, {10 * time.Minute, ""}, {time.Second, "step_up"}} {
		o.pass(row.after)
		err := o.StepUp(t.Context(), who, "")
		if row.code == "" && err != nil {
			t.Errorf("%v later: %v", row.after, err)
		}
		if row.code != "" {
			o.wantCode(err, fault.Forbidden, row.code)
		}
	}
	if err := o.StepUp(t.Context(), who, password); err != nil {
		t.Errorf("the password: %v", err)
	}
	o.wantCode(o.StepUp(t.Context(), who, "wrong"), fault.Forbidden, "wrong_password")
}

func TestWrongPasswordIsRefusedRightAfterTheLoginToo(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 1)
	o.wantCode(o.StepUp(t.Context(), who, "wrong"), fault.Forbidden, "wrong_password")
}

func TestRefreshIsNoLogin(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	first := o.login(false)
	o.pass(11 * time.Minute)
	second, err := o.sessions.Refresh(t.Context(), first.RefreshToken, false)
	if err != nil {
		t.Fatal(err)
	}
	o.wantCode(o.StepUp(t.Context(), o.caller(second, 1), ""), fault.Forbidden, "step_up")
}

func TestClockThatWasSetBackMakesNoLoginRecent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 1)
	o.pass(-time.Second)
	o.wantCode(o.StepUp(t.Context(), who, ""), fault.Forbidden, "step_up")
}

func TestStepUpIsNoWayRoundTheLoginThrottle(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 2)
	for range 5 {
		o.wantCode(o.StepUp(t.Context(), who, "wrong"), fault.Forbidden, "wrong_password")
	}
	o.wantKind(o.StepUp(t.Context(), who, password), fault.Throttled)
	if err := o.StepUp(t.Context(), who, ""); err != nil {
		t.Errorf("the recent log-in: %v", err)
	}
	o.login(false) // from a familiar address
}

func TestChangeThatMattersNeedsAStepUp(t *testing.T) {
	t.Parallel()
	word, next, name, same, spelled := "battery staple", "next@example.com", "Jane", password, "JDoe@example.com"
	for name, row := range map[string]struct {
		change auth.Changes
		code   string // "": it is made
		ends   bool   // the session
	}{
		"another password":                   {auth.Changes{Password: &word}, "step_up", false},
		"another password, proven":           {auth.Changes{Password: &word, Current: password}, "", true},
		"another password, wrongly proven":   {auth.Changes{Password: &word, Current: "wrong"}, "wrong_password", false},
		"the same password":                  {auth.Changes{Password: &same}, "", false},
		"the same password, proven":          {auth.Changes{Password: &same, Current: password}, "", false},
		"another address":                    {auth.Changes{Email: &next}, "step_up", false},
		"another address, proven":            {auth.Changes{Email: &next, Current: password}, "", false},
		"another address, the same password": {auth.Changes{Email: &next, Password: &same}, "", false},
		"the same address in another case":   {auth.Changes{Email: &spelled}, "", false},
		"a name":                             {auth.Changes{FirstName: &name}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.person(email)
			s := o.login(false)
			who := o.caller(s, 1)
			o.pass(11 * time.Minute)
			_, err := o.Change(t.Context(), who, row.change)
			switch {
			case row.code != "":
				o.wantCode(err, fault.Forbidden, row.code)
			case err != nil:
				t.Error(err)
			}
			if o.valid(s.Token) == row.ends {
				t.Errorf("the session ended: %v", !row.ends)
			}
		})
	}
}

func TestFormerAddressHearsOfAChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 1)
	for range 5 { // whoever asks for many mails before silences none
		if err := o.SendReset(t.Context(), email, at(1)); err != nil {
			t.Fatal(err)
		}
	}
	o.mailed()
	next, word := "next@example.com", "battery staple"
	if _, err := o.Change(t.Context(), who, auth.Changes{Email: &next}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Confirm(t.Context(), o.tokenMailed(notify.Confirm, next), at(1)); err != nil {
		t.Fatal(err)
	}
	if mails := o.mailed(); len(mails) != 1 || mails[0].Kind != notify.AddressChanged || mails[0].To != email {
		t.Errorf("mails %+v", mails)
	}
	if _, err := o.Change(t.Context(), who, auth.Changes{Password: &word}); err != nil {
		t.Fatal(err)
	}
	if mails := o.mailed(); len(mails) != 1 || mails[0].Kind != notify.PasswordChanged || mails[0].To != next {
		t.Errorf("mails %+v", mails)
	}
}
