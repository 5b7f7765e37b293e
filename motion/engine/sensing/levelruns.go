package sensing

import (
	"iter"
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// maxRuns bounds the runs of a network: 64 KB. A lively day has a few thousand; when there are more,
// the oldest go, and less than a day is known.
const maxRuns = 16384

// halvesKept is replayed in samples.
const halvesKept = int64(replayed / half)

// levelRuns is when a network would have been in motion at each sensitivity level, over the last
// 24 hours. It is kept in memory alone; a restart begins it anew. The network's mutex guards it.
type levelRuns struct {
	runs       []levelRun // oldest first, without a gap between them
	start, end int64      // of all of them, in samples of half a second since the epoch

	cut motion.Time // newest figure that a device had set to zero below its own threshold; 0: none
}

// levelRun is samples in a row that are alike: how many, and in the low bits what; 0 there: no data.
type levelRun uint32

// whatBits are the low bits. There are those of fuse.Levels, and whether there was motion, and firm motion, at the
// sensitivities in force.
const (
	whatBits    = 11
	inForceBit  = 1 << 9
	inForceFirm = 1 << 10
)

func runOf(length int64, what uint16) levelRun { return levelRun(length)<<whatBits | levelRun(what) }

func (r levelRun) length() int64 { return int64(r >> whatBits) }
func (r levelRun) what() uint16  { return uint16(r) & (1<<whatBits - 1) }

// begin begins anew.
func (l *levelRuns) begin() { *l = levelRuns{} }

// note adds a sample with data. One that came twice changes nothing; one of a device that judged by
// thresholds of its own, or of a clock that was set back, begins anew.
func (l *levelRuns) note(s *fuse.Sample) {
	if !s.Levels.Known() {
		l.begin()
		return
	}
	what := uint16(s.Levels)
	if s.Motion {
		what |= inForceBit
	}
	if s.Firm {
		what |= inForceFirm
	}
	const minute = int64(60 / half)
	at := int64(math.Round(float64(s.Time) / half))
	if late := l.end - at; late >= 0 && late < minute {
		return
	}
	if at <= l.end || at-l.end > halvesKept {
		l.begin()
		l.start, l.end = at-1, at-1
	}
	l.extend(at-1-l.end, 0)
	l.extend(1, what)
	for len(l.runs) > maxRuns || l.end-l.start-l.runs[0].length() >= halvesKept {
		l.start += l.runs[0].length()
		l.runs = l.runs[1:]
	}
}

// extend adds a number of samples that are alike.
func (l *levelRuns) extend(n int64, what uint16) {
	if n == 0 {
		return
	}
	l.end += n
	if k := len(l.runs) - 1; k >= 0 && l.runs[k].what() == what && l.runs[k].length() <= halvesKept {
		l.runs[k] += runOf(n, 0)
		return
	}
	l.runs = append(l.runs, runOf(n, what))
}

// copyOf returns l for a reader without the mutex.
func (l *levelRuns) copyOf() levelRuns {
	c := *l
	c.runs = slices.Clone(l.runs)
	return c
}

// since returns from when on something is known.
func (l *levelRuns) since() motion.Time { return motion.Time(float64(l.start) * half) }

// samples are those that begin at from or later, as they were at a level; level 0: at the
// sensitivities in force.
func (l *levelRuns) samples(from motion.Time, level int) iter.Seq[*fuse.Sample] {
	return func(yield func(*fuse.Sample) bool) {
		var s fuse.Sample
		end := l.start
		for _, run := range l.runs {
			motionThen, firm := run.what()&inForceBit != 0, run.what()&inForceFirm != 0
			if level > 0 {
				motionThen, firm = fuse.Levels(run.what()).Motion(level), fuse.Levels(run.what()).Firm(level)
			}
			for last := end + run.length(); end < last; {
				end++
				at := motion.Time(float64(end) * half)
				if run.what() == 0 || at.Add(-half) < from {
					continue
				}
				if s = halfSample(at, motionThen, firm, 1); !yield(&s) {
					return
				}
			}
		}
	}
}

// instead returns the stored samples from a time on of before the runs, and then those of the runs, which know more.
func (l *levelRuns) instead(stored iter.Seq[*fuse.Sample], from motion.Time) iter.Seq[*fuse.Sample] {
	return func(yield func(*fuse.Sample) bool) {
		for s := range stored {
			if s.Time > l.since() {
				break
			}
			if !yield(s) {
				return
			}
		}
		for s := range l.samples(from, 0) {
			if !yield(s) {
				return
			}
		}
	}
}

// halfSample is a sample of half a second that ends at a time.
func halfSample(at motion.Time, moving, firm bool, intensity float64) fuse.Sample {
	s := fuse.Sample{Time: at, Interval: half, Valid: true, Strongest: -1}
	if moving {
		s.Intensity, s.Motion, s.Firm = fuse.Reading(intensity), true, firm
	}
	return s
}
