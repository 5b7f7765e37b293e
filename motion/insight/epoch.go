package insight

import (
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Counts are activity counts per epoch, as an actigraph makes them, from 0 on;
// NoCount where it is not known. Epochs follow one another without a hole.
type Counts []int32

// NoCount is the count of an epoch without data.
const NoCount int32 = -1

// CountsOf returns the counts of the minutes of [from, to): 100 × the mean
// intensity, rounded (detection.md section 7). from is brought down to a whole
// minute. With bedrooms, each minute counts with the share of its motion that
// was at these leafs; where none of their shares is known the whole network
// counts. The error is series.ErrDamaged.
func CountsOf(s *series.Set, from, to int64, bedrooms ...motion.MAC) (Counts, error) {
	from = floorTo(max(from, 0), minuteS)
	counts := make(Counts, 0, max(to-from+minuteS-1, 0)/minuteS)
	means, err := minutes(s, series.Network, series.Mean, from, to)
	if err != nil {
		return nil, err
	}
	shares, err := sharesAt(s, bedrooms, from, to)
	if err != nil {
		return nil, err
	}
	for i, mean := range means {
		switch {
		case !mean.Known():
			counts = append(counts, NoCount)
		case shares[i].Known():
			counts = append(counts, int32(math.Round(100*float64(mean*shares[i]))))
		default:
			counts = append(counts, int32(math.Round(100*float64(mean))))
		}
	}
	return counts, nil
}

// sharesAt returns how much, 0..1, of each minute's motion was at the given
// leafs; unknown where there is no motion or none of their shares is known.
func sharesAt(s *series.Set, leafs []motion.MAC, from, to int64) ([]Value, error) {
	whole, err := minutes(s, series.Network, series.Density, from, to)
	if err != nil || len(leafs) == 0 {
		return fill(int64(len(whole))), err
	}
	sums := fill(int64(len(whole)))
	for _, leaf := range leafs {
		part, err := minutes(s, series.Location(leaf), series.Density, from, to)
		if err != nil {
			return nil, err
		}
		for i, v := range part {
			sums[i] = plus(sums[i], v)
		}
	}
	for i, v := range sums {
		if sums[i] = Unknown(); v.Known() && whole[i] > 0 {
			sums[i] = min(v/whole[i], 1)
		}
	}
	return sums, nil
}

// plus adds two values; what is unknown adds nothing to what is known.
func plus(a, b Value) Value {
	switch {
	case !a.Known():
		return b
	case !b.Known():
		return a
	}
	return a + b
}

// actigraphP90 is what the 90th percentile of the minutes with motion of a
// network's nights becomes, so that counts are in the range that the scorings
// were made for (detection.md section 7).
const actigraphP90 = 300

// scaleOf returns the factor that brings counts to the range of an actigraph; ok
// is false when nothing moved.
func scaleOf(counts ...Counts) (factor float64, ok bool) {
	var moving []Value
	for _, c := range slices.Concat(counts...) {
		if c > 0 {
			moving = append(moving, Value(c))
		}
	}
	if len(moving) == 0 {
		return 1, false
	}
	slices.Sort(moving)
	return actigraphP90 / float64(percentile(moving, 90)), true
}

// scaled returns c times factor, rounded.
func (c Counts) scaled(factor float64) Counts {
	out := slices.Clone(c)
	for i, n := range out {
		if n != NoCount {
			out[i] = int32(math.Round(factor * float64(n)))
		}
	}
	return out
}
