package detect

import (
	"fmt"
	"math"
	"slices"

	"sensegate/motion"
)

// Learned is the state of a link that must survive a restart. The zero value is the state of a
// link without data.
type Learned struct {
	Length     int     `json:"length,omitempty"` // bins per frame
	Ends       []int   `json:"ends,omitempty"`   // of the segments
	Bins       []int   `json:"bins,omitempty"`   // valid bins, ascending
	Rate       float64 `json:"rate,omitempty"`   // nominal, frames/s
	Baseline   float64 `json:"baseline"`         // logarithm of the quiet power
	Calibrated bool    `json:"calibrated"`       // the calibration has ended
	Disturbed  bool    `json:"disturbed"`        // there was probably motion during it

	CalibratedAt motion.Time `json:"calibrated_at,omitempty"` // end of the calibration; 0 = unknown

	Format uint32    `json:"format,omitempty"` // number of the frames' format; 0 also in what was stored without one
	Former []Learned `json:"former,omitempty"` // on other formats, the last used first, at most three; theirs is empty
}

func (l *Learned) validate() error {
	switch {
	case math.IsNaN(l.Baseline) || math.IsInf(l.Baseline, 0):
		return fmt.Errorf("restore link: baseline %v is not a number", l.Baseline)
	case !(l.Rate >= 0) || math.IsInf(l.Rate, 0):
		return fmt.Errorf("restore link: rate %v is not a rate", l.Rate)
	case !slices.IsSorted(l.Ends) || !slices.IsSorted(l.Bins):
		return fmt.Errorf("restore link: segments or bins are not ascending")
	case len(l.Bins) > 0 && (l.Bins[0] < 0 || l.Bins[len(l.Bins)-1] >= l.Length):
		return fmt.Errorf("restore link: bins %d to %d in frames of %d", l.Bins[0], l.Bins[len(l.Bins)-1], l.Length)
	case len(slices.Compact(slices.Clone(l.Bins))) != len(l.Bins):
		return fmt.Errorf("restore link: a bin occurs twice")
	case len(l.Former) >= maxFormats:
		return fmt.Errorf("restore link: %d former formats, at most %d", len(l.Former), maxFormats-1)
	}
	for i := range l.Former {
		former := &l.Former[i]
		if len(former.Bins) == 0 || len(former.Former) > 0 {
			return fmt.Errorf("restore link: former format %d has no bins, or formats of its own", i)
		}
		if err := former.validate(); err != nil {
			return err
		}
	}
	return nil
}

// snapshot fills l with what the judge has learned, as if a repeated calibration were
// cancelled.
func (j *judge) snapshot(l *Learned) {
	if q := j.earlier; q != nil {
		l.Baseline, l.Calibrated, l.Disturbed, l.CalibratedAt = q.baseline, true, q.disturbed, q.at
		return
	}
	l.Baseline, l.Calibrated, l.Disturbed, l.CalibratedAt = j.baseline, j.calibrated, j.disturbed, j.quieted
}

// restore applies what another judge had learned, if its calibration had ended.
func (j *judge) restore(l *Learned) {
	if !l.Calibrated {
		return
	}
	j.take(quiet{l.Baseline, l.CalibratedAt, l.Disturbed})
}
