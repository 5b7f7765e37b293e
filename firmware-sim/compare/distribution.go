package compare

import (
	"math"
	"slices"
)

// feature is one number that the detector's decisions rest on.
type feature struct {
	name      string
	low, high float64 // of the histograms; what lies beyond counts in the last bin
}

// features are those that are compared (lm1.md 2 no. 4 and no. 5).
func features() []feature {
	return []feature{
		{"R", -0.2, 1},
		{"min(Ra, Rb)", -0.3, 0.9},
		{"lm", -9, -1},
	}
}

const histogramBins = 24

// overlap returns the area that the histograms of two distributions have in
// common, 0..1; 1 = the same.
func (f *feature) overlap(a, b []float64) float64 {
	x, y := f.histogram(a), f.histogram(b)
	common := 0.0
	for i := range x {
		common += math.Min(x[i], y[i])
	}
	return common
}

// histogram returns the share of the values in each bin.
func (f *feature) histogram(values []float64) (shares [histogramBins]float64) {
	for _, v := range values {
		bin := int(math.Floor((v - f.low) / (f.high - f.low) * histogramBins))
		shares[min(max(bin, 0), histogramBins-1)] += 1 / float64(len(values))
	}
	return shares
}

// quantiles returns the 5, 25, 50, 75 and 95 % points of values, NaN of none.
func quantiles(values []float64) (points [5]float64) {
	sorted := slices.Sorted(slices.Values(values))
	for i, share := range [5]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		points[i] = math.NaN()
		if len(sorted) > 0 {
			points[i] = sorted[int(share*float64(len(sorted)-1))]
		}
	}
	return points
}
