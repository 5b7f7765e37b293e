package channel

import (
	"math"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Device describes the errors of a receiver.
type Device struct {
	Counts   float64        // mean amplitude in a bin of the empty home, counts
	Noise    float64        // standard deviation per component of a strong signal, counts
	Ripple   float64        // relative error, smooth over the bins and new in each frame
	Gain     float64        // relative standard deviation of the gain from frame to frame
	GainStep float64        // step of the automatic gain control, dB; 0 = the gain is locked
	GainWait motion.Seconds // shortest time between two steps of the automatic gain control

	Power, Floor float64 // transmitted power and noise floor, dBm

	Loss  float64 // share of single frames that are lost
	Burst float64 // share of half seconds of which all frames are lost

	Offset motion.Seconds // of the clock at a synchronisation
	Drift  float64        // of the clock since then, parts per million
}

// SyncInterval is how often a device sets its clock, in seconds.
const SyncInterval motion.Seconds = 1024

const (
	usualPower = 15  // dBm
	usualFloor = -94 // dBm in 20 MHz
	burstS     = 0.5
)

// DeviceOf returns a receiver with a chip of a family: "esp32", "s3", "c3", "c5"
// or "c6"; "esp32s3" is an S3 whose gain is not locked; any other name means "s3".
// Counts, noise, ripple and gain are near the medians of real receivers.
func DeviceOf(chip string) Device {
	d := Device{Power: usualPower, Floor: usualFloor, GainWait: 15}
	switch chip {
	case "esp32":
		d.Counts, d.Noise, d.Gain, d.GainStep = 40, 0.75, 0.1, 1
	case "c3":
		d.Counts, d.Noise, d.Ripple, d.Gain = 39, 0.75, 0.009, 0.03
	case "c5":
		d.Counts, d.Noise, d.Ripple, d.Gain = 28, 0.5, 0.012, 0.02
	case "c6":
		d.Counts, d.Noise, d.Ripple, d.Gain = 28, 0.6, 0.045, 0.05
	case "esp32s3":
		d.Counts, d.Noise, d.Ripple, d.Gain, d.GainStep = 49, 0.9, 0.011, 0.1, 1
	default:
		d.Counts, d.Noise, d.Ripple, d.Gain = 41, 0.6, 0.007, 0.03
	}
	return d
}

// received returns the received power at the mean amplitude of a channel, dBm.
func (d *Device) received(mean float64) float64 {
	return d.Power + 20*math.Log10(math.Max(mean, 1e-12))
}

// noise returns the standard deviation per component, in counts, at a signal in
// dBm: the receiver's own noise, or the noise floor if the signal is weak.
func (d *Device) noise(signal float64) float64 {
	return math.Max(d.Noise, d.Counts*math.Pow(10, (d.Floor-signal)/20)/math.Sqrt2)
}

// clock returns what the device's clock shows at t.
func (d *Device) clock(t motion.Time) motion.Time {
	since := math.Mod(float64(t), SyncInterval)
	return t.Add(d.Offset + since*d.Drift/1e6)
}

// lost reports whether frame n, sent at t, is lost.
func (d *Device) lost(seed, n uint64, t motion.Time) bool {
	return chance.Unit(seed, n, 21) < d.Loss || chance.Unit(seed, uint64(float64(t)/burstS), 22) < d.Burst
}

// gain returns the factor that automatic gain control applies at t; strength is
// that of the channel relative to the empty home.
func (d *Device) gain(seed uint64, t motion.Time, strength float64) float64 {
	if d.GainStep == 0 {
		return 1
	}
	steps := math.Round(-20*math.Log10(math.Max(strength, 1e-3))/d.GainStep) +
		math.Floor(chance.Between(-1, 2, seed, uint64(float64(t)/math.Max(1, d.GainWait)), 23))
	return math.Pow(10, steps*d.GainStep/20)
}
