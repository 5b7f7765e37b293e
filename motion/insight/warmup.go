package insight

import (
	"fmt"

	"sensegate/motion/series"
)

// Warm-up of daily activity and sleep (interfaces.md 8 no. 5: 2 to 4
// hours after first activation).
const (
	warmedUpMinutes = 120      // with data are enough
	warmUpLimit     = 4 * 3600 // the warm-up ends at the latest so many s after the first sample
)

// First returns the first second of [from, to) with motion data of the network; found is false if
// there is none. The caller limits (to−from)/900. The error is series.ErrDamaged.
func First(s *series.Set, from, to int64) (ts int64, found bool, err error) {
	for _, bucket := range []int64{bucketS, 1} { // the second pass reads one bucket only
		p, err := s.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: bucket})
		if err != nil {
			return 0, false, fmt.Errorf("read first sample: %w", err)
		}
		found = false
		for i := 0; i < p.Len() && !found; i++ {
			_, ts, found = p.At(i)
		}
		if !found {
			return 0, false, nil
		}
		from, to = max(from, ts), min(to, ts+p.Bucket)
	}
	return max(ts, from), true, nil
}

// WarmedUp reports whether daily activity and nights are available at second now for a network
// with its first sample at second first: when the four hours from then on hold 120 minutes
// with data (2 h if nothing is missing), and after 4 h at the latest. s must hold [first,
// min(now, first + 4 h)), unless now is later. The error is series.ErrDamaged.
func WarmedUp(s *series.Set, first, now int64) (bool, error) {
	switch {
	case now-first >= warmUpLimit:
		return true, nil
	case now-first < warmedUpMinutes*minuteS:
		return false, nil
	}
	minutes, err := states(s, floorTo(first, minuteS), now)
	if err != nil {
		return false, err
	}
	var t tally
	for _, m := range minutes {
		t.add(m)
	}
	return t.samples >= warmedUpMinutes, nil
}
