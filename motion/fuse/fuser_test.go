package fuse_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// add delivers one tick of link n at position i, and returns how many steps
// have been fused then.
func add(f *fuse.Fuser, l *log, n, i int, letter byte) int {
	if t, ok := tick(at(i), letter); ok {
		f.Add(key(n), t)
	}
	return len(l.times)
}

func TestTickWaitsForEveryLiveLink(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 8), repeat("q", 8))
	before := len(l.times)
	if got := add(f, l, 1, 8, 's'); got != before {
		t.Errorf("%d steps after one of two links, want %d", got, before)
	}
	if got := add(f, l, 2, 8, 'q'); got != before+1 {
		t.Errorf("%d steps after both links, want %d", got, before+1)
	}
}

func TestBatchesOutOfPhaseAreAligned(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	for i := 0; i < 40; i += 2 { // link 1 sends ticks i, i+1; link 2 sends i−1, i
		add(f, l, 1, i, 'n')
		add(f, l, 1, i+1, 'n')
		if i > 0 {
			add(f, l, 2, i-1, 'n')
		}
		add(f, l, 2, i, 'n')
	}
	if got, want := l.steps.String(), strings.Repeat("M", len(l.times)); got != want || len(got) < 38 {
		t.Errorf("steps %s, want at least 38 of motion that both see", got)
	}
	if f.LateTicks(key(1))+f.LateTicks(key(2)) != 0 {
		t.Errorf("late ticks %d and %d, want none", f.LateTicks(key(1)), f.LateTicks(key(2)))
	}
}

func TestTickIsFusedWithoutLinkOneSecondLate(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 8), repeat("q", 8))
	before := len(l.times)
	for i := 8; i < 12; i++ {
		if got := add(f, l, 1, i, 'q'); got != before {
			t.Fatalf("%d steps when link 2 is %d ticks late, want %d", got, i-7, before)
		}
	}
	if got := add(f, l, 1, 12, 'q'); got != before+1 {
		t.Fatalf("%d steps when link 2 is a second late, want %d", got, before+1)
	}
	add(f, l, 2, 8, 's')
	if f.LateTicks(key(2)) != 1 {
		t.Errorf("late ticks %d, want 1", f.LateTicks(key(2)))
	}
	if strings.Contains(l.steps.String(), "M") {
		t.Errorf("steps %s: a late tick was used", l.steps.String())
	}
}

func TestTickThatWaitsIsNotLostToAJump(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 8), repeat("q", 8))
	add(f, l, 1, 8, 's')
	add(f, l, 1, 16, 'q')
	if got, want := l.steps.String()[7:10], "-M?"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
}

func TestSilentLinkIsNotWaitedForAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 30), repeat("q", 8))
	if got := l.times[len(l.times)-1]; got != at(29) {
		t.Errorf("newest step at %v, want %v: the silent link is still waited for", got, at(29))
	}
}

func TestReturningLinkLosesOneTick(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	away := repeat("q", 8) + repeat(".", 22)
	feed(f, repeat("q", 40), away+repeat("s", 10))
	finish(f)
	if got, want := l.steps.String()[28:40], "---MMMMMMMMM"; got != want || f.LateTicks(key(2)) != 1 {
		t.Errorf("steps %s with %d late, want %s with 1", got, f.LateTicks(key(2)), want)
	}
}

func TestSilentNetworkGivesSamplesWithoutData(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.Advance(500) // of any clock
	feed(f, "ssssssss")
	f.Advance(501)
	f.Advance(503.5)
	n := len(l.samples)
	f.Advance(513)
	if len(l.samples) < n+18 {
		t.Fatalf("%d samples after 9.5 s of silence, want 18 more than %d", len(l.samples), n)
	}
	for _, s := range l.samples[n+1:] {
		if s.Valid || s.Motion || s.Intensity.Known() || s.Raw.Known() || s.MSAD.Known() || s.Links[0].Intensity.Known() {
			t.Errorf("sample at %v is %+v, want nothing known", s.Time, s)
		}
	}
}

