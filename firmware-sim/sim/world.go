package sim

import (
	"math"
	"sort"
	"time"

	"sensegate/motion"
)

// world answers what happens in a home at a time. All its answers depend on the
// seed, the home, the scene and the time alone. It keeps the days it was last
// asked about and is not safe for concurrent use.
type world struct {
	seed  uint64
	home  Home
	links []Link
	scene Scene
	days  []day // at most keptDays, ordered by begin
}

// day is the plan of one local day.
type day struct {
	begin, end motion.Time
	walks      []Walk // ordered by From
	outages    []Outage
}

const keptDays = 3

func newWorld(seed uint64, home Home, scene Scene) *world {
	return &world{seed: seed, home: home, links: home.Links(), scene: scene}
}

// dayOf returns the plan of the local day that t lies in.
func (w *world) dayOf(t motion.Time) day {
	for i := len(w.days) - 1; i >= 0; i-- {
		if w.days[i].begin <= t && t < w.days[i].end {
			return w.days[i]
		}
	}
	local := t.Std().In(w.home.zone())
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, local.Location())
	made := day{
		begin: motion.TimeOf(midnight), end: motion.TimeOf(midnight.AddDate(0, 0, 1)),
		walks:   planDay(w.seed, w.home.Locations(), midnight),
		outages: outagesOfDay(w.seed, w.home, midnight),
	}
	if len(w.days) == keptDays {
		w.days = w.days[1:]
	}
	w.days = append(w.days, made)
	return made
}

// walks appends to dst the walks that touch [from, to), which must not be longer
// than a day.
func (w *world) walks(dst []Walk, from, to motion.Time) []Walk {
	today := w.dayOf(from)
	dst = appendTouching(dst, today.walks, from, to)
	if from.Add(-longestWalk) < today.begin {
		dst = appendTouching(dst, w.dayOf(today.begin.Add(-1)).walks, from, to)
	}
	if to > today.end {
		dst = appendTouching(dst, w.dayOf(today.end).walks, from, to)
	}
	for _, walk := range w.scene.Walks {
		if walk.From < to && walk.To > from {
			dst = append(dst, walk)
		}
	}
	return dst
}

// appendTouching appends those of the ordered walks that touch [from, to).
func appendTouching(dst, walks []Walk, from, to motion.Time) []Walk {
	first := sort.Search(len(walks), func(i int) bool { return walks[i].From > from.Add(-longestWalk) })
	for _, walk := range walks[first:] {
		if walk.From >= to {
			break
		}
		if walk.To > from {
			dst = append(dst, walk)
		}
	}
	return dst
}

// outages returns the outages in force at t.
func (w *world) outages(t motion.Time) []Outage {
	var active []Outage
	for _, list := range [][]Outage{w.dayOf(t).outages, w.scene.Outages} {
		for _, o := range list {
			if o.From <= t && t < o.To {
				active = append(active, o)
			}
		}
	}
	return active
}

// level returns how much the walks disturb a link at t, 0..1: it rises and falls
// within rampSeconds of a walk's ends.
func level(link *Link, walks []Walk, t motion.Time) float64 {
	highest := 0.0
	for i := range walks {
		walk := &walks[i]
		if t <= walk.From || t >= walk.To {
			continue
		}
		near := link.near[walk.Location] * walk.Vigour
		ramp := math.Min(1, math.Min(t.Since(walk.From), walk.To.Since(t))/rampSeconds)
		highest = math.Max(highest, near*ramp*ramp*(3-2*ramp))
	}
	return highest
}

// rampSeconds is how long somebody takes to start or stop walking.
const rampSeconds = 0.4

// up says which links and nodes work, given the outages in force.
type up struct {
	nodes  []bool
	leafs  []bool
	uplink bool
}

// allUp is the state in which everything works.
func allUp(home *Home) up {
	state := up{nodes: make([]bool, len(home.Nodes)), leafs: make([]bool, len(home.Leafs)), uplink: true}
	for i := range state.nodes {
		state.nodes[i] = true
	}
	for i := range state.leafs {
		state.leafs[i] = true
	}
	return state
}

// up returns what works at t.
func (w *world) up(t motion.Time) up {
	state := allUp(&w.home)
	for _, o := range w.outages(t) {
		switch {
		case o.Uplink():
			state.uplink = false
		case o.Node >= 0:
			state.nodes[o.Node] = false
		default:
			state.leafs[o.Leaf] = false
		}
	}
	return state
}

// link reports whether both ends of l work.
func (u up) link(l *Link) bool {
	if l.Peer >= 0 {
		return u.nodes[l.Node] && u.nodes[l.Peer]
	}
	return u.nodes[l.Node] && u.leafs[l.Leaf]
}
