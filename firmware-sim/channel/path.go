package channel

import "math"

const lightSpeed = 299_792_458.0 // m/s

// spectrum is the channel of one link in all bins of its layout.
type spectrum struct {
	carrier float64 // Hz
	runs    []run
	bins    []complex128
}

func newSpectrum(layout *Layout, carrier float64) *spectrum {
	return &spectrum{carrier: carrier, runs: layout.runs(), bins: make([]complex128, len(layout.Indices))}
}

// add adds a path of an amplitude and a length in metres to every bin.
func (s *spectrum) add(amplitude, length float64) {
	delay := length / lightSpeed
	cycles := s.carrier * delay
	gain := turned(amplitude, cycles-math.Floor(cycles))
	step := turned(1, SpacingHz*delay)
	twice := step * step
	for _, r := range s.runs {
		even := gain * turned(1, SpacingHz*delay*float64(r.first))
		odd := even * step
		bins := s.bins[r.bin : r.bin+r.count]
		for ; len(bins) >= 2; bins = bins[2:] { // two chains keep the processor busy
			bins[0] += even
			bins[1] += odd
			even *= twice
			odd *= twice
		}
		if len(bins) > 0 {
			bins[0] += even
		}
	}
}

// turned returns a number of a size that so many cycles have turned back.
func turned(size, cycles float64) complex128 {
	sin, cos := math.Sincos(-2 * math.Pi * cycles)
	return complex(size*cos, size*sin)
}

// mean returns the mean amplitude over the bins in use.
func (s *spectrum) mean() float64 {
	total, count := 0.0, 0
	for _, r := range s.runs {
		for _, h := range s.bins[r.bin : r.bin+r.count] {
			total += math.Sqrt(real(h)*real(h) + imag(h)*imag(h))
		}
		count += r.count
	}
	return total / math.Max(1, float64(count))
}
