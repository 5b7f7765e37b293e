package csi

import (
	"math"
	"slices"
)

// Amplitudes writes the amplitude of every subcarrier in data to dst, which it
// grows if need be, and returns dst[:n]. Pairs of signed bytes become
// √(I² + Q²), 0..181, whichever comes first; amplitude bytes stay, 0..255. An
// odd last byte of I/Q data is ignored.
func Amplitudes(dst []float32, data []byte, flags Flags) []float32 {
	n := len(data) / flags.Width()
	dst = slices.Grow(dst[:0], n)[:n]
	if flags&Amplitude != 0 {
		for k, a := range data {
			dst[k] = float32(a)
		}
		return dst
	}
	data = data[:2*n]
	for k := range dst {
		i, q := int32(int8(data[2*k])), int32(int8(data[2*k+1]))
		dst[k] = float32(math.Sqrt(float64(i*i + q*q)))
	}
	return dst
}
