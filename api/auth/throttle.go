package auth

import (
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/peer"
)

// rule allows n counts within any span of a length.
type rule struct {
	n   int
	per time.Duration
}

// slots is how many counts a throttle keeps. Keys are hashed to them with a secret seed:
// memory is bounded, nobody can push another key's count out by filling it, and two keys share
// a slot rarely and not by design.
const slots = 1 << 12

func hashed() (slot func(key string) uint64) {
	seed := maphash.MakeSeed()
	return func(key string) uint64 { return maphash.String(seed, key) % slots }
}

// newSlot is hashed; tests replace it, so that no two keys share a slot by chance.
var newSlot = hashed

// throttle limits counts by key to rules. It reads the monotonic clock, so that setting the
// wall clock changes nothing. Its methods may be called concurrently.
type throttle struct {
	rules []rule // the longest span last
	slot  func(key string) uint64
	start time.Time

	mu    sync.Mutex
	marks map[uint64][]time.Duration // by slot: when, since start
}

func newThrottle(rules ...rule) *throttle {
	return &throttle{rules: rules, slot: newSlot(), start: time.Now(), marks: map[uint64][]time.Duration{}}
}

// take counts one for a key, if the rules allow it; undo undoes that. Otherwise wait is how
// long it takes until they do.
func (t *throttle) take(key string) (undo func(), wait time.Duration) {
	slot := t.slot(key)
	now := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	marks := t.prune(slot, now)
	for _, r := range t.rules {
		if len(marks) >= r.n {
			wait = max(wait, r.per-(now-marks[len(marks)-r.n]))
		}
	}
	if wait > 0 {
		return nil, wait
	}
	t.marks[slot] = append(marks, now)
	return func() { t.undo(slot, now) }, 0
}

// prune drops the marks that no rule looks at any more and returns the others.
func (t *throttle) prune(slot uint64, now time.Duration) []time.Duration {
	longest := t.rules[len(t.rules)-1].per
	marks := slices.DeleteFunc(t.marks[slot], func(at time.Duration) bool { return now-at >= longest })
	if len(marks) == 0 {
		delete(t.marks, slot)
		return nil
	}
	t.marks[slot] = marks
	return marks
}

// undo takes one mark back.
func (t *throttle) undo(slot uint64, at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.marks[slot], at); i >= 0 {
		t.marks[slot] = slices.Delete(t.marks[slot], i, i+1)
	}
}

// source is what an address counts as: an IPv6 address as its /64.
func source(a netip.Addr) string { return peer.Network(a).String() }

// sources limits addresses to rules: each address by itself, and all of a source together to
// peer.Share times as much, so that one host gains nothing by using many addresses, and leaves
// some for the others in the house.
type sources struct{ each, all *throttle }

func newSources(rules ...rule) sources {
	shared := slices.Clone(rules)
	for i := range shared {
		shared[i].n *= peer.Share
	}
	return sources{each: newThrottle(rules...), all: newThrottle(shared...)}
}

// take counts one for an address, as take of a throttle does.
func (s sources) take(from netip.Addr) (undo func(), wait time.Duration) {
	own, wait := s.each.take(from.Unmap().String())
	if wait > 0 {
		return nil, wait
	}
	shared, wait := s.all.take(source(from))
	if wait > 0 {
		own()
		return nil, wait
	}
	return both(own, shared), 0
}

// throttled returns a Throttled fault.
func throttled(wait time.Duration, what string) error {
	return &fault.Error{Kind: fault.Throttled, Message: what + ": wait before you try again", RetryAfter: wait}
}
