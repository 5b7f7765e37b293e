package fuse

import (
	"cmp"
	"math"
	"slices"
)

// minShare is the least share, in percent, of a zone in the Location of a device's sample (lm1.md 5).
const minShare = 25

// Place is a zone in motion. Texts for people say "likely".
type Place struct {
	Zone       string  `json:"zone"`
	Link       Link    `json:"link"`       // the zone's strongest link; motion was near its source
	Share      float64 `json:"share"`      // 0..1 of the network's motion
	Confidence float64 `json:"confidence"` // 0..1: of a Fuser's sample the chance that the zone is right
}

// Location returns where motion likely is; nothing outside motion. Of a Fuser's sample that is one zone, or
// two when neither is sure: motion is in one of them. Of a device's sample it is the zones with a share of 0.25 or more, the
// largest first; only the largest if none has that much.
func (s *Sample) Location() []Place { return s.Zones[:s.named] }

// Locate replaces the location of a sample in motion by the one that the device found.
func (s *Sample) Locate(p Place) {
	if s.Motion {
		s.Zones, s.named = append(s.Zones[:0], p), 1
	}
}

// locate fills the Zones of a device's sample: s_z = Σ intensity of zone z / Σ of all zones (lm1.md 5).
func (s *Sample) locate(priority []string) {
	s.Zones, s.named = s.Zones[:0], 0
	if !s.Motion {
		return
	}
	var total float64
	firm := false
	for i := range s.Links {
		l := &s.Links[i]
		if !(l.Intensity > 0) {
			continue
		}
		total += float64(l.Intensity)
		firm = firm || !l.Infirm
		s.zone(l).Share += float64(l.Intensity)
	}
	for i := range s.Zones {
		z := &s.Zones[i]
		z.Share /= total
		z.Confidence = z.Share * s.clarity(z, firm)
	}
	s.sortZones(priority)
	for s.named < len(s.Zones) && (s.named == 0 || s.Zones[s.named].percent() >= minShare) {
		s.named++
	}
}

// sortZones orders Zones by share in whole percent, then by the priority list, then by name.
func (s *Sample) sortZones(priority []string) {
	slices.SortFunc(s.Zones, func(a, b Place) int {
		if c := cmp.Compare(b.percent(), a.percent()); c != 0 {
			return c // mostly
		}
		return cmp.Or(cmp.Compare(rank(priority, a.Zone), rank(priority, b.Zone)), cmp.Compare(a.Zone, b.Zone))
	})
}

// zone returns the entry of l's zone in Zones, which it adds if missing, and updates the zone's
// strongest link.
func (s *Sample) zone(l *LinkSample) *Place {
	for i := range s.Zones {
		z := &s.Zones[i]
		if z.Zone != l.Zone {
			continue
		}
		if l.stronger(s.find(z.Link)) {
			z.Link = l.Link
		}
		return z
	}
	s.Zones = append(s.Zones, Place{Zone: l.Zone, Link: l.Link})
	return &s.Zones[len(s.Zones)-1]
}

// find returns the entry of a link that is in Links.
func (s *Sample) find(key Link) *LinkSample {
	for i := range s.Links {
		if s.Links[i].Link == key {
			return &s.Links[i]
		}
	}
	return nil
}

// clarity is the factor of a share for the clarity of the decision: one half at the threshold of
// the zone's strongest link, one at twice the threshold; half of that if all motion depends on
// links that may not decide alone.
func (s *Sample) clarity(z *Place, firm bool) float64 {
	c := 0.5 + 0.5*s.find(z.Link).clear()
	if !firm {
		c *= 0.5
	}
	return c
}

// clear returns how far above its threshold a link decided, 0..1, from MSAD and MConf, or else from Intensity.
func (l *LinkSample) clear() float64 {
	if l.MSAD.Known() && l.MConf > 0 {
		return unit(float64(l.MSAD/l.MConf - 1))
	}
	return unit(float64(l.Intensity))
}

// percent returns the share in whole percent.
func (p Place) percent() int { return int(math.Round(100 * p.Share)) }

// rank returns a zone's index in the priority list, or the list's length for any other zone.
func rank(priority []string, zone string) int {
	if at := slices.Index(priority, zone); at >= 0 {
		return at
	}
	return len(priority)
}
