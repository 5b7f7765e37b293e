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
