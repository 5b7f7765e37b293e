// Package channel is a physical model of a Wi-Fi link through a home: rooms with
// walls and doors, objects and moving bodies, and the receiver that measures the
// result. It yields channel state information (CSI) for any layout of
// subcarriers. It knows geometry and radio; it must not know the device protocol,
// networks, people's days or detection.
//
// The channel of a link is a sum of paths. Each subcarrier sees a path with the
// phase of its length and, by Friis, an amplitude of λ/(4πd), attenuated by every
// wall crossed; walls, floor and ceiling reflect by the method of images (Allen
// and Berkley, 1979); objects and the parts of a moving body scatter by the
// bistatic radar equation, λ√σ/((4π)^1.5·d1·d2), directly and over the
// reflections, people and pets most strongly forward, because they are wider than a
// wavelength; multiple reflections are a diffuse tail of virtual sources whose
// delay spread follows Saleh and Valenzuela (1987). A body in the direct path
// shadows it.
//
// All results are functions of seed and time. A Link belongs to one goroutine;
// Plan, Track and Body are read only once made and may be shared.
package channel

import (
	"math"
	"math/rand/v2"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Config describes a link.
type Config struct {
	Seed     uint64
	Plan     *Plan
	From, To Point   // transmitter, receiver
	Carrier  float64 // Hz; 0 = 2.412 GHz
	Rate     float64 // frames a second, for Sound; 0 = 25
	Layout   Layout
	Device   Device
}

const (
	carrier24Hz = 2.412e9
	usualRate   = 25
)

// Link is the channel between two antennas and the receiver that measures it.
// Its measurements depend only on the configuration, the scene and the time. It
// reuses its buffers and belongs to one goroutine.
type Link struct {
	config    Config
	obstacles *obstacles
	tx, rx    []source
	scatter   float64 // λ/(4π)^1.5
	friis     float64 // λ/4π
	resting   []part  // scatterers that stand still

	still    []complex128 // channel without moving bodies and without the direct path
	straight float64      // amplitude of the direct path, unshadowed
	now      *spectrum
	scale    float64  // counts per unit of channel
	usual    float64  // mean amplitude of the channel of the empty home
	waves    []ripple // by bin: of every frame's ripple

	pcg     *rand.PCG
	rng     *rand.Rand
	parts   []part
	in, out []ray
	data    []byte
}

// NewLink returns a link. It keeps c.Plan, which must not change.
func NewLink(c Config) *Link {
	if c.Carrier == 0 {
		c.Carrier = carrier24Hz
	}
	if c.Rate == 0 {
		c.Rate = usualRate
	}
	length := c.From.Distance(c.To)
	wavelength := lightSpeed / c.Carrier
	l := &Link{
		config: c, obstacles: newObstacles(c.Plan),
		tx: sourcesOf(c.Plan, c.From, length, chance.Mix(c.Seed, 1)), rx: sourcesOf(c.Plan, c.To, length, chance.Mix(c.Seed, 2)),
		friis: wavelength / (4 * math.Pi), scatter: wavelength / math.Pow(4*math.Pi, 1.5),
		now: newSpectrum(&c.Layout, c.Carrier), still: make([]complex128, len(c.Layout.Indices)), waves: wavesOf(c.Layout.Indices),
		pcg: rand.NewPCG(0, 0), parts: make([]part, 0, maxParts),
	}
	l.rng = rand.New(l.pcg)
	for _, r := range c.Plan.Reflectors {
		l.resting = append(l.resting, part{r.At, math.Sqrt(r.Size)})
	}
	l.obstacles.at(0, &Scene{})
	l.settle()
	l.respond(0, &Scene{})
	l.usual = l.now.mean()
	l.scale = c.Device.Counts / l.usual
	l.settle() // again, without paths that are too faint
	return l
}

// Response returns the channel of every bin at t in a scene, relative to the
// transmitted amplitude. The result is valid until the next call.
func (l *Link) Response(t motion.Time, scene *Scene) []complex128 {
	l.respond(t, scene)
	return l.now.bins
}

// Signal returns the signal strength of the empty home with every door closed, dBm.
func (l *Link) Signal() float64 { return l.config.Device.received(l.usual) }

// respond computes the channel at t.
func (l *Link) respond(t motion.Time, scene *Scene) {
	if l.obstacles.at(t, scene) {
		l.settle()
	}
	copy(l.now.bins, l.still)
	shadow := 1.0
	for i := range scene.Bodies {
		b := &scene.Bodies[i]
		if !b.present(t) {
			continue
		}
		l.parts = b.parts(l.parts[:0], t)
		if b.Kind == Person {
			shadow *= l.shadow(l.parts[0].at)
		}
		l.disturb(l.parts, b.Kind.lobe())
	}
	l.now.add(l.straight*shadow, l.config.From.Distance(l.config.To))
}

// settle computes the part of the channel that does not change while no door moves.
func (l *Link) settle() {
	clear(l.now.bins)
	l.in = l.obstacles.rays(l.in[:0], l.tx, l.config.To, anyGain)
	for _, r := range l.in {
		d := math.Max(nearest, r.source.at.Distance(l.config.To))
		if r.source.wall == direct {
			l.straight = l.friis * r.factor / d
			continue
		}
		l.now.add(l.friis*r.factor/d, d)
	}
	for i := range l.resting {
		l.disturb(l.resting[i:i+1], 0)
	}
	for i := range l.config.Plan.Doors {
		panel := part{l.config.Plan.Doors[i].panel(l.obstacles.opened[i]), math.Sqrt(panelSize)}
		l.parts = append(l.parts[:0], panel)
		l.disturb(l.parts, 0)
	}
	copy(l.still, l.now.bins)
}

const (
	nearest   = 0.3   // m; shorter paths count as this long
	panelSize = 0.5   // m², of a door
	faintest  = 0.003 // of the channel's strength: weaker paths are left out
)

// disturb adds the paths over the parts of a body: from the transmitter and its
// images over a part to the receiver, and from the transmitter over a part to the
// receiver's images. The walls crossed are those of the first part. lobe is how many times more of
// the amplitude goes straight on than back.
func (l *Link) disturb(parts []part, lobe float64) {
	at := parts[0].at
	l.in = l.obstacles.rays(l.in[:0], l.tx, at, l.needed(parts, &l.rx[0], lobe))
	l.out = l.obstacles.rays(l.out[:0], l.rx, at, l.needed(parts, &l.tx[0], lobe))
	for _, r := range l.in {
		l.over(parts, r, l.out[0], lobe)
	}
	for _, r := range l.out[1:] {
		l.over(parts, l.in[0], r, lobe)
	}
}

// needed returns how much gain a source must have at least, so that a path from it over one of the parts to the
// antenna at the other end is not too faint, whatever stands in its way.
func (l *Link) needed(parts []part, other *source, lobe float64) func(*source) float64 {
	spread, root := 0.0, 0.0
	for _, p := range parts {
		spread, root = math.Max(spread, p.at.Distance(parts[0].at)), math.Max(root, p.root)
	}
	shortest := func(s *source) float64 { return math.Max(nearest, parts[0].at.Distance(s.at)-spread) }
	strongest := l.scatter * root * (1 + lobe) / shortest(other)
	return func(s *source) float64 { return faintest * l.usual * shortest(s) / strongest }
}

// anyGain lets each source through.
func anyGain(*source) float64 { return -1 }

// over adds the paths in along one ray and out along another, one for each part. What goes straight on in the direct
// path is its shadow; see respond.
func (l *Link) over(parts []part, in, out ray, lobe float64) {
	factor := l.scatter * in.factor * out.factor
	if in.source.wall == direct && out.source.wall == direct {
		lobe = 0
	}
	apart := in.source.at.Distance(out.source.at)
	for _, p := range parts {
		before, after := p.at.Distance(in.source.at), p.at.Distance(out.source.at)
		root := p.root
		if lobe > 0 {
			root *= 1 + lobe*forward(before, after, apart)
		}
		amplitude := factor * root / (math.Max(nearest, before) * math.Max(nearest, after))
		if amplitude > faintest*l.usual {
			l.now.add(amplitude, before+after)
		}
	}
}

// shadow returns the factor by which a person at p attenuates the direct path:
// about 8 dB in the middle of it (Youssef et al., 2007, saw 5–10 dB), nothing
// beyond the first Fresnel zone.
func (l *Link) shadow(p Point) float64 {
	width := math.Max(0.25, 0.5*math.Sqrt(l.friis*4*math.Pi*l.config.From.Distance(l.config.To))/2)
	gap := gapTo(p, l.config.From, l.config.To) / width
	return 1 - 0.6*math.Exp(-gap*gap)
}

// lobeWidth is the angle from straight on at which the forward lobe of a body has fallen to 1/e, about
// λ over the body's width, in radians.
const lobeWidth = 0.6

// forward returns the share of its forward lobe with which a scatterer sends on what comes from one place, at the
// distance before, to another, at the distance after; the two places are so far apart.
func forward(before, after, apart float64) float64 {
	cos := (apart*apart - before*before - after*after) / (2 * before * after)
	off := math.Acos(math.Max(-1, math.Min(1, cos))) / lobeWidth // 0 = straight on
	return math.Exp(-off * off)
}

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

// turned returns the complex number of a size and a phase of minus so many cycles.
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
