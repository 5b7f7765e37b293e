package evaluate

import "math"

// poissonBound returns the one-sided 95 % upper bound of the mean of a Poisson distribution of which n was
// drawn: the mean with which n or fewer come in one case of twenty.
func poissonBound(n int) float64 {
	low, high := float64(n), float64(n)+10+5*math.Sqrt(float64(n))
	for range 60 {
		mean := (low + high) / 2
		term, sum := math.Exp(-mean), 0.0
		for k := 0; k <= n; k++ {
			sum += term
			term *= mean / float64(k+1)
		}
		if sum > 0.05 {
			low = mean
		} else {
			high = mean
		}
	}
	return high
}
