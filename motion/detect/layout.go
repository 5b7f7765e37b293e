package detect

import (
	"math"
	"slices"
)

const (
	minBins      = 6    // a segment with fewer valid bins is skipped
	audible      = 0.5  // counts; bins below it are left out of the median
	validShare   = 0.25 // of the median amplitude
	maxPairReach = 4    // distance in bins within a pair
)

// layout is the selection of valid bins of a frame and of the pairs among them (lm1.md 2 no. 0
// and no. 2). Columns are the valid bins in order.
type layout struct {
	bins  []int     // bin of each column
	parts []part    // segments that have enough columns
	link  []float64 // ½ where column k and k+2 are a pair, otherwise 0
	pairs int
}

// part is the range of columns lo..hi of one segment.
type part struct{ lo, hi int }

// selectBins selects the valid bins from the mean amplitude of each bin. ends are the ends of
// the segments; empty = one segment.
func selectBins(mean []float64, ends []int) *layout {
	l := &layout{}
	lo := 0
	for s := 0; s == 0 || s < len(ends); s++ {
		hi := len(mean)
		if len(ends) > 0 {
			hi = max(lo, min(ends[s], len(mean)))
		}
		l.bins = append(l.bins, validBins(mean, lo, hi)...)
		lo = hi
	}
	l.arrange(ends)
	return l
}

func validBins(mean []float64, lo, hi int) []int {
	var heard []float64
	for _, m := range mean[lo:hi] {
		if m > audible {
			heard = append(heard, m)
		}
	}
	if len(heard) == 0 {
		return nil
	}
	floor := validShare * median(heard)
	var bins []int
	for k := lo; k < hi; k++ {
		if mean[k] > floor {
			bins = append(bins, k)
		}
	}
	if len(bins) < minBins {
		return nil
	}
	return bins
}

// arrange finds the segments and pairs of the selected bins.
func (l *layout) arrange(ends []int) {
	segment := func(bin int) int {
		s, _ := slices.BinarySearch(ends, bin+1)
		return s
	}
	l.link = make([]float64, len(l.bins))
	for lo := 0; lo < len(l.bins); {
		hi := lo + 1
		for hi < len(l.bins) && segment(l.bins[hi]) == segment(l.bins[lo]) {
			hi++
		}
		l.parts = append(l.parts, part{lo, hi})
		for k := lo; k+2 < hi; k++ {
			if l.bins[k+2]-l.bins[k] <= maxPairReach {
				l.link[k] = 0.5
				l.pairs++
			}
		}
		lo = hi
	}
}

// usable reports whether the layout has pairs to compute on.
func (l *layout) usable() bool { return l != nil && l.pairs > 0 }

// neighbours writes to z, for each column, half the sum of its pair partners in x, so that z·y
// is the sum over pairs of (x_i y_j + x_j y_i)/2.
func (l *layout) neighbours(z, x []float64) {
	n := len(l.link)
	z, x = z[:n], x[:n]
	clear(z)
	for k := 0; k+2 < n; k++ {
		h := l.link[k]
		z[k] += h * x[k+2]
		z[k+2] += h * x[k]
	}
}

// normalise writes the frame's valid amplitudes, each segment divided by its own mean, to row,
// and the logarithm of that mean to gains (step 1). It returns false if an amplitude is not a
// number.
func (l *layout) normalise(row, gains []float64, amp []float32) bool {
	for s, p := range l.parts {
		sum := 0.0
		for k := p.lo; k < p.hi; k++ {
			a := float64(amp[l.bins[k]])
			row[k] = a
			sum += a
		}
		mu := sum / float64(p.hi-p.lo)
		if !(mu <= math.MaxFloat64) {
			return false
		}
		if mu <= 0 {
			mu = 1
		}
		for k := p.lo; k < p.hi; k++ {
			row[k] /= mu
		}
		gains[s] = math.Log(mu)
	}
	return true
}
