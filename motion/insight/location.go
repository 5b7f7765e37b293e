package insight

import (
	"fmt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Histogram is the share of the network's motion at each location per bucket
// (payloads.md 4.12), in percent with one decimal; null without data.
type Histogram struct {
	From      int64              `json:"from"` // s, as asked: [From, To)
	To        int64              `json:"to"`
	Interval  int64              `json:"interval"` // s, the effective bucket
	TS        []int64            `json:"ts"`       // start of each bucket
	Locations map[string][]Value `json:"locations"`
}

// HistogramOf returns the histogram of [from, to). name returns the place of a leaf or node;
// devices at the same place are added up, and a device without a place ("") appears under its
// address. The caller limits (to−from)/bucket. The error is series.ErrDamaged.
func HistogramOf(s *series.Set, from, to, bucket int64, name func(motion.MAC) string) (Histogram, error) {
	h := Histogram{From: from, To: to, Interval: bucket, TS: []int64{}, Locations: map[string][]Value{}}
	shares, err := s.Shares(from, to, bucket)
	if err != nil {
		return Histogram{}, fmt.Errorf("read locations: %w", err)
	}
	for _, share := range shares {
		place := name(share.MAC)
		if place == "" {
			place = share.MAC.String()
		}
		if h.Locations[place] == nil {
			h.Locations[place] = fill(int64(share.Points.Len()))
		}
		values := h.Locations[place]
		for i := range values {
			if v, _, ok := share.Points.At(i); ok {
				values[i] = plus(values[i], Value(v))
			}
		}
		h.Interval = share.Points.Bucket
	}
	for _, values := range h.Locations {
		for i, v := range values {
			if v.Known() {
				values[i] = min(v, 100).round(1)
			}
		}
	}
	if len(shares) > 0 {
		for i := range shares[0].Points.Len() {
			h.TS = append(h.TS, shares[0].Points.Start+int64(i)*h.Interval)
		}
	}
	return h, nil
}

// Split returns the distribution of the motion of one detection over locations (shares are
// those of series.Set.Locations, payloads.md 5.4): percent of the total, one decimal, in the
// same order.
func Split(shares []series.LocationShare) []float64 {
	total := 0.0
	for _, s := range shares {
		total += s.Seconds
	}
	percents := make([]float64, len(shares))
	for i, s := range shares {
		percents[i] = float64(ratio(s.Seconds, total, 100).round(1))
	}
	return percents
}
