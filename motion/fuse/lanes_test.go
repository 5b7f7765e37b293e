package fuse_test

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// A stretch is a time in which a link's tick is the same, a letter of script for each level.
type stretch struct {
	letters [4]byte
	ticks   int
}

// stretches draws what a link feels, long enough that links become noisy, of a link that is weak
// or not.
func stretches(t *rapid.T) (all []stretch) {
	letters := rapid.SampledFrom([]byte("qqhnks"))
	if rapid.IntRange(0, 3).Draw(t, "weak") == 0 {
		letters = rapid.SampledFrom([]byte("vvw"))
	}
	for range rapid.IntRange(1, 12).Draw(t, "stretches") {
		s := stretch{ticks: rapid.SampledFrom([]int{1, 3, 9, 41, 2500}).Draw(t, "ticks")}
		for level := range s.letters {
			s.letters[level] = letters.Draw(t, "letter")
		}
		if rapid.IntRange(0, 9).Draw(t, "silent") == 0 {
			s.letters = [4]byte{'x', 'x', 'x', 'x'}
		}
		all = append(all, s)
	}
	return all
}

// levelTick returns tick i of a letter for each level: the verdicts are those of the level own.
func levelTick(i int, letters [4]byte, own int) detect.Tick {
	t, _ := tick(at(i), letters[own-1])
	for l, letter := range letters {
		of, _ := tick(at(i), letter)
		for _, v := range []struct {
			into *uint8
			is   bool
		}{{&t.Levels.On, of.Normal.On}, {&t.Levels.Stay, of.Normal.Stay}, {&t.Levels.Motion, of.Normal.Motion}, {&t.Levels.Strict, of.Strict.Motion}} {
			if v.is {
				*v.into |= 1 << l
			}
		}
	}
	return t
}

// TestLevelsAreWhatAFuserOfThatLevelDecides draws what three links feel at each level, two of
// them in one zone, and holds the Levels of one Fuser against the Motion of one for each level.
func TestLevelsAreWhatAFuserOfThatLevelDecides(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		links := make([][]stretch, rapid.IntRange(1, 3).Draw(t, "links"))
		for n := range links {
			links[n] = stretches(t)
		}
		var logs [5]*log // 0: at level 2, for its Levels
		for which := range logs {
			own := which
			if which == 0 {
				own = 2
			}
			logs[which] = &log{}
			f := fuse.New(logs[which].emit)
			f.SetZone(key(1), "Kitchen", "")
			f.SetZone(key(2), "Kitchen", "")
			deliver(f, links, own)
			finish(f)
		}
		for level := 1; level <= 4; level++ {
			for i, want := range logs[level].samples {
				got := logs[0].samples[i].Levels
				if !got.Known() || got.Motion(level) != want.Motion {
					t.Fatalf("sample %d at level %d: motion %v (known %v), a Fuser of that level says %v", i, level, got.Motion(level), got.Known(), want.Motion)
				}
				seen[want.Motion]++
			}
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("drawn: %v, want both", seen)
	}
	if fuse.Silence(start, 0.5).Levels.Known() {
		t.Error("a device's sample is judged at all levels")
	}
}

// deliver delivers what links feel, all in turn, until one has no more.
func deliver(f *fuse.Fuser, links [][]stretch, own int) {
	at, left := make([]int, len(links)), make([]int, len(links))
	for n := range links {
		left[n] = links[n][0].ticks
	}
	for i := 0; ; i++ {
		for n, all := range links {
			if left[n] == 0 {
				if at[n]++; at[n] == len(all) {
					return
				}
				left[n] = all[at[n]].ticks
			}
			left[n]--
			f.Add(key(n+1), levelTick(i, all[at[n]].letters, own))
		}
	}
}
