package sim

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// The synthetic radio: a 20 MHz channel with 64 subcarriers in the order of a
// fast Fourier transform (0…31, −32…−1), as small Wi-Fi radios report it.
const (
	subcarriers      = 64
	firstGuard       = 27 // the guard band is empty: bins 27 to 37, and bin 0
	lastGuard        = 37
	spacingHz        = 312_500.0
	carrier24Hz      = 2.412e9
	carrierMeshHz    = 5.785e9
	lightSpeed       = 299_792_458.0 // m/s
	frameMicros      = 40_000        // one frame per link and 40 ms: 25 Hz
	frameJitter      = 3_000         // µs
	meanCounts       = 22.0          // amplitude in counts of the receiver
	noiseCounts      = 0.7           // standard deviation per component
	noiseFloor       = -94           // dBm
	gainStepS        = 15.0          // the receiver may change its gain this often
	staticPaths      = 5
	scatterers       = 3
	movementsPerBody = 2
)

// radio is the channel of one link: static paths, and the paths over a moving
// body, which change smoothly in time and alike in neighbouring subcarriers.
// Its frames depend on the seed, the link and the time alone. It reuses its
// buffers and is not safe for concurrent use.
type radio struct {
	seed    uint64 // of this link
	link    *Link
	carrier float64                 // Hz
	static  [subcarriers]complex128 // channel of the empty home
	scale   float64                 // counts per unit of channel
	bodies  [scatterers]scatterer

	pcg     *rand.PCG
	rng     *rand.Rand
	channel [subcarriers]complex128
	batch   csi.Batch
	data    []byte
}

// scatterer is one part of a moving body: its path has a strength, a delay and a
// length that swings slowly.
type scatterer struct {
	gain     float64
	delay    float64 // s
	swing    [movementsPerBody]float64
	pace     [movementsPerBody]float64 // Hz
	phase    [movementsPerBody]float64
	rotation float64
}

func newRadio(seed uint64, link *Link) *radio {
	r := &radio{seed: mix(seed, hashText(link.Name)), link: link, carrier: carrier24Hz, pcg: rand.NewPCG(0, 0)}
	if link.Peer >= 0 {
		r.carrier = carrierMeshHz
	}
	r.rng = rand.New(r.pcg)
	r.pcg.Seed(r.seed, hashText("channel"))
	for path := range staticPaths {
		strength := math.Exp(-0.5 * float64(path))
		r.addPath(&r.static, cmplx.Rect(strength, 2*math.Pi*r.rng.Float64()), 100e-9*r.rng.Float64())
	}
	total := 0.0
	for _, h := range r.static {
		total += cmplx.Abs(h)
	}
	mean := total / subcarriers
	r.scale = meanCounts / mean
	for i := range r.bodies {
		b := &r.bodies[i]
		b.gain = mean * (0.2 + 0.15*r.rng.Float64())
		b.delay = (20 + 70*r.rng.Float64()) * 1e-9
		b.rotation = 2 * math.Pi * r.rng.Float64()
		for m := range b.swing {
			b.swing[m] = (0.04 + 0.06*r.rng.Float64()) * carrier24Hz / r.carrier
			b.pace[m] = 0.25 + 0.55*r.rng.Float64()
			b.phase[m] = 2 * math.Pi * r.rng.Float64()
		}
	}
	return r
}

// addPath adds a path of a complex gain and a delay to every subcarrier.
func (r *radio) addPath(channel *[subcarriers]complex128, gain complex128, delay float64) {
	step := cmplx.Rect(1, -2*math.Pi*spacingHz*delay)
	upper := gain
	lower := gain * cmplx.Rect(1, 2*math.Pi*spacingHz*delay*subcarriers/2)
	for k := range subcarriers / 2 {
		channel[k] += upper
		channel[k+subcarriers/2] += lower
		upper *= step
		lower *= step
	}
}

// frames returns the batch of the frames in [from, to) while the walks go on,
// nil when there is none. The batch is valid until the next call.
func (r *radio) frames(from, to motion.Time, walks []Walk) *csi.Batch {
	b := &r.batch
	*b = csi.Batch{
		Src: r.link.Src, Dst: r.link.Dst, Flags: csi.ImagFirst, Channel: uint8(r.link.Channel),
		Subcarriers: subcarriers, Frames: b.Frames[:0],
	}
	first, end := from.Micros(), to.Micros()
	r.data = r.data[:0]
	for n := uint64(max(0, first/frameMicros-1)); ; n++ {
		micros := int64(n)*frameMicros + int64(between(0, frameJitter, r.seed, n, hashText("jitter")))
		if micros >= end {
			break
		}
		if micros < first {
			continue
		}
		if len(b.Frames) == 0 {
			b.Start = uint64(micros)
		}
		b.Frames = append(b.Frames, r.frame(n, micros, uint32(uint64(micros)-b.Start), walks))
	}
	if len(b.Frames) == 0 {
		return nil
	}
	const width = 2 * subcarriers
	for i := range b.Frames {
		b.Frames[i].Data = r.data[i*width : (i+1)*width]
	}
	return b
}

// frame appends the measurement number n to r.data and returns its header.
func (r *radio) frame(n uint64, micros int64, offset uint32, walks []Walk) csi.Frame {
	t := motion.FromMicros(micros)
	r.channel = r.static
	if moving := level(r.link, walks, t); moving > 0 {
		for i := range r.bodies {
			r.addBody(&r.bodies[i], moving, float64(micros)/1e6)
		}
	}
	r.pcg.Seed(r.seed, n)
	step := math.Round(between(-3, 3, r.seed, uint64(float64(t)/gainStepS), hashText("gain")))
	gain := cmplx.Rect(r.scale*math.Pow(10, step/40)*(1+0.01*r.rng.NormFloat64()), 2*math.Pi*r.rng.Float64())
	for k, h := range r.channel {
		if k == 0 || k >= firstGuard && k <= lastGuard {
			r.data = append(r.data, 0, 0)
			continue
		}
		h *= gain
		r.data = append(r.data,
			count(imag(h)+noiseCounts*r.rng.NormFloat64()), count(real(h)+noiseCounts*r.rng.NormFloat64()))
	}
	return csi.Frame{
		Offset: offset, Seq: uint16(n), Noise: noiseFloor,
		RSSI: int8(float64(r.link.RSSI) + math.Round(r.rng.NormFloat64()*0.6)),
	}
}

// addBody adds the path over one part of a moving body at seconds.
func (r *radio) addBody(b *scatterer, moving, seconds float64) {
	length := 0.0
	for m := range b.swing {
		length += b.swing[m] * math.Sin(2*math.Pi*b.pace[m]*seconds+b.phase[m])
	}
	turn := b.rotation - 2*math.Pi*r.carrier*length/lightSpeed
	r.addPath(&r.channel, cmplx.Rect(b.gain*moving, turn), b.delay+length/lightSpeed)
}

// count quantises a component to the receiver's signed byte.
func count(v float64) byte {
	return byte(int8(math.Round(math.Max(-127, math.Min(127, v)))))
}
