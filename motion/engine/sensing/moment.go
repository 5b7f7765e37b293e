package sensing

import (
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// publishMoment tells followers of a sample, if there are any; n.Mu is held.
func (se *Sensing) publishMoment(n *network, s *fuse.Sample) {
	if se.state.Moments.Readers(n.ID) == 0 {
		return
	}
	m := &state.Moment{At: s.Time, Length: s.Interval, Rooms: map[string]float64{}}
	if s.Intensity.Known() {
		m.Intensity = float64(s.Intensity)
	}
	add := func(link fuse.Link, share float64) {
		if end, ok := n.EndOf(n.Served(link)); ok && end.Location != "" {
			m.Rooms[end.Location] += share
		}
	}
	for i := range s.Links {
		l := &s.Links[i]
		if !l.Intensity.Known() {
			continue
		}
		add(l.Link, 0)
		if l.Intensity > 0 {
			m.Links = append(m.Links, n.NameOf(l.Link))
		}
	}
	for i := range s.Zones {
		add(s.Zones[i].Link, s.Zones[i].Share)
	}
	if places := s.Location(); len(places) > 0 {
		m.Place = n.PlaceName(n.Served(places[0].Link).String())
	}
	se.state.Moments.Publish(n.ID, m)
}
