package fuse

import (
	"math"
	"slices"

	"sensegate/motion"
)

// sampleInterval is the length of a Fuser's samples: two ticks.
const sampleInterval motion.Seconds = 0.5

// Sample is the state of a network during a short interval (device-protocol.md 3): two ticks of a
// Fuser, or one row of a device's motion-matrix or link-motion. Absent readings mean that there
// was no data.
type Sample struct {
	Time     motion.Time    // its end
	Interval motion.Seconds // seconds

	Valid     bool    // a link had data
	Motion    bool    // Intensity > 0
	Firm      bool    // the motion is no single disturbance: it can begin a detection; a device's own always is
	Intensity Reading // 0..1, the maximum over the links that take part; 0 outside motion
	Raw       Reading // 0..1, the maximum over all links, before gating (lraw)
	MSAD      Reading // of the strongest link
	MConf     Reading // of the strongest link

	Links     []LinkSample // every known link, ordered by Link.Compare
	Strongest int          // index in Links of the link with the largest intensity, then raw; −1 without data
	Zones     []Place      // zones in motion, the largest share first
	named     int          // of them, those of Location
	Levels    Levels       // what Motion would be at other sensitivities; not Known of a device's sample
}

// LinkSample is one link's part of a Sample.
type LinkSample struct {
	Link Link
	Zone string // the leaf's location, or the leaf itself

	Intensity  Reading // 0..1; 0 for a link that does not take part in motion; absent without data
	Raw        Reading // 0..1, before gating
	Throughput Reading // 0..1, share of the sounding that succeeded; 0 = the other readings are meaningless
	MSAD       Reading // 100·R, or the device's un-gated figure
	MConf      Reading // the threshold for MSAD
	Reach      Reading // share of all that the link needs to start motion: 1 = its threshold

	Infirm bool // weak or coarse: confidence is low if only such links are in motion
	Noisy  bool // marked by the noise watch

	weight    float64 // of its amplitude, of a Fuser's sample
	scattered float64 // the largest Scattered of its ticks that are compared, −∞ = none
}

// UnknownLink returns the LinkSample of a link without data, whose readings the caller fills in.
func UnknownLink(key Link, zone string) LinkSample {
	return LinkSample{
		Link: key, Zone: zone,
		Intensity: Unknown(), Raw: Unknown(), Throughput: Unknown(), MSAD: Unknown(), MConf: Unknown(), Reach: Unknown(),
		scattered: math.Inf(-1),
	}
}

// FromLinks returns the sample of a device's readings in motion-matrix and link-motion messages
// (device-protocol.md 2.2, 2.6); each link starts as UnknownLink. A link without intensity, or
// with throughput 0, is unknown; infinite values become absent; shares are limited to 0..1. t is
// the end of the sample, interval its length, priority the zone priority list. FromLinks takes
// ownership of links and sorts it.
func FromLinks(t motion.Time, interval motion.Seconds, links []LinkSample, priority []string) *Sample {
	s := &Sample{}
	s.SetLinks(t, interval, links, priority)
	return s
}

// SetLinks makes s the sample that FromLinks returns, in the memory of its former Zones.
func (s *Sample) SetLinks(t motion.Time, interval motion.Seconds, links []LinkSample, priority []string) {
	slices.SortFunc(links, func(a, b LinkSample) int { return a.Link.Compare(b.Link) })
	for i := range links {
		links[i].sanitize()
	}
	*s = Sample{Time: t, Interval: interval, Links: links, Zones: s.Zones}
	s.compose()
	s.locate(priority)
}

// sanitize limits a device's readings to their ranges.
func (l *LinkSample) sanitize() {
	l.Intensity, l.Raw, l.Throughput = l.Intensity.share(), l.Raw.share(), l.Throughput.share()
	l.MSAD, l.MConf, l.Reach = l.MSAD.finite(), l.MConf.finite(), l.Reach.finite()
	if l.Throughput == 0 {
		l.reset()
		l.Throughput = 0
	}
}

// Silence returns a sample without data.
func Silence(t motion.Time, interval motion.Seconds) *Sample {
	return FromLinks(t, interval, nil, nil)
}

// StrongestLink returns the link with the largest intensity, then raw; false without data.
func (s *Sample) StrongestLink() (LinkSample, bool) {
	if s.Strongest < 0 {
		return LinkSample{}, false
	}
	return s.Links[s.Strongest], true
}

// compose fills all fields that follow from Links but Zones.
func (s *Sample) compose() {
	s.Valid, s.Strongest = false, -1
	s.Intensity, s.Raw, s.MSAD, s.MConf = Unknown(), Unknown(), Unknown(), Unknown()
	for i := range s.Links {
		l := &s.Links[i]
		if !l.Intensity.Known() {
			continue
		}
		s.Valid = true
		s.Intensity = max(s.Intensity.orZero(), l.Intensity)
		s.Raw = max(s.Raw.orZero(), l.Raw.orZero())
		if s.Strongest < 0 || l.stronger(&s.Links[s.Strongest]) {
			s.Strongest = i
		}
	}
	s.Motion = s.Intensity > 0
	s.Firm = s.Motion
	if s.Strongest >= 0 {
		s.MSAD, s.MConf = s.Links[s.Strongest].MSAD, s.Links[s.Strongest].MConf
	}
}

// Join merges the next sample: each link keeps the stronger readings, the places are those of the
// stronger sample, and the intervals add up. Join does not keep next.
func (s *Sample) Join(next *Sample) {
	if next.Intensity > s.Intensity || !s.Intensity.Known() {
		s.Zones, s.named = append(s.Zones[:0], next.Zones...), next.named
		s.Intensity, s.Motion = next.Intensity, next.Motion
	}
	for i := range next.Links {
		l := &next.Links[i]
		at, found := slices.BinarySearchFunc(s.Links, l.Link, func(l LinkSample, key Link) int { return l.Link.Compare(key) })
		switch {
		case !found:
			s.Links = slices.Insert(s.Links, at, *l)
		case l.Intensity.Known() && (!s.Links[at].Intensity.Known() || l.stronger(&s.Links[at])):
			s.Links[at] = *l
		}
	}
	s.Interval += next.Time.Since(s.Time)
	s.Firm = s.Firm || next.Firm
	s.Time, s.Valid = next.Time, s.Valid || next.Valid
}

// stronger reports whether l has a larger intensity than other, or the same and a larger raw
// value.
func (l *LinkSample) stronger(other *LinkSample) bool {
	if l.Intensity != other.Intensity {
		return l.Intensity > other.Intensity
	}
	return l.Raw.orZero() > other.Raw.orZero()
}

// reset makes all readings unknown.
func (l *LinkSample) reset() { *l = UnknownLink(l.Link, l.Zone) }
