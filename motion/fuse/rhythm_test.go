package fuse_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sensegate/motion/fuse"
)

// reaching feeds two links for so many minutes: the first one reaches what reach says of its threshold at a second, the
// other one is quiet.
func reaching(f *fuse.Fuser, from, minutes int, reach func(s float64) float64) (to int) {
	return reachingAll(f, from, minutes, reach, func(float64) float64 { return 0 })
}

// reachingAll feeds as many links as there are functions.
func reachingAll(f *fuse.Fuser, from, minutes int, reach ...func(s float64) float64) (to int) {
	to = from + minutes*240
	for i := from; i < to; i++ {
		for k, of := range reach {
			share := of(float64(i) / 4)
			kind := byte('q')
			switch {
			case share > 1.3:
				kind = 's'
			case share > 1:
				kind = 'n'
			}
			tick, _ := tick(at(i), kind)
			if share > 0 {
				tick.Reach = share
			}
			f.Add(key(k+1), tick)
		}
	}
	return to
}

// swinging is a fan whose head swings to and fro in 14.3 s, and passes the link twice.
func swinging(s float64) float64 {
	chance := rand.New(rand.NewPCG(uint64(4*s), 1)).Float64()
	return math.Max(0.3, 1.8*math.Pow(math.Abs(math.Sin(math.Pi*s/14.3+0.3*math.Sin(2*math.Pi*s/14.3))), 4)) * (0.8 + 0.4*chance)
}

// strolling is somebody who moves now and then, for as long as they like.
func strolling(s float64) float64 {
	chance := rand.New(rand.NewPCG(uint64(s/9), 2))
	if chance.Float64() < 0.5 {
		return 0.2
	}
	return 1.2 + chance.Float64()
}

func TestRhythmDecidesNothingAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reach func(float64) float64
		noisy bool
	}{
		{"a fan that swings", swinging, true},
		{"somebody who comes and goes", strolling, false},
		{"motion without a pause", func(float64) float64 { return 1.5 }, false},
		{"half of the time in one piece", func(s float64) float64 { return 2 * math.Round(math.Mod(s, 480)/480) }, false},
		{"a rhythm that reaches no threshold", func(s float64) float64 { return swinging(s) / 2.5 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &log{}
			f := fuse.New(l.emit)
			to := reaching(f, 0, 8, c.reach)
			if f.Noisy(key(1)) != c.noisy || len(l.changes) > 0 {
				t.Fatalf("doubtful: %v, want %v; marks %v", f.Noisy(key(1)), c.noisy, l.changes)
			}
			if !c.noisy {
				return
			}
			moved := func(minutes int, reach func(float64) float64) bool {
				before := l.steps.Len()
				to = reaching(f, to, minutes, reach)
				return strings.Contains(l.steps.String()[before:], "M")
			}
			if moved(2, c.reach) {
				t.Error("it decides")
			}
			if !moved(1, func(s float64) float64 { return max(c.reach(s), 3*math.Mod(s, 2)) }) {
				t.Error("who is above what the rhythm reached is not seen")
			}
			moved(4, strolling)
			if f.Noisy(key(1)) || !moved(2, strolling) {
				t.Error("it is doubted when the rhythm is gone")
			}
			moved(6, c.reach)
			if !f.Noisy(key(1)) {
				t.Error("the rhythm is back, and not doubted")
			}
		})
	}
}

// TestThreeAtOneRhythmAgree says that a fan near two links decides nothing, and somebody who walks to and fro is seen: by
// three links at one rhythm, by both of two, or by one and another that is at none.
func TestThreeAtOneRhythmAgree(t *testing.T) {
	t.Parallel()
	quiet := func(float64) float64 { return 0 }
	faint := func(s float64) float64 { return min(strolling(s), 1.2) } // never decides alone
	for _, c := range []struct {
		name    string
		reach   []func(float64) float64
		rhythms int // of the first links
		moves   bool
	}{
		{"one", []func(float64) float64{swinging, quiet, quiet}, 1, false},
		{"two", []func(float64) float64{swinging, swinging, quiet}, 2, false},
		{"both that there are", []func(float64) float64{swinging, swinging}, 2, true},
		{"three", []func(float64) float64{swinging, swinging, swinging}, 3, true},
		{"one, and a faint one at none", []func(float64) float64{swinging, quiet, faint}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &log{}
			f := fuse.New(l.emit)
			to := reachingAll(f, 0, 8, c.reach...)
			for i := range c.reach {
				if f.Noisy(key(i+1)) != (i < c.rhythms) {
					t.Fatalf("link %d is at one rhythm: %v", i+1, i >= c.rhythms)
				}
			}
			before := l.steps.Len()
			reachingAll(f, to, 4, c.reach...)
			if moved := strings.Contains(l.steps.String()[before:], "M"); moved != c.moves {
				t.Errorf("motion: %v, want %v", moved, c.moves)
			}
		})
	}
}

// TestOnlyLinkHasNoRhythm says that the one link of a network is not doubted, and is no longer when the others are gone.
func TestOnlyLinkHasNoRhythm(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	to := reachingAll(f, 0, 8, swinging)
	if f.Noisy(key(1)) {
		t.Error("the only link is doubted")
	}
	to = reaching(f, to, 8, swinging)
	if !f.Noisy(key(1)) {
		t.Error("no rhythm beside another link")
	}
	if reachingAll(f, to, 1, swinging); f.Noisy(key(1)) {
		t.Error("it is doubted when the other one is gone")
	}
}

// TestRhythmAfterTheClockWasSetBack is found anew, not kept.
func TestRhythmAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	reaching(f, 100_000, 8, swinging)
	if !f.Noisy(key(1)) {
		t.Fatal("no rhythm")
	}
	reaching(f, 0, 8, strolling)
	if f.Noisy(key(1)) {
		t.Error("the rhythm of another time")
	}
}
