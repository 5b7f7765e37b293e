package evaluate

import (
	"math"
	"sort"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

const (
	firstScored motion.Seconds = 1.0 // after the first frame
	freshFrame  motion.Seconds = 0.5 // the greatest age of the frame that labels a tick
	longGap     motion.Seconds = 120 // the rest of a longer gap has no ticks
)

// score counts ticks over one or more recordings.
type score struct {
	hits, motion         int // motion detected as motion; all motion
	alarms, quiet        int // quiet detected as motion; all quiet
	stillFlagged, still  int // a still person detected as motion; all still
	onsets               int // alarms whose first tick is in quiet
	latencies            []motion.Seconds
	motionSpans, missing int // spans of motion; those never detected
}

func (s *score) add(o score) {
	s.hits += o.hits
	s.motion += o.motion
	s.alarms += o.alarms
	s.quiet += o.quiet
	s.stillFlagged += o.stillFlagged
	s.still += o.still
	s.onsets += o.onsets
	s.motionSpans += o.motionSpans
	s.missing += o.missing
	s.latencies = append(s.latencies, o.latencies...)
}

// rules say which ticks of a recording are scored.
type rules struct {
	calibrated  bool
	calibration motion.Seconds // ticks up to this time are not scored
	guard       motion.Seconds // quiet up to this long after motion is not scored
}

// compare compares decisions with the labels of moments.
func compare(moments []moment, ticks []decision) score {
	var s score
	labels, called := align(moments, ticks)
	for i, label := range labels {
		switch outcomeOf(label, called[i]) {
		case found:
			s.motion, s.hits = s.motion+1, s.hits+1
		case missed:
			s.motion++
		case alarmed:
			s.quiet, s.alarms = s.quiet+1, s.alarms+1
			s.onsets += count(i > 0 && !called[i-1])
		case calm:
			s.quiet++
		case flagged:
			s.still, s.stillFlagged = s.still+1, s.stillFlagged+1
		case left:
			s.still++
		}
		if label == capture.Motion && i > 0 && labels[i-1] != capture.Motion {
			s.span(labels[i:], called[i:])
		}
	}
	return s
}

// span adds the latency of the span of motion with which labels begin.
func (s *score) span(labels []capture.Label, called []bool) {
	s.motionSpans++
	for i := range labels {
		if labels[i] != capture.Motion {
			break
		}
		if called[i] {
			s.latencies = append(s.latencies, float64(i)*detect.TickInterval)
			return
		}
	}
	s.missing++
}

// moment is a time at which decisions are scored, and its label.
type moment struct {
	at    motion.Seconds
	label capture.Label
}

// moments returns when decisions on frames, which are in the order of time, are scored: every
// tick takes the label of the newest frame, so that recall includes the delay of detection.
func (r rules) moments(frames []capture.Frame) []moment {
	var all []moment
	start, last := frames[0].Time, frames[len(frames)-1].Time
	lastMotion := math.Inf(-1)
	next := 0
	for k := 0; ; k++ {
		at := start + firstScored + float64(k)*detect.TickInterval
		if at > last+1e-9 {
			return all
		}
		for ; next < len(frames) && frames[next].Time <= at; next++ {
			if frames[next].Label == capture.Motion {
				lastMotion = frames[next].Time
			}
		}
		newest := frames[next-1]
		label := newest.Label
		switch {
		case r.calibrated && at <= r.calibration, at-newest.Time > freshFrame:
			label = capture.Ignored
		case label == capture.Quiet && at-lastMotion < r.guard:
			label = capture.Ignored
		}
		all = append(all, moment{at, label})
		if at-newest.Time > longGap && next < len(frames) {
			k = max(k, int((frames[next].Time-start-firstScored)/detect.TickInterval)-1)
		}
	}
}

// align returns, by moment, the label to score and whether motion was detected.
func align(moments []moment, ticks []decision) (labels []capture.Label, called []bool) {
	labels, called = make([]capture.Label, len(moments)), make([]bool, len(moments))
	tick := 0
	for i, m := range moments {
		for tick < len(ticks) && ticks[tick].time <= m.at {
			tick++
		}
		labels[i], called[i] = m.label, tick > 0 && ticks[tick-1].motion
	}
	return labels, called
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// medianOf returns the median, false without values.
func medianOf(v []float64) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	v = append([]float64(nil), v...)
	sort.Float64s(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, true
}
