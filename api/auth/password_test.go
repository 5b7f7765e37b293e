package auth

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sensegate/motion/fault"
)

func cheapPasswords() *Passwords { return NewPasswords(Argon{Memory: 7168, Passes: 1, Threads: 1}) }

func TestHashVerifiesItsPasswordOnly(t *testing.T) {
	t.Parallel()
	p := cheapPasswords()
	for _, password := range []string{"secret", "pässwörd 密码 🔑", strings.Repeat("x", 512), " spaces ", "null\x00byte"} {
		hash, err := p.Hash(t.Context(), password)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=7168,t=1,p=1$") {
			t.Errorf("hash %s is not in PHC form", hash)
		}
		if again, _ := p.Hash(t.Context(), password); again == hash {
			t.Error("two hashes have one salt")
		}
		for tried, want := range map[string]bool{password: true, password + " ": false, "": false, strings.ToUpper(password + "a"): false} {
			if right, stale, err := p.verify(tried, hash); right != want || stale || err != nil {
				t.Errorf("%q for %q: %t %t %v", tried, password, right, stale, err)
			}
		}
	}
}

func TestNobodysPasswordIsNeverRight(t *testing.T) {
	t.Parallel()
	p := cheapPasswords()
	for _, tried := range []string{"", "secret", p.dummy} {
		if right, _, err := p.verify(tried, ""); right || err != nil {
			t.Errorf("%q: %t %v", tried, right, err)
		}
	}
}

func TestHashOfAnotherCostIsStale(t *testing.T) {
	t.Parallel()
	old := cheapPasswords()
	hash, err := old.Hash(t.Context(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	if right, stale, err := NewPasswords(Argon{Memory: 8192, Passes: 1, Threads: 1}).verify("secret", hash); !right || !stale || err != nil {
		t.Errorf("right %t, stale %t, %v", right, stale, err)
	}
}

// Known vector: RFC 9106 has none for Argon2id without secret and data; this is that of
// the reference implementation's test.c (argon2id, version 19, m=65536, t=2, p=1).
func TestHashIsArgon2id(t *testing.T) {
	t.Parallel()
	const phc = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	p := cheapPasswords()
	if right, _, err := p.verify("password", phc); !right || err != nil {
		t.Errorf("right %t, %v", right, err)
	}
}

func TestLineForHashingIsShort(t *testing.T) {
	t.Parallel()
	p := cheapPasswords()
	var leaves []func()
	for range atOnce {
		leave, err := p.acquire(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	for range strangerQueue {
		go func() { _, err := p.acquire(ctx, false); waited <- err }()
	}
	for len(p.queues[false]) < cap(p.queues[false]) {
		select { // until all stand in line
		case err := <-waited:
			t.Fatal(err)
		default:
		}
	}
	if _, err := p.acquire(ctx, false); fault.KindOf(err) != fault.Throttled {
		t.Errorf("the line is full: %v, want throttled", err)
	}
	familiar := make(chan error)
	go func() {
		leave, err := p.acquire(t.Context(), true)
		if err == nil {
			leave()
		}
		familiar <- err
	}()
	cancel()
	for range strangerQueue {
		if err := <-waited; err == nil {
			t.Error("a second hash runs")
		}
	}
	for _, leave := range leaves {
		leave()
	}
	if err := <-familiar; err != nil {
		t.Errorf("a familiar caller beside a full line: %v", err)
	}
	if n := len(p.slots) + len(p.queues[false]) + len(p.queues[true]); n != 0 {
		t.Errorf("%d places are not given back", n)
	}
}

func FuzzStoredHash(f *testing.F) {
	p := cheapPasswords()
	f.Add(p.hash("secret"))
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("$argon2i$v=19$m=7168,t=1,p=1$$")
	f.Add("$argon2id$v=19$m=4294967295,t=4294967295,p=255$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, phc string) {
		cost, salt, hash, err := decode(phc)
		if err != nil {
			if err.Error() != errHash.Error() {
				t.Errorf("%q: %v tells of the hash", phc, err)
			}
			return
		}
		if cost.Validate() != nil || encode(cost, salt, hash) != phc {
			t.Errorf("%q: read as %+v", phc, cost)
		}
	})
}

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
	leave, err := p.acquire(ctx, false) // so that the first check waits
	if err != nil {
		t.Fatal(err)
	}
	c := Credentials{Email: "jdoe@example.com", Password: "correct horse", From: netip.MustParseAddr("192.168.1.1")}
	first := make(chan error, 1)
	go func() { first <- a.check(ctx, 1, c, stored, true) }()
	for len(p.queues[true]) == 0 {
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
