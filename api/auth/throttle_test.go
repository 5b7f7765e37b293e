package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion/fault"
)

// Tests count each key by itself: with a hash two of their addresses would share a count
// now and then.
func init() {
	newSlot = func() func(string) uint64 {
		var mu sync.Mutex
		numbers := map[string]uint64{}
		return func(key string) uint64 {
			mu.Lock()
			defer mu.Unlock()
			if _, known := numbers[key]; !known {
				numbers[key] = uint64(len(numbers))
			}
			return numbers[key]
		}
	}
}

// In no span of time are there more takes than a rule says, and whoever is told to
// wait gets in after that time, and not before.
func TestThrottleHoldsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(script *rapid.T) {
		rules := []rule{{rapid.IntRange(1, 4).Draw(script, "n"), time.Minute}, {rapid.IntRange(3, 8).Draw(script, "m"), time.Hour}}
		pauses := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 60).Draw(script, "pauses")
		undone := rapid.SliceOfN(rapid.Bool(), len(pauses), len(pauses)).Draw(script, "undone")
		synctest.Test(t, func(t *testing.T) {
			taken := takes(t, newThrottle(rules...), pauses, undone)
			for _, r := range rules {
				for i := r.n; i < len(taken); i++ {
					if span := taken[i].Sub(taken[i-r.n]); span < r.per {
						t.Errorf("%d takes within %v, want at most %d in %v", r.n+1, span, r.n, r.per)
					}
				}
			}
		})
	})
}

// takes tries after each pause, in seconds, and returns when it got in. What is undone
// does not count.
func takes(t *testing.T, held *throttle, pauses []int, undone []bool) (taken []time.Time) {
	for i, pause := range pauses {
		time.Sleep(time.Duration(pause) * time.Second)
		undo, wait := held.take("key")
		switch {
		case wait > 0:
			time.Sleep(wait - 1)
			if _, again := held.take("key"); again != 1 {
				t.Errorf("told to wait %v, a nanosecond earlier: %v", wait, again)
			}
		case undone[i]:
			undo()
		default:
			taken = append(taken, time.Now())
		}
	}
	return taken
}

func TestThrottleMemoryIsBounded(t *testing.T) {
	t.Parallel()
	held := newThrottle(rule{1, time.Hour})
	held.slot = hashed()
	for i := range 20 * slots {
		held.take(fmt.Sprint(i))
	}
	if len(held.marks) > slots {
		t.Errorf("%d counts, want at most %d", len(held.marks), slots)
	}
}

func TestThrottleForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held := newThrottle(rule{5, time.Minute})
		undo, _ := held.take("a")
		undo()
		held.take("a")
		time.Sleep(time.Minute)
		held.take("a")
		if n := len(held.marks); n != 1 {
			t.Errorf("%d counts", n)
		}
		for _, marks := range held.marks {
			if len(marks) != 1 {
				t.Errorf("%d marks, want the last", len(marks))
			}
		}
	})
}

func address(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// guess tries wrong passwords at one account from addresses in turn, each second for
// a time, and returns how many were verified.
func guess(g *guesses, account string, addresses int, long time.Duration) (verified int) {
	for range int(long / time.Second) {
		for i := range addresses {
			if _, err := g.take(account, address(i), false); err == nil {
				verified++
			}
		}
		time.Sleep(time.Second)
	}
	return verified
}

func TestSixtyGuessesAnHourAtAnAccount(t *testing.T) {
	t.Parallel()
	for _, addresses := range []int{1, 3, 40} {
		synctest.Test(t, func(t *testing.T) {
			g := newGuesses()
			first := guess(g, "jdoe@example.com", addresses, time.Hour)
			second := guess(g, "jdoe@example.com", addresses, time.Hour)
			if first > 60 || second > 60 || first < 40 {
				t.Errorf("%d addresses: %d guesses in the first hour, %d in the second; want 40 to 60", addresses, first, second)
			}
		})
	}
}

func TestThreeHundredGuessesAnHourFromAnAddress(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(i int) netip.Addr{
		"IPv4":       func(int) netip.Addr { return address(1) },
		"IPv6":       func(int) netip.Addr { return netip.MustParseAddr("2001:db8::1") },
		"all a /64":  func(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8::%x:1", i)) },
		"link-local": func(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("fe80::%x%%eth0", i+1)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGuesses()
			verified := 0
			for i := range 3600 {
				if _, err := g.take(fmt.Sprintf("user%d@example.com", i), from(i), false); err == nil {
					verified++
				}
				time.Sleep(time.Second)
			}
			if verified > 300 || verified < 290 {
				t.Errorf("%s: %d guesses, want 300", name, verified)
			}
		})
	}
}

func TestOtherNetworksAreOtherSources(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, text := range []string{"192.168.1.1", "192.168.1.2", "2001:db8::1", "2001:db8:0:1::1", "fe80::1", "::1", "::ffff:192.168.1.3"} {
		s := source(netip.MustParseAddr(text))
		if other, taken := seen[s]; taken {
			t.Errorf("%s counts as %s", text, other)
		}
		seen[s] = text
	}
	if source(netip.MustParseAddr("::ffff:192.168.1.1")) != source(netip.MustParseAddr("192.168.1.1")) {
		t.Error("IPv4 within IPv6 counts by itself")
	}
}

// While strangers guess as hard as they can, a resident gets in: from an address they
// have logged in from before always, from a new one while fewer than ten guess.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	for _, attackers := range []int{1, 9, 40} {
		synctest.Test(t, func(t *testing.T) {
			g := newGuesses()
			for minute := range 65 {
				guess(g, "jdoe@example.com", attackers, time.Minute)
				if undo, err := g.take("jdoe@example.com", address(9000), true); err != nil {
					t.Fatalf("%d attackers, minute %d: the familiar address: %v", attackers, minute, err)
				} else {
					undo()
				}
				if undo, err := g.take("JDoe@example.com", address(9001), false); err != nil && attackers < 10 {
					t.Fatalf("%d attackers, minute %d: the new phone: %v", attackers, minute, err)
				} else if err == nil {
					undo()
				}
			}
		})
	}
}

func TestRightPasswordsDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, familiar := range []bool{false, true} {
			g := newGuesses()
			for range 100 {
				undo, err := g.take("jdoe@example.com", address(1), familiar)
				if err != nil {
					t.Fatal(err)
				}
				undo()
			}
		}
	})
}

func TestRefusedGuessSaysHowLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses()
		for range 5 {
			if _, err := g.take("jdoe@example.com", address(1), false); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Second)
		_, err := g.take("jdoe@example.com", address(1), false)
		f, ok := err.(*fault.Error)
		if !ok || f.Kind != fault.Throttled || f.RetryAfter != 40*time.Second {
			t.Errorf("%v, want 40 s", err)
		}
	})
}
