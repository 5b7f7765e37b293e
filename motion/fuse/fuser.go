package fuse

import (
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// Times of the alignment, in ticks of detect.TickInterval.
const (
	waitTicks = 4   // 1.0 s: a tick time is fused without links that are later than this
	liveTicks = 8   // 2.0 s: fusion waits for a link that was heard this recently
	holdTicks = 8   // 2.0 s: joint motion lasts this long after its last confirmation
	gapTicks  = 240 // 60 s: a longer gap is skipped, not filled with "no data"
	lostTicks = 40  // this many late ticks and none in time: the clock was set back
)

// Fuser fuses the ticks of one network's links. Create it with New.
type Fuser struct {
	emit     func(*Step)
	links    []*link // ordered by key
	byKey    map[Link]*link
	zones    []zone
	priority []string

	begun   bool  // a tick has come
	started bool  // a tick was fused
	head    int64 // newest fused tick time
	newest  int64 // newest tick time received
	settled int64 // until newest reaches this, some links may be unknown yet
	now     int64 // of the owner's clock; see Advance
	arrived int64 // value of now when the last tick arrived
	clock   int64 // tick times up to here are fused even without all links
	lost    int   // late ticks since the last one in time

	joint   joint
	moved   lanes // in motion in the current sample
	reached tally // links that take part and reached their thresholds in it
	proof   proof
	step    Step
	sample  Sample
}

// zone is a set of links, and their counts at the tick being fused.
type zone struct {
	name   string
	links  int   // links that belong to it
	far    int   // links of others whose other end is in it
	moving tally // links in motion at the normal thresholds

	strength  float64     // of its motion, over some samples; see locate
	ends      Ends        // of the sample being located
	strongest *LinkSample // of its links in it, nil without data
}

// Step is the fused result of one tick time. It and everything it points to are valid only
// during the call of emit.
type Step struct {
	Time   motion.Time
	Valid  bool    // a link had data; otherwise motion is unknown, not absent
	Motion bool    // the decision of lm1.md 4 no. 3
	Sample *Sample // the 500 ms sample that this tick completes; nil on every other tick
	Noisy  []NoiseChange
}

// New returns a Fuser that calls emit for each fused tick, in time order, from within Add and
// Advance.
func New(emit func(*Step)) *Fuser {
	return &Fuser{emit: emit, byKey: map[Link]*link{}, now: never, arrived: never}
}

// SetZone puts a link in a zone, the location of the end that serves a room: mostly the leaf. "" is a zone
// of its own. far is the location of the other end, "" for unknown. SetZone creates an unknown link.
func (f *Fuser) SetZone(key Link, name, far string) {
	if name == "" {
		name = key.ownZone()
	}
	l := f.link(key)
	if f.zones[l.zone].name != name {
		f.zones[l.zone].links--
		l.zone = f.join(name)
		f.zones[l.zone].links++
		l.sample.Zone = name
	}
	if l.far >= 0 && f.zones[l.far].name == far {
		return
	}
	l.leaveFar(f)
	if far != "" {
		l.far = f.join(far)
		f.zones[l.far].far++
	}
}

// leaveFar takes the link's other end out of its zone.
func (l *link) leaveFar(f *Fuser) {
	if l.far >= 0 {
		f.zones[l.far].far--
		l.far = -1
	}
}

// SetPriority sets the zone priority list (interfaces.md 4.2 no. 6), which decides between zones
// of equal share.
func (f *Fuser) SetPriority(zones []string) { f.priority = slices.Clone(zones) }

// Remove removes a link and what it has learned.
func (f *Fuser) Remove(key Link) {
	l, ok := f.byKey[key]
	if !ok {
		return
	}
	f.zones[l.zone].links--
	l.leaveFar(f)
	delete(f.byKey, key)
	f.links = slices.DeleteFunc(f.links, func(other *link) bool { return other == l })
}

// LateTicks returns how many ticks of a link came after their time had been fused and
// were dropped. A link that is always late has a wrong clock.
func (f *Fuser) LateTicks(key Link) int64 {
	if l, ok := f.byKey[key]; ok {
		return l.late
	}
	return 0
}

// Add takes the next tick of a link and emits the ticks that it completes. All links must use the
// same clock; the time is rounded to the grid of detect.TickInterval. An unknown link gets a zone
// of its own.
func (f *Fuser) Add(key Link, t detect.Tick) {
	index, ok := tickIndex(t.Time)
	if !ok {
		return
	}
	l := f.link(key)
	f.arrived = f.now
	if !f.begun {
		f.restart(index)
	}
	if index <= f.head && (!t.Valid || f.dropsLate(l, index)) {
		return
	}
	f.lost = 0
	if index-f.head > gapTicks+waitTicks {
		f.skip(index - waitTicks - 1)
	}
	f.newest = max(f.newest, index)
	f.drain() // before a slot of pending is reused
	if index > f.head {
		l.store(index, &t)
	}
	l.heard = max(l.heard, index)
	f.drain()
}

// Advance advances time while links are silent; call it about once a second. After 3 s without a
// tick (2 s for which a link is live, 1 s for which fusion waits), tick times are fused as
// without data. Only differences between calls count, so t may be on another clock than the data.
func (f *Fuser) Advance(t motion.Time) {
	index, ok := tickIndex(t)
	if !ok {
		return
	}
	f.now = index
	if f.arrived == never {
		f.arrived = index
	}
	if !f.begun {
		return
	}
	f.clock = f.newest + f.now - f.arrived - liveTicks - waitTicks
	if f.clock-f.head > gapTicks {
		f.skip(f.clock - 1)
	}
	f.drain()
}

// ClockSet tells the Fuser that the clock of Advance was set, so that the time since the last
// call is unknown.
func (f *Fuser) ClockSet() { f.now, f.arrived = never, never }

// dropsLate counts a tick whose time has been fused and reports whether it is dropped: it is
// not when it shows that the clock was set back, and fusion begins again there.
func (f *Fuser) dropsLate(l *link, index int64) bool {
	l.late++
	f.lost++
	if f.lost >= lostTicks {
		f.restart(index)
		return false
	}
	if index > f.newest-waitTicks { // in time if fusion had waited
		l.heard = max(l.heard, index)
	}
	return true
}

// restart starts at index with no pending ticks.
func (f *Fuser) restart(index int64) {
	f.begun, f.started, f.lost = true, false, 0
	f.newest, f.head, f.settled, f.clock = index, index-waitTicks, index+waitTicks, never
	f.joint, f.moved, f.reached, f.proof = joint{}, 0, tally{}, proof{}
	for _, l := range f.links {
		l.forget()
	}
}

// skip fuses all pending ticks and continues after head, without the tick times between.
func (f *Fuser) skip(head int64) {
	for f.head < f.newest {
		f.fuse(f.head + 1)
	}
	f.head = head
}

// drain fuses the tick times that are ready.
func (f *Fuser) drain() {
	for f.ready(f.head + 1) {
		f.fuse(f.head + 1)
	}
}

// ready reports whether tick time k can be fused: every live link has delivered it, the network's
// newest data is a second newer, or Advance passed it.
func (f *Fuser) ready(k int64) bool {
	if f.newest-k >= waitTicks || f.clock >= k {
		return true
	}
	if f.newest < f.settled || f.newest < k {
		return false
	}
	for _, l := range f.links {
		if l.heard >= f.newest-liveTicks && l.heard < k {
			return false
		}
	}
	return true
}

// link returns the link of a key; an unknown one is created in a zone of its own.
func (f *Fuser) link(key Link) *link {
	if l, ok := f.byKey[key]; ok {
		return l
	}
	l := &link{key: key, zone: f.join(key.ownZone()), far: -1}
	f.zones[l.zone].links++
	l.sample.Link, l.sample.Zone = key, key.ownZone()
	l.forget()
	f.byKey[key] = l
	at, _ := slices.BinarySearchFunc(f.links, key, func(l *link, key Link) int { return l.key.Compare(key) })
	f.links = slices.Insert(f.links, at, l)
	return l
}

// join returns the index of a zone. It reuses one without links.
func (f *Fuser) join(name string) int {
	at := slices.IndexFunc(f.zones, func(z zone) bool { return z.name == name && z.links+z.far > 0 })
	if at >= 0 {
		return at
	}
	at = slices.IndexFunc(f.zones, func(z zone) bool { return z.links+z.far == 0 })
	if at < 0 {
		at = len(f.zones)
		f.zones = append(f.zones, zone{})
	}
	f.zones[at] = zone{name: name}
	return at
}

// tickIndex returns a time in tick intervals since the epoch; false for an invalid time.
func tickIndex(t motion.Time) (int64, bool) {
	if !(t > 0 && t < 1e11) {
		return 0, false
	}
	return int64(math.Round(float64(t) / detect.TickInterval)), true
}

// tickTime is the inverse of tickIndex.
func tickTime(index int64) motion.Time { return motion.Time(float64(index) * detect.TickInterval) }