func TestLongGapIsLeftOut(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 8))
	const year = 365 * 86400 * 4
	add(f, l, 1, year, 'q')
	add(f, l, 1, year+1, 'q')
	if n := len(l.times); n > 20 {
		t.Errorf("%d steps over a gap of a year, want a few", n)
	}
	if got := l.times[len(l.times)-1]; got != at(year+1) {
		t.Errorf("newest step at %v, want %v", got, at(year+1))
	}
}

func TestClockSetBackBeginsAgain(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	for i := 100_000; i < 100_005; i++ { // ends within a sample
		add(f, l, 1, i, 's')
	}
	n := len(l.samples)
	feed(f, repeat("q", 60))
	if s := l.samples[n]; s.Motion || s.Time > at(60) {
		t.Errorf("first sample %+v, want none of the motion before", s)
	}
	if got := l.times[len(l.times)-1]; got != at(59) {
		t.Errorf("newest step at %v, want %v", got, at(59))
	}
}

func TestTimeThatIsNoneIsIgnored(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	for _, bad := range []float64{0, -1, 1e300, math.NaN(), math.Inf(1)} {
		f.Add(key(1), detect.Tick{Time: motion.Time(bad), Valid: true})
		f.Advance(motion.Time(bad))
	}
	if len(l.times) != 0 {
		t.Errorf("steps at %v, want none", l.times)
	}
}

func TestSamplesEndAtHalfSeconds(t *testing.T) {
	t.Parallel()
	l := fused(repeat("q", 9))
	for i, s := range l.samples {
		if want := start.Add(0.5 * float64(i+1)); s.Time != want || s.Interval != 0.5 {
			t.Errorf("sample %d ends at %v after %v s, want %v after 0.5 s", i, s.Time, s.Interval, want)
		}
	}
}

func TestSampleIsTheMaximumOfTwoTicks(t *testing.T) {
	t.Parallel()
	s := fused("qqsnqq", "qqqqqq").samples[1]
	if !near(float64(s.Intensity), 0.6) || !near(float64(s.MSAD), 60) || !near(float64(s.MConf), 30) {
		t.Errorf("sample %+v, want intensity 0.6, msad 60, mconf 30", s)
	}
	quiet := s.Links[1]
	if quiet.Intensity != 0 || !near(float64(quiet.Raw), 0.1) || quiet.Throughput != 1 {
		t.Errorf("quiet link %+v, want intensity 0, raw 0.1, throughput 1", quiet)
	}
}

func TestNormalMotionThatDoesNotDecideHasNoIntensity(t *testing.T) {
	t.Parallel()
	s := fused("qqnn", "qqqq").samples[1]
	if s.Motion || s.Intensity != 0 || s.Links[0].Intensity != 0 || !near(float64(s.Raw), 0.4) {
		t.Errorf("sample %+v, want intensity 0 with raw 0.4", s)
	}
}

func TestMotionHasIntensityEvenBelowTheBaseline(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	for i := range 8 {
		k, _ := tick(at(i), 'n')
		k.Power, k.Intensity = -9, 0
		f.Add(key(1), k)
	}
	finish(f)
	if got := l.samples[1].Intensity; got != 0.01 {
		t.Errorf("intensity %v, want 0.01", got)
	}
}

func TestLowRateLinkReportsCoherence(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	for i := range 8 {
		k, _ := tick(at(i), 'n')
		k.On = -6.4
		f.Add(key(1), k)
		k, _ = tick(at(i), 'c')
		k.On, k.Features.R = -6.4, math.NaN()
		f.Add(key(2), k)
	}
	finish(f)
	links := l.samples[1].Links
	if !near(float64(links[0].MSAD), 35) || !near(float64(links[0].MConf), 5) {
		t.Errorf("low rate: msad %v, mconf %v, want 35 and 5", links[0].MSAD, links[0].MConf)
	}
	if links[1].MSAD.Known() || links[1].MConf.Known() {
		t.Errorf("no coherence: msad %v, mconf %v, want none", links[1].MSAD, links[1].MConf)
	}
}

func TestRemovedLinkIsGone(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 8), repeat("q", 8))
	f.Remove(key(2))
	f.Remove(key(9))
	for i := 8; i < 12; i++ {
		add(f, l, 1, i, 's')
	}
	s := l.samples[len(l.samples)-1]
	if len(s.Links) != 1 || s.Links[0].Link != key(1) || !s.Motion || s.Time != at(11) {
		t.Errorf("sample %+v, want link 1 alone in motion at %v", s, at(11))
	}
}

