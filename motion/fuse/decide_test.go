package fuse_test

import (
	"math/rand/v2"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

func TestMotionFollowsTheGradedRule(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		scripts []script
		want    string
	}{
		{"a single link decides at the normal thresholds", []script{"qqnnkq"}, "--MMM-"},
		{"one of two links in strict motion decides alone", []script{"qqssqq", "qqqqqq"}, "--MM--"},
		{"one of two links in normal motion decides nothing", []script{"qqnnqq", "qqqqqq"}, "------"},
		{"two links on in the same tick decide at normal", []script{"qqnnqq", "qqnnqq"}, "--MM--"},
		{"two links on in different ticks decide nothing", []script{"qnnqqq", "qqqnnq"}, "------"},
		{"two links in motion but not both on decide nothing", []script{"qkkkqq", "qnnnqq"}, "------"},
		{"joint motion goes on with two links at stay", []script{"qnhhhhhhhhhhq", "qnnnnnnnnnnnq"}, "-MMMMMMMMMMM-"},
		{"joint motion is held 2 s by a link still in motion", []script{"qnqqqqqqqqqq", "qnkkkkkkkkkk"}, "-MMMMMMMM---"},
		{"joint motion goes on with two links at stay, none in motion", []script{"qnhhhhq", "qnhhhhq"}, "-MMMMM-"},
		{"one link at stay does not hold joint motion", []script{"qnqqqqqqqqqq", "qnnnnnnnnnnn"}, "-MMMMMMMM---"},
		{"two links at stay alone start nothing", []script{"qhhhq", "qhhhq"}, "-----"},
		{"a weak link does not decide alone", []script{"qwwwq", "qqqqq"}, "-----"},
		{"a coarse link does not decide alone", []script{"qcccq", "qqqqq"}, "-----"},
		{"a weak link counts towards two", []script{"qwwwq", "qnnnq"}, "-MMM-"},
		{"two weak links decide together", []script{"qwwwq", "qcccq"}, "-MMM-"},
		{"a weak link decides when it is all there is", []script{"vwwwv"}, "-MMM-"},
		{"a link without data does not count as a second link", []script{"qqnnqq", "xxxxxx"}, "--MM--"},
		{"a link that fell silent counts for 2 s", []script{"qnnnnnnnnnnn", "q..........."}, "--------MMMM"},
		{"no link with data is not valid", []script{"qxxq", "qxxq"}, "-??-"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := fused(c.scripts...).head(len(c.want)); got != c.want {
				t.Errorf("scripts %q: steps %s, want %s", c.scripts, got, c.want)
			}
		})
	}
}

func TestZonesOfOneLinkEachAreNotAnOr(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, "qqnnqq", "qqqqqq", "qqqqqq") // three zones of their own
	finish(f)
	if got, want := l.head(6), "------"; got != want {
		t.Errorf("steps %s, want %s: normal motion of one link decides although the network has more", got, want)
	}
}

func TestMotionInTwoZonesShowsInBoth(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.SetZone(key(1), "Kitchen", "")
	f.SetZone(key(2), "Hallway", "")
	feed(f, "qqnn", "qqnn")
	finish(f)
	zones := l.samples[1].Zones
	if len(zones) != 2 || !near(zones[0].Share, 0.5) || zones[0].Zone != "Hallway" || zones[1].Zone != "Kitchen" {
		t.Errorf("zones %+v, want Hallway and Kitchen with half each", zones)
	}
}

// walk makes the ticks of a link whose coherence R is normally distributed, now
// and then between the normal and the strict threshold, with both decisions of
// lm1.md 2 no. 5.
type walk struct {
	rng            *rand.Rand
	mean, sd       float64
	normal, strict float64 // time of the last stay while in motion, −1 when idle
}

