package auth_test

import (
	"fmt"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
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
