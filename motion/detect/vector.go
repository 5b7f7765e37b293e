package detect

import "slices"

// dot returns Σ a_k b_k over the length of a. Four sums keep the processor's
// pipeline full.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for k, v := range a {
		s0 += v * b[k]
	}
	return (s0 + s1) + (s2 + s3)
}

func addTo(sum, v []float64) {
	v = v[:len(sum)]
	for k := range sum {
		sum[k] += v[k]
	}
}

func subtract(v, base []float64) {
	base = base[:len(v)]
	for k := range v {
		v[k] -= base[k]
	}
}

// median returns the middle of v, or the mean of the two middle values, and
// reorders v. It needs at least one value.
func median(v []float64) float64 {
	mid := len(v) / 2
	selectNth(v, mid)
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (slices.Max(v[:mid]) + v[mid]) / 2
}

// selectNth reorders v so that v[n] is what it would be if v were sorted, with no greater value
// before it (Hoare's quickselect).
func selectNth(v []float64, n int) {
	for lo, hi := 0, len(v)-1; lo < hi; {
		pivot := v[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return
		}
	}
}