func (w *walk) next(t motion.Time) detect.Tick {
	r := w.mean + w.sd*w.rng.NormFloat64()
	if w.rng.Float64() < 0.002 {
		r = max(r, 0.30+0.08*w.rng.Float64())
	}
	k := detect.Tick{
		Time: t, Valid: true, On: 0.30, Baseline: -8, Power: -8 + 4*max(r, 0),
		Features: detect.Features{R: r}, Quality: detect.Quality{Valid: 1},
	}
	k.Normal = verdict(&w.normal, t, r, 0.30)
	k.Strict = verdict(&w.strict, t, r, 0.40)
	return k
}

func verdict(last *float64, t motion.Time, r, threshold float64) detect.Verdict {
	v := detect.Verdict{On: r > threshold, Stay: r > 0.06}
	if v.On || v.Stay && *last >= 0 {
		*last = float64(t)
	}
	if float64(t)-*last >= 2 {
		*last = -1
	}
	v.Motion = *last >= 0
	return v
}

// TestOneLinkIsNotOutvoted has made-up ticks: the first half is quiet everywhere, in
// the second half one link sees the motion and its neighbours do not.
func TestOneLinkIsNotOutvoted(t *testing.T) {
	t.Parallel()
	const half = 8000 // ticks
	for quiet := 1; quiet <= 4; quiet++ {
		links := make([]*walk, quiet+1)
		for n := range links {
			links[n] = &walk{rng: rand.New(rand.NewPCG(7, uint64(n))), sd: 0.05, normal: -1, strict: -1}
		}
		l := &log{}
		f := fuse.New(l.emit)
		var or, both [2]int
		for i := range 2 * half {
			if i == half {
				links[0].mean, links[0].sd = 0.5, 0.15
			}
			on, moving := 0, false
			for n, w := range links {
				k := w.next(at(i))
				f.Add(key(n+1), k)
				moving = moving || k.Normal.Motion
				if k.Normal.On {
					on++
				}
			}
			or[i/half] += count(moving)
			both[i/half] += count(on >= 2)
		}
		var graded [2]int
		for i, c := range l.head(2*half - 8) {
			graded[i/half] += count(c == 'M')
		}
		percent := func(n int) float64 { return 100 * float64(n) / half }
		t.Logf("1+%d quiet, recall/FP: graded %.1f/%.2f, or %.1f/%.2f, 2 of n %.1f/%.2f", quiet,
			percent(graded[1]), percent(graded[0]), percent(or[1]), percent(or[0]), percent(both[1]), percent(both[0]))
		if percent(graded[1]) < 96 || percent(graded[0]) > 0.5 {
			t.Errorf("1+%d quiet: graded rule recall %.1f, FP %.2f; want at least 96, at most 0.5", quiet, percent(graded[1]), percent(graded[0]))
		}
		if percent(or[0]) < 2 {
			t.Errorf("1+%d quiet: plain OR has %.2f %% FP: the quiet links are too quiet to tell the rules apart", quiet, percent(or[0]))
		}
		if percent(both[1]) > 5 {
			t.Errorf("1+%d quiet: 2 of n has recall %.1f: the quiet links see the motion", quiet, percent(both[1]))
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestJumpIsNoMotion: what a change of the radio's path starts, on one link or on two, is none until something else moves.
func TestJumpIsNoMotion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ one, other, want string }{
		{"qqjjjjkkkkqq", "qqqqqqqqqqqq", "------------"},
		{"qqjjjjkkkkqq", "qqjjjjjkkkqq", "------------"},
		{"qqjjjsskkkqq", "qqqqqqqqqqqq", "-----MM-----"}, // somebody moves on
		{"qqssjjjkkkqq", "qqqqqqqqqqqq", "--MMMMM-----"}, // somebody moved before
		{"qqjjxxjjkkqq", "qqqqqqqqqqqq", "------------"},
	} {
		l := fused(script(c.one+"qqqq"), script(c.other+"qqqq"))
		if got := l.head(len(c.want)); got != c.want {
			t.Errorf("%s and %s: steps %s, want %s", c.one, c.other, got, c.want)
		}
	}
}
