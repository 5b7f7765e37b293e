package auth_test

import (
	"fmt"
	"net/netip"
	"testing"

	"sensegate/api/auth"
	"sensegate/motion/fault"
)

// guest returns the nth address of a host in the house's /64.
func guest(n int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8::bad:%x", n)) }

// resident returns the address of somebody else there.
func resident() netip.Addr { return netip.MustParseAddr("2001:db8::1") }

// counted is something that is counted by address.
type counted struct {
	most int                         // a minute from one address
	ask  func(from netip.Addr) error // in vain
}

func countedThings(t *testing.T, o *office) map[string]counted {
	return map[string]counted{
		"a mail":         {5, func(from netip.Addr) error { return o.SendReset(t.Context(), "a@example.com", from) }},
		"a mail's token": {10, func(from netip.Addr) error { _, err := o.Confirm(t.Context(), "wrong", from); return err }},
		"a setup code":   {5, func(from netip.Addr) error { return tryWrongCode(o, from) }},
	}
}

// tryWrongCode returns a Throttled fault, or nil when the code was looked at.
func tryWrongCode(o *office, from netip.Addr) error {
	judge, err := o.TryCode(from)
	if err == nil {
		judge(fault.New(fault.Invalid, "wrong"))
	}
	return err
}

// admitted counts how many of n asks are let in, from one address after another.
func admitted(n int, ask func(netip.Addr) error, from func(int) netip.Addr) (in int) {
	for i := range n {
		if fault.KindOf(ask(from(i))) != fault.Throttled {
			in++
		}
	}
	return in
}

func TestAGuestsAddressDoesNotLockTheHouseOut(t *testing.T) {
	t.Parallel()
	for what, c := range countedThings(t, newOffice(t)) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if n := admitted(30, c.ask, func(int) netip.Addr { return guest(1) }); n != c.most {
				t.Errorf("%d asks of one address are let in, want %d", n, c.most)
			}
			if n := admitted(1, c.ask, func(int) netip.Addr { return resident() }); n != 1 {
				t.Error("another address of the same /64 is turned away")
			}
		})
	}
}

func TestAHostsIPv6AddressesTogetherAreThrottled(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"a mail's token", "a setup code"} { // mails take long
		c := countedThings(t, newOffice(t))[what]
		if n := admitted(200, c.ask, guest); n != 8*c.most {
			t.Errorf("%s: %d asks of one /64 are let in, want %d", what, n, 8*c.most)
		}
	}
}

func TestEmailChangesAreCountedByUser(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	next := "next@example.com"
	first, second := o.person(email), o.person("second@example.com")
	change := func(who auth.User) error {
		_, err := o.Change(t.Context(), who, auth.Changes{Email: &next, Current: password})
		return err
	}
	for range 5 {
		if err := o.SendReset(t.Context(), "a@example.com", resident()); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if err := change(auth.User{ID: first.ID, Address: resident()}); err != nil {
			t.Fatalf("the address is counted: %v", err)
		}
	}
	o.wantKind(change(auth.User{ID: first.ID, Address: guest(1)}), fault.Throttled)
	if err := change(auth.User{ID: second.ID, Address: resident()}); err != nil {
		t.Errorf("another user is locked out: %v", err)
	}
}
