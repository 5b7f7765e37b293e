package sim

import (
	"math/rand/v2"
	"time"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// Outage is the failure of a node, a leaf or, with neither, of the home's uplink.
type Outage struct {
	Node     int // index of the node that is without power, -1 = none
	Leaf     int // index of the leaf that is switched off, -1 = none
	From, To motion.Time
}

// Uplink reports whether the outage is that of the uplink: the devices work, but
// cannot reach the appliance.
func (o Outage) Uplink() bool { return o.Node < 0 && o.Leaf < 0 }

// Walk is a person or pet that walks in one location.
type Walk = scenario.Walk

// Visitor is the number of a person who does not live in the home.
const Visitor = 99

// Scene is the walks and outages besides the day plan.
type Scene struct {
	Walks   []Walk
	Outages []Outage
}

// OpeningScene returns the first minutes of a simulation: a visitor walks from 2 s
// after start; later a leaf drops and returns, an extender loses power for a minute,
// and the home loses its uplink.
func OpeningScene(h Home, start motion.Time) Scene {
	var s Scene
	walk := func(location string, from, to motion.Seconds) {
		s.Walks = append(s.Walks, Walk{Who: Visitor, Location: location, From: start.Add(from), To: start.Add(to), Vigour: 1})
	}
	places := h.Locations()
	at := func(i int) string { return places[i%len(places)] }
	if len(places) > 0 {
		walk(at(1), 2, 8)
		walk(at(0), 8, 34)
		walk(at(2), 62, 78)
	}
	if len(h.Leafs) > 2 {
		s.Outages = append(s.Outages, Outage{Node: -1, Leaf: 2, From: start.Add(84), To: start.Add(114)})
	}
	if len(h.Nodes) > 2 {
		s.Outages = append(s.Outages, Outage{Node: 2, Leaf: -1, From: start.Add(140), To: start.Add(200)})
	}
	s.Outages = append(s.Outages, Outage{Node: -1, Leaf: -1, From: start.Add(420), To: start.Add(450)})
	return s
}

// outagesOfDay returns the outages of the local day that begins at midnight: two of
// leafs, of a minute or two each, and one of an extender.
func outagesOfDay(seed uint64, h Home, midnight time.Time) []Outage {
	y, m, d := midnight.Date()
	rng := rand.New(rand.NewPCG(chance.Mix(seed, chance.Text("outage")), uint64(y)*10000+uint64(m)*100+uint64(d)))
	begin := motion.TimeOf(midnight)
	fault := func(node, leaf int, shortest, longest float64) Outage {
		from := begin.Add((7 + 15*rng.Float64()) * 3600)
		return Outage{Node: node, Leaf: leaf, From: from, To: from.Add(shortest + (longest-shortest)*rng.Float64())}
	}
	var outages []Outage
	for range min(2, len(h.Leafs)) {
		outages = append(outages, fault(-1, rng.IntN(len(h.Leafs)), 60, 150))
	}
	if len(h.Nodes) > 1 {
		outages = append(outages, fault(1+rng.IntN(len(h.Nodes)-1), -1, 90, 240))
	}
	return outages
}
