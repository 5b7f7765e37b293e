package channel

import (
	"slices"

	"sensegate/motion/csi"
)

// Empty is the index of a bin without a subcarrier: DC and the guard bands.
const Empty = -1 << 15

// Layout maps the bins of a frame to subcarriers and says how a receiver encodes
// them.
type Layout struct {
	Indices []int     // by bin: subcarrier, 0 = DC; or Empty
	Ends    []int     // end of each segment, as in a csi.Batch; nil = one segment
	Gains   []float64 // by segment: factor of the amplitude; nil = 1
	Flags   csi.Flags // csi.Amplitude and csi.ImagFirst
}

// SpacingHz is the spacing of subcarriers (IEEE 802.11n, 20.3).
const SpacingHz = 312_500.0

// The highest subcarriers of the formats of IEEE 802.11 (19.3, 20.3).
const (
	legacyMost = 26
	htMost     = 28
)

// HT20 returns a 20 MHz HT training field, 64 bins in FFT order, as ESP32, S3 and
// C3 report it.
func HT20() Layout { return Layout{Indices: fourier(64, htMost), Flags: csi.ImagFirst} }

// HT20Ascending returns the same field with bins −32…31, as C5 and C6 report it.
func HT20Ascending() Layout { return Layout{Indices: ascending(64, htMost), Flags: csi.ImagFirst} }

// LegacyHT returns the amplitudes of a legacy training field followed by a stronger
// HT one: 128 bins in two segments.
func LegacyHT() Layout {
	return Layout{
		Indices: append(fourier(64, legacyMost), fourier(64, htMost)...),
		Ends:    []int{64, 128}, Gains: []float64{0.3, 1}, Flags: csi.Amplitude,
	}
}

// ESP32Fields returns the training fields of 20 MHz as an ESP32 hands them over, 64 bins each in FFT order: the
// legacy one, the stronger HT one, and that of the second stream with STBC. n is how many, 1 to 3.
func ESP32Fields(n int) Layout {
	ht := fourier(64, htMost)
	return Layout{
		Indices: slices.Concat(fourier(64, legacyMost), ht, ht)[:64*n],
		Ends:    []int{64, 128, 192}[:n], Gains: []float64{0.3, 1, 1}[:n], Flags: csi.ImagFirst,
	}
}

// LayoutOf returns the layout in which the receiver DeviceOf(chip) reports a 20 MHz
// field.
func LayoutOf(chip string) Layout {
	if chip == "c5" || chip == "c6" {
		return HT20Ascending()
	}
	return HT20()
}

// fourier returns the bins of a field of n in FFT order.
func fourier(n, most int) []int {
	indices := make([]int, n)
	for bin := range indices {
		indices[bin] = carried(bin-n*(2*bin/n), most)
	}
	return indices
}

// ascending returns the bins of a field of n from the lowest frequency up.
func ascending(n, most int) []int {
	indices := make([]int, n)
	for bin := range indices {
		indices[bin] = carried(bin-n/2, most)
	}
	return indices
}

// carried returns k if that subcarrier is in use, otherwise Empty.
func carried(k, most int) int {
	if k == 0 || k < -most || k > most {
		return Empty
	}
	return k
}

// gain returns the factor of a bin's segment.
func (l *Layout) gain(bin int) float64 {
	for segment, end := range l.Ends {
		if bin < end && segment < len(l.Gains) {
			return l.Gains[segment]
		}
	}
	return 1
}

// run is a sequence of bins with consecutive subcarriers.
type run struct {
	bin, count int
	first      int // subcarrier of the first bin
}

// runs returns the bins in use as runs.
func (l *Layout) runs() []run {
	var all []run
	for bin, index := range l.Indices {
		if index == Empty {
			continue
		}
		n := len(all) - 1
		if n >= 0 && all[n].bin+all[n].count == bin && all[n].first+all[n].count == index {
			all[n].count++
			continue
		}
		all = append(all, run{bin: bin, count: 1, first: index})
	}
	return all
}
