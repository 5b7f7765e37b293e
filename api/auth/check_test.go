package auth

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"sensegate/motion/fault"
)

func TestOnePasswordOfAUserIsLookedAtAtATime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := cheapPasswords()
	a := NewAccounts(nil, &Sessions{}, p, nil)
	stored, err := p.Hash(ctx, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	leave, err := p.turn(ctx, false) // so that the first check waits
	if err != nil {
		t.Fatal(err)
	}
	c := Credentials{Email: "jdoe@example.com", Password: "correct horse", From: netip.MustParseAddr("192.168.1.1")}
	first := make(chan error, 1)
	go func() { first <- a.check(ctx, 1, c, stored, true) }()
	for len(p.lines[true]) == 0 {
		select {
		case err := <-first:
			t.Fatalf("did not wait: %v", err)
		default:
		}
	}
	if err := a.check(ctx, 1, c, stored, true); fault.KindOf(err) != fault.Throttled {
		t.Errorf("a second at once: %v, want throttled", err)
	}
	other := make(chan error, 1)
	go func() { other <- a.check(ctx, 2, c, stored, true) }()
	leave()
	for name, done := range map[string]chan error{"the first": first, "another user": other} {
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := a.check(ctx, 1, c, stored, true); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
