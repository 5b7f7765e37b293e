package channel

import (
	"math"
	"math/cmplx"
	"slices"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// Frame is one measurement.
type Frame struct {
	Number uint64      // since the epoch
	Time   motion.Time // when it was measured
	Stamp  motion.Time // of the device's clock
	RSSI   int8        // dBm
	Noise  int8        // dBm
	Data   []byte      // one or two bytes per bin of the layout
}

// jitter is the greatest delay of a frame, as a share of the interval.
const jitter = 0.08

// Sound appends the frames of [from, to) in a scene to dst, at the link's rate and
// without lost ones. Their Data is valid until the next call.
func (l *Link) Sound(dst []Frame, from, to motion.Time, scene *Scene) []Frame {
	interval := 1 / l.config.Rate
	l.data = l.data[:0]
	width := len(l.config.Layout.Indices) * l.config.Layout.Flags.Width()
	l.data = slices.Grow(l.data, width*(2+int(to.Since(from)*l.config.Rate)))
	for n := uint64(max(0, float64(from)/interval-1)); ; n++ {
		t := motion.Time((float64(n) + jitter*chance.Unit(l.config.Seed, n, 31)) * interval)
		if t >= to {
			return dst
		}
		if t < from || l.config.Device.lost(l.config.Seed, n, t) {
			continue
		}
		begin := len(l.data)
		var rssi int8
		l.data, rssi = l.Measure(l.data, n, t, scene)
		dst = append(dst, Frame{
			Number: n, Time: t, Stamp: l.config.Device.clock(t), RSSI: rssi, Noise: int8(l.config.Device.Floor),
			Data: l.data[begin:len(l.data):len(l.data)],
		})
	}
}

// Measure appends the measured bins of the channel at t in a scene to dst, and
// returns them with the signal strength in dBm; n seeds the noise.
func (l *Link) Measure(dst []byte, n uint64, t motion.Time, scene *Scene) ([]byte, int8) {
	d := &l.config.Device
	l.respond(t, scene)
	mean := l.now.mean()
	signal := d.received(mean)
	l.pcg.Seed(l.config.Seed, n)
	noise := d.noise(signal)
	factor := l.scale * d.gain(l.config.Seed, t, mean/l.usual) * math.Max(0.2, 1+d.Gain*l.rng.NormFloat64())
	turned := cmplx.Rect(factor, 2*math.Pi*l.rng.Float64())
	tones := l.ripple()
	for bin, index := range l.config.Layout.Indices {
		if index == Empty {
			dst = append(dst, make([]byte, l.config.Layout.Flags.Width())...)
			continue
		}
		gain := l.config.Layout.gain(bin)
		h := l.now.bins[bin] * turned * complex(gain*(1+tones.at(&l.waves[bin])), 0)
		h += complex(noise*l.rng.NormFloat64(), noise*l.rng.NormFloat64())
		dst = appendBin(dst, h, l.config.Layout.Flags)
	}
	rssi := math.Round(signal + 0.4*l.rng.NormFloat64())
	return dst, int8(math.Max(-127, math.Min(-1, rssi)))
}

// appendBin appends a bin in the format of the flags.
func appendBin(dst []byte, h complex128, flags csi.Flags) []byte {
	switch {
	case flags&csi.Amplitude != 0:
		return append(dst, byte(math.Min(255, math.Round(cmplx.Abs(h)))))
	case flags&csi.ImagFirst != 0:
		return append(dst, count(imag(h)), count(real(h)))
	}
	return append(dst, count(real(h)), count(imag(h)))
}

// count quantises a component to the receiver's signed byte.
func count(v float64) byte { return byte(int8(math.Round(math.Max(-127, math.Min(127, v))))) }

// waves is how many cosines a ripple has.
const waves = 3

// ripple is a random curve over the subcarriers of a frame: by wave the factors of its cosine and sine.
type ripple [waves]complex128

// ripple draws the curve of the next frame.
func (l *Link) ripple() (r ripple) {
	if l.config.Device.Ripple == 0 {
		return r
	}
	for i := range r {
		size := l.config.Device.Ripple * math.Sqrt(2.0/waves) * l.rng.NormFloat64()
		sin, cos := math.Sincos(2 * math.Pi * l.rng.Float64())
		r[i] = complex(size*cos, -size*sin)
	}
	return r
}

// at returns the relative error in a bin whose waves are given.
func (r *ripple) at(bin *ripple) float64 {
	total := 0.0
	for i := range r {
		total += real(r[i])*real(bin[i]) + imag(r[i])*imag(bin[i])
	}
	return total
}

// wavesOf returns the cosine and the sine of each wave in each bin.
func wavesOf(indices []int) []ripple {
	all := make([]ripple, len(indices))
	for bin, index := range indices {
		for i := range all[bin] {
			sin, cos := math.Sincos(2 * math.Pi * float64(i+1) * float64(index) / 57)
			all[bin][i] = complex(cos, sin)
		}
	}
	return all
}
