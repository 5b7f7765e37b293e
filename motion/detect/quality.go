package detect

import (
	"math"

	"sensegate/motion"
)

// A link below either bound is weak (lm1.md 2 no. 8).
const (
	MinAmplitude = 6.0 // median amplitude of the valid bins, counts
	MinRate      = 5.0 // frames/s
)

const (
	reportTicks = 240 // one minute

	faintHold motion.Seconds = 10 // how long a link stays faint
)

// uptime is the share of valid ticks in the last minute.
type uptime struct {
	valid [reportTicks]bool
	seen  int
	at    int
	sum   int
}

func (u *uptime) add(valid bool) {
	if u.valid[u.at] {
		u.sum--
	}
	u.valid[u.at] = valid
	if valid {
		u.sum++
	}
	u.at = (u.at + 1) % reportTicks
	u.seen = min(u.seen+1, reportTicks)
}

func (u *uptime) share() float64 { return float64(u.sum) / math.Max(1, float64(u.seen)) }

// weakness remembers when the amplitude of a link was too low.
type weakness struct{ last motion.Time } // 0 = never

// faint reports whether the amplitude of the link is too low to trust its coherence, now or
// within the last faintHold: gain steps move the amplitude of a weak link across the limit.
func (w *weakness) faint(at motion.Time, amplitude float64) bool {
	if amplitude < MinAmplitude {
		w.last = at
	}
	return !w.last.IsZero() && at.Since(w.last) < faintHold
}

// amplitude returns the median level of the valid bins in the latest moments, in counts. The
// level of a bin is its mean share times the geometric mean of its segment's amplitude.
func (w *window) amplitude() float64 {
	s := &w.scratch
	n := float64(s.sum.n)
	levels := s.spare[:0]
	for i, part := range w.layout.parts {
		level := math.Exp(w.gain0[i] + s.sum.g[i]/n)
		for k := part.lo; k < part.hi; k++ {
			levels = append(levels, level*(w.base[k]+s.sum.p[k]/n))
		}
	}
	return median(levels)
}