// scripts draws what up to six links say. Gaps within a link are shorter than the
// 2 s after which it is not waited for; it may stop for good.
func scripts(t *rapid.T) []script {
	letters := rapid.SampledFrom([]byte("qqqnnsskhwcvx."))
	all := make([]script, rapid.IntRange(1, 6).Draw(t, "links"))
	for n := range all {
		s := rapid.SliceOfN(letters, 1, 60).Draw(t, fmt.Sprintf("script %d", n+1))
		s[0] = 'q'
		for i := 4; i < len(s); i++ {
			if string(s[i-4:i]) == "...." {
				s[i] = 'x'
			}
		}
		all[n] = script(s)
	}
	return all
}

// zoned returns a Fuser with three zones.
func zoned(l *log, links int) *fuse.Fuser {
	f := fuse.New(l.emit)
	for n := range links {
		f.SetZone(key(n+1), []string{"Kitchen", "Hallway", ""}[n%3], "")
	}
	f.SetPriority([]string{"Hallway"})
	return f
}

func TestOrderOfLinksDoesNotChangeTheResult(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := scripts(t)
		want, got := &log{}, &log{}
		f := zoned(want, len(all))
		feed(f, all...)
		finish(f)

		f = zoned(got, len(all))
		next := make([]int, len(all)) // each link's next position
		for {
			open := slices.DeleteFunc(slices.Collect(indices(len(all))), func(n int) bool { return next[n] >= len(all[n]) })
			if len(open) == 0 {
				break
			}
			slowest := math.MaxInt
			for _, n := range open {
				slowest = min(slowest, next[n])
			}
			open = slices.DeleteFunc(open, func(n int) bool { return next[n] > slowest+2 })
			n := rapid.SampledFrom(open).Draw(t, "next link")
			add(f, got, n+1, next[n], all[n][next[n]])
			next[n]++
		}
		finish(f)
		if got.trace() != want.trace() || len(got.samples) == 0 {
			t.Fatalf("scripts %q:\n%s\nin turn:\n%s", all, got.trace(), want.trace())
		}
	})
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestSilentLinkIsUnknown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := scripts(t)
		l := &log{}
		f := zoned(l, len(all))
		feed(f, all...)
		finish(f)
		for _, s := range l.samples {
			second := int(math.Round(s.Time.Since(start)/detect.TickInterval)) - 1
			anybody := false
			for _, ls := range s.Links {
				n := int(ls.Link.Src[5]) - 1
				heard := said(all[n], second-1) || said(all[n], second)
				anybody = anybody || heard
				if ls.Intensity.Known() != heard || ls.Raw.Known() != heard {
					t.Fatalf("script %q, sample of ticks %d and %d: link is %+v, had data: %v", all[n], second-1, second, ls, heard)
				}
			}
			if s.Valid != anybody || s.Intensity.Known() != anybody {
				t.Fatalf("scripts %q, sample at %v: valid %v, a link had data: %v", all, s.Time, s.Valid, anybody)
			}
		}
	})
}

// said reports whether a script has data at position i.
func said(s script, i int) bool { return i >= 0 && i < len(s) && s[i] != '.' && s[i] != 'x' }

// TestReturningLinkDoesNotInterruptTheOthers: a detector that hears frames again after a gap tells of the whole gap at once, which
// is no clock that was set back.
func TestReturningLinkDoesNotInterruptTheOthers(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, repeat("q", 290)+repeat("n", 10), repeat("q", 290)+repeat("n", 10), repeat("q", 100))
	for i := 100; i < 299; i++ {
		add(f, l, 3, i, 'x')
	}
	for i := 300; i < 320; i++ {
		add(f, l, 1, i, 'k')
		add(f, l, 2, i, 'h')
		add(f, l, 3, i, 'q')
	}
	finish(f)
	if got, want := l.steps.String()[285:305], "-----MMMMMMMMMMMMMMM"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	if got := f.LateTicks(key(3)); got > 1 {
		t.Errorf("%d late ticks, want one at most: there was no data", got)
	}
}
