package sim

import (
	"math"
	"math/cmplx"
	"slices"
	"sort"
	"time"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// world computes what happens in a home at a time, from the seed, the home, the
// scene and the unplugged nodes alone. It caches the last days and is not safe for
// concurrent use.
type world struct {
	seed  uint64
	home  Home
	plan  *channel.Plan
	links []Link
	scene Scene
	near  []map[string]float64 // by link and location; nil until needed
	days  []day                // at most keptDays

	staged int                       // walks of the scene; the others are of a visit
	hinder func(*up)                 // switches off what is, besides the outages
	place  func() *scenario.Scenario // with the devices where they stand
	steady bool                      // without the outages of days
}

// day is what happens on one local day.
type day struct {
	*scenario.Day
	outages []Outage
}

const keptDays = 3

func newWorld(seed uint64, home Home, scene Scene) *world {
	return &world{
		seed: seed, home: home, plan: home.Place.Plan(), links: home.Links(), scene: scene, staged: len(scene.Walks),
		hinder: func(*up) {}, place: func() *scenario.Scenario { return home.Place },
	}
}

// radio returns the channel configuration of link i with the devices where they stand.
func (w *world) radio(i int) channel.Config {
	place := w.place()
	return place.Radio(w.plan, place.Links()[i], w.seed)
}

// leave ends a visit that is under way.
func (w *world) leave() { w.scene.Walks = w.scene.Walks[:w.staged] }

// visit adds walks, whose times count from t, unless those of the visit before go on.
func (w *world) visit(t motion.Time, walks []Walk) {
	for _, walk := range w.scene.Walks[w.staged:] {
		if walk.To > t {
			return
		}
	}
	w.scene.Walks = slices.Clone(w.scene.Walks[:w.staged])
	for _, walk := range walks {
		walk.From, walk.To = t.Add(float64(walk.From)), t.Add(float64(walk.To))
		w.scene.Walks = append(w.scene.Walks, walk)
	}
}

// dayOf returns the local day of t.
func (w *world) dayOf(t motion.Time) day {
	for i := len(w.days) - 1; i >= 0; i-- {
		if w.days[i].Begin <= t && t < w.days[i].End {
			return w.days[i]
		}
	}
	local := t.Std().In(w.home.zone())
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, local.Location())
	made := day{Day: w.home.Place.Day(w.seed, midnight)}
	if !w.steady {
		made.outages = outagesOfDay(w.seed, w.home, midnight)
	}
	if len(w.days) == keptDays {
		w.days = w.days[1:]
	}
	w.days = append(w.days, made)
	return made
}

// walks appends the walks that overlap [from, to), at most a day, to dst.
func (w *world) walks(dst []Walk, from, to motion.Time) []Walk {
	today := w.dayOf(from)
	dst = appendTouching(dst, today.Walks, from, to)
	if from.Add(-scenario.LongestWalk) < today.Begin {
		dst = appendTouching(dst, w.dayOf(today.Begin.Add(-1)).Walks, from, to)
	}
	if to > today.End {
		dst = appendTouching(dst, w.dayOf(today.End).Walks, from, to)
	}
	for _, walk := range w.scene.Walks {
		if walk.From < to && walk.To > from {
			dst = append(dst, walk)
		}
	}
	return dst
}

