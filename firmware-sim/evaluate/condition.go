package evaluate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
)

// rates are the frames/s to which recordings are thinned; the first means as recorded.
// A recording that does not reach a rate has no figures at it.
func rates() []float64 { return []float64{0, 10, 20, 25, 33, 40, 50, 100} }

// slowest is the least rate, frames/s, whose figures the goals of detection are about.
const slowest = 25

const (
	reaches = 0.98 // share of a rate that a recording must have to be thinned to it
	spares  = 1.1  // a recording with fewer frames than this times the rate is left as it is
)

// draws is the number of times that a condition in which chance takes part is drawn.
const draws = 4

// degrade returns a recording's frames in worse quality. The seed repeats what chance does. It
// may be called concurrently.
type degrade func(seed string, frames []capture.Frame) []capture.Frame

// disturbance is what happens to frames on their way. The first one is none.
type disturbance struct {
	name   string
	worsen degrade // nil = none
}

func disturbances() []disturbance {
	return []disturbance{{"as it comes", nil}, {"30 % lost", lose}, {"100 ms of jitter", jitter}}
}

// condition is one way to make a recording worse: thinned to a rate, 0 = not thinned, then
// disturbed.
type condition struct {
	rate float64
	disturbance
}

// conditions returns all of them, by disturbance and then by rate.
func conditions() []condition {
	var all []condition
	for _, d := range disturbances() {
		for _, rate := range rates() {
			all = append(all, condition{rate, d})
		}
	}
	return all
}

// reached reports whether a loaded recording has the frames for the condition.
func (c condition) reached(r *capture.Recording) bool {
	return c.rate == 0 || rateOf(r.Frames) >= reaches*c.rate
}

// asRecorded reports whether the condition leaves recordings as they are.
func (c condition) asRecorded() bool { return c.rate == 0 && c.worsen == nil }

// draws returns how often the condition is drawn.
func (c condition) draws() int {
	if c.asRecorded() {
		return 1
	}
	return draws
}

// apply returns the draw-th version of a recording's frames under the condition, in the order
// of time. It does not change the recording.
func (c condition) apply(r *capture.Recording, draw int) []capture.Frame {
	frames, seed := r.Frames, r.Name
	if draw > 0 {
		seed = fmt.Sprint(r.Name, " ", draw)
	}
	if c.rate > 0 && rateOf(frames) >= spares*c.rate {
		frames = thin(c.rate)(seed, frames)
	}
	if c.worsen != nil {
		frames = c.worsen(seed, frames)
	}
	frames = slices.Clone(frames)
	slices.SortStableFunc(frames, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return frames
}

// rateOf returns the mean frames/s of frames in the order of time, 0 for fewer than two.
func rateOf(frames []capture.Frame) float64 {
	if len(frames) < 2 {
		return 0
	}
	span := frames[len(frames)-1].Time - frames[0].Time
	return float64(len(frames)-1) / max(span, 1e-9)
}

// random returns a source of numbers that is the same for a seed in every run.
func random(seed string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(seed))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// thin keeps the first frame after each beat of a clock with that rate, as a sender does that
// is asked for so many frames a second and sends with what comes next. Its beats fall anywhere
// between the frames. So the intervals vary, by up to one of the recording's own, which they
// would not if every n-th frame were kept.
func thin(rate float64) degrade {
	return func(seed string, frames []capture.Frame) []capture.Frame {
		beat := math.Inf(-1)
		phase := random(seed).Float64()
		var kept []capture.Frame
		for _, f := range frames {
			if now := math.Floor(f.Time*rate + phase); now > beat {
				kept, beat = append(kept, f), now
			}
		}
		return kept
	}
}

// lose loses 30 % of the frames, each by itself.
func lose(seed string, frames []capture.Frame) []capture.Frame {
	r := random(seed)
	var kept []capture.Frame
	for _, f := range frames {
		if r.Float64() >= 0.3 {
			kept = append(kept, f)
		}
	}
	return kept
}

// jitter delays each frame by up to 100 ms.
func jitter(seed string, frames []capture.Frame) []capture.Frame {
	const most motion.Seconds = 0.1
	r := random(seed)
	moved := make([]capture.Frame, 0, len(frames))
	for _, f := range frames {
		f.Time += most * r.Float64()
		moved = append(moved, f)
	}
	return moved
}
