package detect

import (
	"slices"

	"sensegate/motion"
)

// maxFormats is the number of formats whose reference a link keeps, the one in force included.
const maxFormats = 4

// reference is what a link has learned on the frames of one format.
type reference struct {
	format format
	layout *layout // nil until the valid bins are known
	pace   pace
	judge  judge
	left   motion.Seconds // of its calibration, while another format is in force
}

func newReference(config *Config) reference {
	return reference{judge: newJudge(config.scale(), config.Sensitivity), left: config.Calibration}
}

// snapshot returns what r has learned.
func (r *reference) snapshot() Learned {
	s := Learned{Rate: r.pace.rate}
	r.judge.snapshot(&s)
	if r.layout.usable() {
		s.Length, s.Ends, s.Bins = r.format.length, slices.Clone(r.format.ends), slices.Clone(r.layout.bins)
		s.Format = r.format.number
	}
	return s
}

// restore applies what another reference had learned.
func (r *reference) restore(s *Learned) {
	if s.Rate > 0 {
		r.pace.set(s.Rate)
	}
	r.judge.restore(s)
	if len(s.Bins) > 0 {
		r.format.set(s.Length, s.Ends, s.Format)
		r.layout = &layout{bins: slices.Clone(s.Bins)}
		r.layout.arrange(s.Ends)
	}
}

// change puts the format of a frame at time t in force, with what was learned on it, and keeps what was
// learned on the one before. A calibration that somebody has asked for goes on with the other format.
func (l *Link) change(t motion.Time, length int, ends []int) {
	next := newReference(&l.config)
	next.format.set(length, ends, l.number)
	for i := range l.former {
		if l.former[i].format.is(length, ends, l.number) {
			next = l.former[i]
			l.former = slices.Delete(l.former, i, i+1)
			break
		}
	}
	asked := l.judge.earlier != nil
	if asked {
		l.CancelCalibration()
	}
	if l.layout.usable() {
		l.left = l.judge.until.Since(l.grid.newest)
		l.pace.clear()
		l.judge.interrupt()
		l.former = slices.Insert(l.former[:min(len(l.former), maxFormats-2)], 0, l.reference)
	}
	l.reference = next
	l.judge.tune(l.config.Sensitivity)
	l.judge.until = max(t, l.grid.newest).Add(l.left)
	if asked && l.judge.calibrated {
		l.Calibrate()
	}
	l.weakness, l.rivalry.lead = weakness{}, 0
	l.use(l.layout)
	l.learn.start(length)
}
