package fuse

// In pet mode (lm1.md 4 no. 7) motion begins a detection only if it is wide: of six links with data or more, two fifths move,
// in the mean over the samples in motion of the last 4 s. A person sets most links of a home in motion, a pet those that
// it is near. Fewer links cannot tell, and a device's own samples are not judged.
const (
	PetLinks   = 6 // with fewer, pet mode has no effect
	petExtent  = 0.4
	petSamples = 8
)

// extents are the shares of the links that moved in the last samples.
type extents struct {
	shares [petSamples]float64 // a ring; 0 = no motion
	at     int
}

// add takes the next sample in; nil is one without data.
func (e *extents) add(s *Sample) {
	e.shares[e.at] = s.extent()
	e.at = (e.at + 1) % petSamples
}

// wide reports whether motion reaches as far as that of people.
func (e *extents) wide() bool {
	sum, moving := 0.0, 0
	for _, share := range e.shares {
		sum += share
		moving += count(share > 0)
	}
	return sum >= petExtent*float64(moving)
}

// extent returns the share of the links with data that take part in motion, and 1 in motion that is not judged by it.
func (s *Sample) extent() float64 {
	if s == nil || !s.Motion {
		return 0
	}
	heard, moving := 0, 0
	for i := range s.Links {
		heard += count(s.Links[i].Intensity.Known())
		moving += count(s.Links[i].Intensity > 0)
	}
	if heard < PetLinks || !s.Levels.Known() {
		return 1
	}
	return float64(moving) / float64(heard)
}