// appendTouching appends those of the ordered walks that overlap [from, to).
func appendTouching(dst, walks []Walk, from, to motion.Time) []Walk {
	first := sort.Search(len(walks), func(i int) bool { return walks[i].From > from.Add(-scenario.LongestWalk) })
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

// bodies returns the bodies and open doors of the home in [from, to), at most a day.
func (w *world) bodies(from, to motion.Time) *channel.Scene {
	today := w.dayOf(from)
	scene := today.Scene
	if to > today.End {
		next := w.dayOf(today.End).Scene
		scene.Bodies = slices.Concat(scene.Bodies, next.Bodies)
		scene.Open = slices.Clone(scene.Open)
		for i := range scene.Open {
			scene.Open[i] = slices.Concat(scene.Open[i], next.Open[i])
		}
	}
	scene.Bodies = slices.Clip(scene.Bodies)
	for i, walk := range w.scene.Walks {
		if walk.To <= from || walk.From >= to {
			continue
		}
		if body, known := w.home.Place.Walker(walk, chance.Mix(w.seed, uint64(i), 7)); known {
			scene.Bodies = append(scene.Bodies, body)
		}
	}
	return &scene
}

// level returns how much the walks disturb link i at t, 0..1. It rises and falls
// within rampSeconds of a walk's ends.
func (w *world) level(i int, walks []Walk, t motion.Time) float64 {
	highest := 0.0
	for k := range walks {
		walk := &walks[k]
		if t <= walk.From || t >= walk.To {
			continue
		}
		near := w.nearness(i)[walk.Location] * walk.Vigour
		ramp := math.Min(1, math.Min(t.Since(walk.From), walk.To.Since(t))/rampSeconds)
		highest = math.Max(highest, near*ramp*ramp*(3-2*ramp))
	}
	return highest
}

// rampSeconds is the time to start or stop walking, in seconds.
const rampSeconds = 0.4

// up says which nodes and leafs work, and whether the uplink does.
type up struct {
	nodes  []bool
	leafs  []bool
	deaf   []bool // nodes that work, but send and hear no frames
	uplink bool
}

// allUp is the state in which everything works.
func allUp(home *Home) up {
	n := len(home.Nodes)
	state := up{nodes: make([]bool, n), leafs: make([]bool, len(home.Leafs)), deaf: make([]bool, n), uplink: true}
	for i := range state.nodes {
		state.nodes[i] = true
	}
	for i := range state.leafs {
		state.leafs[i] = true
	}
	return state
}

// up returns the state at t.
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
	w.hinder(&state)
	return state
}

// link reports whether both ends of l work.
func (u up) link(l *Link) bool {
	if l.Peer >= 0 {
		return u.nodes[l.Node] && u.nodes[l.Peer]
	}
	return u.nodes[l.Node] && u.leafs[l.Leaf]
}

// sounds reports whether frames of l come: both ends work and neither is deaf.
func (u up) sounds(l *Link) bool {
	return u.link(l) && !u.deaf[l.Node] && (l.Peer < 0 || !u.deaf[l.Peer])
}

const (
	nearSpots = 5   // sampled places per room
	nearFaint = 0.3 // of the strongest room's disturbance: weaker ones count as 0
)

// nearness returns by location how strongly a person there disturbs link i
// according to the channel model: 1 in the room with the strongest disturbance, 0
// where it is weak.
func (w *world) nearness(i int) map[string]float64 {
	if w.near == nil {
		w.near = make([]map[string]float64, len(w.links))
	}
	if w.near[i] == nil {
		w.near[i] = disturbances(channel.NewLink(w.radio(i)), w)
	}
	return w.near[i]
}

// disturbances returns by room how much a person there changes the channel of a
// link, 0..1, scaled as nearness says.
func disturbances(link *channel.Link, w *world) map[string]float64 {
	usual := slices.Clone(link.Response(0, &channel.Scene{}))
	near, most := map[string]float64{}, 0.0
	for r := range w.home.Place.Rooms {
		room := &w.home.Place.Rooms[r]
		change := 0.0
		for spot := range uint64(nearSpots) {
			body := channel.Body{Track: channel.Stay(room.Area().Spot(w.seed, spot, 51))}
			for k, h := range link.Response(0, &channel.Scene{Bodies: []channel.Body{body}}) {
				change += cmplx.Abs(h - usual[k])
			}
		}
		near[room.Name] = change
		most = max(most, change)
	}
	for name, change := range near {
		near[name] = max(0, (change/most-nearFaint)/(1-nearFaint))
	}
	return near
}
