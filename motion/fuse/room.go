package fuse

import (
	"math"

	"sensegate/motion/detect"
)

// Which room is in motion (lm1.md 5). A body that moves scatters to a receiver a power that falls with
// the squares of its distances from both ends of the link (the bistatic radar equation), whatever else
// the receiver hears. So rooms are compared by the power that motion scatters to the links that end in
// them, not by how much it changes a link's signal: a link through the whole home changes most.
const (
	farEnd        = 0.5  // weight of a link in the room of its other end
	nearReach     = 0.3  // share of what starts a link's motion from which it is compared though it is not in motion
	nearRise      = 0.06 // raw intensity that it needs besides: 0.3 e-folds above its quiet
	sampleWeight  = 0.4  // of the newest sample in a room's strength: people do not jump
	chancePower   = 5    // rooms are as likely as this power of their strengths
	maxConfidence = 0.97 // links can mislead, however clear they are
	nameAlone     = 0.75 // below this confidence in one room, two are named
	usualRSSI     = -50  // dBm, of a link that does not know its signal strength
	coarseQuiet   = -8   // lm of a quiet link whose figures are on another scale
)

// Scattered returns the power that motion scatters to the receiver at a valid tick: coherent motion power
// times signal strength, in e-folds above 1 mW.
func Scattered(t *detect.Tick) float64 {
	power, rssi := t.Power, t.Quality.RSSI
	if t.Quality.Coarse {
		power += coarseQuiet - t.Baseline
	}
	if rssi == 0 {
		rssi = usualRSSI
	}
	return power + rssi*math.Ln10/10
}

// Ends is the mean amplitude of links over their ends in a room. The zero value has none.
type Ends struct{ sum, weights float64 }

// Add adds a link that serves the room, or one whose other end is in it, by its amplitude: exp(Scattered/2)
// in motion, else 0.
func (e *Ends) Add(amplitude float64, far bool) {
	weight := 1.0
	if far {
		weight = farEnd
	}
	e.sum += weight * amplitude
	e.weights += weight
}

// Mean returns the mean, 0 without links.
func (e *Ends) Mean() float64 {
	if e.weights == 0 {
		return 0
	}
	return e.sum / e.weights
}

// locate fills the Zones of a sample, whose Links are in the order of f.links, and says how many are named.
func (f *Fuser) locate(s *Sample) {
	s.Zones, s.named = s.Zones[:0], 0
	for i := range f.zones {
		z := &f.zones[i]
		z.ends, z.strongest = Ends{}, nil
		if !s.Motion {
			z.strength = 0
		}
	}
	if !s.Motion {
		return
	}
	firm := false
	for i, l := range f.links {
		if of := &s.Links[i]; of.Intensity.Known() {
			f.weigh(l, of)
			firm = firm || of.Intensity > 0 && !of.Infirm
		}
	}
	var most, power, chances float64
	for i := range f.zones {
		z := &f.zones[i]
		z.strength += sampleWeight * (z.ends.Mean() - z.strength)
		if z.strongest == nil {
			continue
		}
		most = max(most, z.strength)
		power += z.strength * z.strength
	}
	for i := range f.zones {
		if z := &f.zones[i]; z.strongest != nil && z.strength > 0 {
			chance := math.Pow(z.strength/most, chancePower)
			chances += chance
			s.Zones = append(s.Zones, Place{Zone: z.name, Link: z.strongest.Link, Share: z.strength * z.strength / power, Confidence: chance})
		}
	}
	for i := range s.Zones {
		z := &s.Zones[i]
		z.Confidence = min(z.Confidence/chances, maxConfidence)
		if !firm {
			z.Confidence /= 2
		}
	}
	s.sortZones(f.priority)
	s.named = min(len(s.Zones), 2)
	if s.named > 0 && s.Zones[0].Confidence >= nameAlone {
		s.named = 1
	}
}

// near reports whether a link that is not in motion hears enough of some for the rooms to be compared by it.
func (l *link) near(e *evidence) bool {
	return e.reach >= nearReach && e.raw >= nearRise && !e.infirm && l.doubted == 0 && !l.noise.doubtful()
}

// weigh adds a link's part of a sample in motion to the rooms of its ends. One that is quiet adds 0.
func (f *Fuser) weigh(l *link, of *LinkSample) {
	amplitude := of.weight * math.Exp(of.scattered/2)
	z := &f.zones[l.zone]
	z.ends.Add(amplitude, false)
	if z.strongest == nil || of.stronger(z.strongest) {
		z.strongest = of
	}
	if l.far >= 0 {
		f.zones[l.far].ends.Add(amplitude, true)
	}
}
