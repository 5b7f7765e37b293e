package auth_test

import (
	"fmt"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
)

func TestRightLoginsAreCountedByAccountAndAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.person("second@example.com")
	enter := func(address string, from int) error {
		o.pass(time.Second)
		_, err := o.Login(t.Context(), auth.Credentials{Email: address, Password: password, Multi: true, From: at(from)})
		return err
	}
	for n := range 10 {
		if err := enter(email, n); err != nil {
			t.Fatal(err)
		}
	}
	o.wantKind(enter(email, 1), fault.Throttled)
	if err := enter("second@example.com", 1); err != nil {
		t.Errorf("another account from the same address: %v", err)
	}
	for n := range 6 {
		address := fmt.Sprintf("u%d@example.com", n)
		o.person(address)
		for range 10 {
			if err := enter(address, 77); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.wantKind(enter("second@example.com", 77), fault.Throttled)
}

func TestRegistrationsAreCountedInAll(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	code, err := auth.NewSetupCode(t.Context(), o.db)
	if err != nil {
		t.Fatal(err)
	}
	register := func(n int, code string) error {
		_, err := o.Register(t.Context(), auth.Registration{Email: fmt.Sprintf("u%d@example.com", n), Password: password, SetupCode: code, From: at(n)})
		return err
	}
	for n := range 30 {
		if err := register(n, ""); err != nil {
			t.Fatal(err)
		}
	}
	o.wantKind(register(31, ""), fault.Throttled)
	if err := register(32, code); err != nil {
		t.Errorf("with the setup code: %v", err)
	}
}

// Whatever shows the right password of an account costs as much as a log-in.
func TestRightPasswordsCountAsLogins(t *testing.T) {
	t.Parallel()
	same, next := password, "next@example.com"
	for name, show := range map[string]func(o *office, who auth.User) error{
		"step-up":              func(o *office, who auth.User) error { return o.StepUp(t.Context(), who, password) },
		"the present password": func(o *office, who auth.User) error { return o.change(who, auth.Changes{Password: &same}) },
		"both": func(o *office, who auth.User) error {
			return o.change(who, auth.Changes{Password: &same, Current: password})
		},
		"log-in": func(o *office, who auth.User) error {
			o.pass(time.Second)
			_, err := o.Login(t.Context(), auth.Credentials{Email: email, Password: password, Multi: true, From: who.Address})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.person(email)
			second := o.person("second@example.com")
			who := o.caller(o.login(false), 1)
			for range 9 { // the log-in was the first
				if err := show(o, who); err != nil {
					t.Fatal(err)
				}
			}
			o.wantKind(show(o, who), fault.Throttled)
			o.wantKind(o.StepUp(t.Context(), who, "wrong"), fault.Throttled) // is not looked at
			o.wantKind(o.try(email, "wrong", 2), fault.Throttled)
			if err := o.StepUp(t.Context(), who, ""); err != nil {
				t.Errorf("the recent log-in: %v", err)
			}
			if err := o.StepUp(t.Context(), auth.User{ID: second.ID, Address: at(1)}, password); err != nil {
				t.Errorf("another user: %v", err)
			}
			if err := o.change(who, auth.Changes{Email: &next}); err != nil {
				t.Errorf("what shows no password: %v", err)
			}
		})
	}
}

// A password that may not be chosen tells whether it is the present one.
func TestChosenPasswordsCountAsGuesses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	who := o.caller(o.login(false), 1)
	common := "password1"
	for range 5 {
		o.wantKind(o.change(who, auth.Changes{Password: &common}), fault.Invalid)
	}
	o.wantKind(o.change(who, auth.Changes{Password: &common}), fault.Throttled)
	o.wantKind(o.try(email, password, 1), fault.Throttled)
	if err := o.try(email, password, 2); err != nil {
		t.Errorf("from another address: %v", err)
	}
}

func TestPasswordsThatConfirmCountAsLogins(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.person(email)
	who, next := auth.User{ID: u.ID, Address: at(1)}, "next@example.com"
	if err := o.change(who, auth.Changes{Email: &next, Current: password}); err != nil {
		t.Fatal(err)
	}
	token := o.tokenMailed(notify.Confirm, next)
	for range 9 {
		if err := o.StepUp(t.Context(), who, password); err != nil {
			t.Fatal(err)
		}
	}
	_, err := o.ConfirmWithPassword(t.Context(), token, password, at(2))
	o.wantKind(err, fault.Throttled)
	if _, err := o.Confirm(t.Context(), token, at(2)); err != nil {
		t.Errorf("without the password: %v", err)
	}
}

func (o *office) change(who auth.User, c auth.Changes) error {
	_, err := o.Change(o.t.Context(), who, c)
	return err
}
