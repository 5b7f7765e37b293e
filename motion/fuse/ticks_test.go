package fuse_test

import (
	"fmt"
	"math"
	"strings"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// start is a multiple of 0.5 s, as all sample times are.
const start motion.Time = 1764000000

// key returns the link from leaf n to the one node of the tests.
func key(n int) fuse.Link {
	return fuse.Link{Src: motion.MAC{2, 0xbb, 0, 0, 0, byte(n)}, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}}
}

// A script gives one link's ticks, one letter each:
//
//	.  nothing is delivered      x  a tick without data
//	q  quiet                     h  at stay, not in motion
//	n  in motion at the normal thresholds, on and at stay
//	j  like s, from a single jump
//	k  in motion at the normal thresholds, held without on or stay
//	s  in motion at the strict thresholds too
//	w  like s, from a weak link  c  like s, from a coarse link
//	v  quiet, from a weak link
type script string

// tick returns the tick of a letter at time t; false for ".".
func tick(t motion.Time, letter byte) (detect.Tick, bool) {
	k := detect.Tick{
		Time: t, Valid: true, On: 0.30, Power: -7.5, Baseline: -8,
		Features: detect.Features{R: 0.01},
		Quality:  detect.Quality{Valid: 1, Rate: 50, Amplitude: 20},
	}
	moving := detect.Verdict{On: true, Stay: true, Motion: true}
	switch letter {
	case '.':
		return detect.Tick{}, false
	case 'x':
		return detect.Tick{Time: t}, true
	case 'q':
	case 'h':
		k.Normal.Stay, k.Features.R = true, 0.1
	case 'v':
		k.Quality.Weak = true
	case 'n':
		k.Normal, k.Features.R, k.Power = moving, 0.35, -6
	case 'k':
		k.Normal.Motion, k.Power = true, -7
	case 's', 'w', 'c', 'j':
		k.Normal, k.Strict, k.Features.R, k.Power = moving, moving, 0.6, -5
		k.Quality.Weak, k.Quality.Coarse, k.Jump = letter == 'w', letter == 'c', letter == 'j'
	default:
		panic("no such letter: " + string(letter))
	}
	if k.Normal.Motion {
		k.Intensity = (k.Power - k.Baseline) / 5
	}
	return k, true
}

// at returns the time of tick i.
func at(i int) motion.Time { return start.Add(float64(i+1) * detect.TickInterval) }

// log collects what a Fuser emits: "M" motion, "-" none, "?" not valid.
type log struct {
	steps   strings.Builder
	times   []motion.Time
	samples []fuse.Sample
	changes []fuse.NoiseChange
}

func (l *log) emit(s *fuse.Step) {
	switch {
	case !s.Valid:
		l.steps.WriteByte('?')
	case s.Motion:
		l.steps.WriteByte('M')
	default:
		l.steps.WriteByte('-')
	}
	l.times = append(l.times, s.Time)
	l.changes = append(l.changes, s.Noisy...)
	if s.Sample != nil {
		c := *s.Sample
		c.Links = append([]fuse.LinkSample(nil), c.Links...)
		c.Zones = append([]fuse.Place(nil), c.Zones...)
		l.samples = append(l.samples, c)
	}
}

// trace writes everything that was emitted; NaN prints the same everywhere.
func (l *log) trace() string {
	return fmt.Sprintf("%s %v %+v %v", l.steps.String(), l.times, l.samples, l.changes)
}

// feed delivers the scripts tick by tick, all links in turn.
func feed(f *fuse.Fuser, scripts ...script) {
	longest := 0
	for _, s := range scripts {
		longest = max(longest, len(s))
	}
	for i := range longest {
		for n, s := range scripts {
			if i >= len(s) {
				continue
			}
			if t, ok := tick(at(i), s[i]); ok {
				f.Add(key(n+1), t)
			}
		}
	}
}

// finish lets all that waits be fused, and a few empty ticks after it.
func finish(f *fuse.Fuser) {
	f.Advance(start)
	f.Advance(start.Add(5))
}

// fused returns what a new Fuser makes of scripts, every link in the zone "Home".
func fused(scripts ...script) *log {
	l := &log{}
	f := fuse.New(l.emit)
	for n := range scripts {
		f.SetZone(key(n+1), "Home", "")
	}
	feed(f, scripts...)
	finish(f)
	return l
}

// head returns the first n steps.
func (l *log) head(n int) string { return l.steps.String()[:n] }

// repeat returns n letters.
func repeat(letters string, n int) script { return script(strings.Repeat(letters, n)) }

// near reports whether two numbers are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
