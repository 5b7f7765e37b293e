// Package walk judges a walk test: whether motion in a room is seen by the links that serve it,
// and told as motion in that room. A person walks in one room after the other.
//
// Links do not stop at walls: in the simulated homes a walk in one room sets most links of the home
// in motion. So a room counts as seen only if the home was still before the walk, a link of the room
// has started motion by its own thresholds since, and no other room moves with more than twice its power.
// What somebody else begins during a walk is told from it by that last rule alone, which is why
// everybody else should keep still (lm1.md 8).
//
// A Test is not safe for concurrent use. It must not do I/O or read the clock.
package walk

import (
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// Times of a walk test.
const (
	Longest motion.Seconds = 600 // a test ends by itself

	stillFor    motion.Seconds = 2   // no link has moved for so long: the home is still
	patience    motion.Seconds = 20  // after so long it is enough when the links of the room are
	longestWalk motion.Seconds = 15  // a room that is not seen by then is unseen; later it may be seen all the same
	leastWalk   motion.Seconds = 3   // a shorter walk says nothing
	confirmed   motion.Seconds = 0.5 // by then the other links have told of the same moment too
	fresh       motion.Seconds = 5   // a link that is silent for longer senses nothing
)

// lead is how much of the motion of the room that moves most a room needs to be seen, in amplitude: with half
// of its power, where motion is told is not far off.
const lead = 0.7

// maxRooms is how many rooms a test has at most.
const maxRooms = 64

// The states of a room.
const (
	Waiting = "waiting" // not walked yet, or until the home is still
	Walking = "walking"
	Seen    = "seen"
	Unseen  = "unseen"
)

// Why a room is unseen.
const (
	NoLinks   = "no_links"  // no link serves it: a link serves the room that its source is in
	Blind     = "blind"     // no link that serves it senses
	Elsewhere = "elsewhere" // what moved is told as motion in another room
	Below     = "below"     // nothing has moved enough anywhere
)

// Reading is a decision of a link.
type Reading struct {
	Link     fuse.Link
	Room     string // that the link serves
	Far      string // that its other end is in, "" for unknown
	Time     motion.Time
	Valid    bool    // it had data
	Moves    bool    // it is in motion by its own thresholds
	Strength float64 // of the motion, 0 or more, comparable among links

	Value, Threshold float64 // see State
	ByPower          bool
}

// Test is a walk test of a home.
type Test struct {
	state State
	links map[fuse.Link]*link
}

// link is what is known of a link.
type link struct {
	LinkState
	room     string
	far      string      // room of the other end
	heard    motion.Time // of its newest decision with data
	moved    motion.Time // of the newest one in motion
	began    motion.Time // its present or last motion
	moves    bool
	strength float64 // summed since the walk began
}

// New begins a test at now. id names it.
func New(id string, now motion.Time) *Test {
	return &Test{state: State{ID: id, Started: now, Ends: now.Add(Longest), Running: true}, links: map[fuse.Link]*link{}}
}

// Know tells of a link before its first reading: the rooms of its ends, see Reading, and when it was last in
// motion, 0 for never.
func (t *Test) Know(key fuse.Link, room, far string, moved motion.Time) {
	l := t.link(key)
	l.room, l.far, l.moved = room, far, moved
}

// link returns the state of a link.
func (t *Test) link(key fuse.Link) *link {
	l := t.links[key]
	if l == nil {
		l = &link{LinkState: LinkState{Link: key}}
		t.links[key] = l
	}
	return l
}

// Next goes on to a room at now; one that was walked before is walked anew. ok is false when the test
// is over or has too many rooms.
func (t *Test) Next(room string, now motion.Time) (ok bool) {
	t.Advance(now)
	known := slices.ContainsFunc(t.state.Rooms, func(r Room) bool { return r.Name == room })
	if !t.state.Running || !known && len(t.state.Rooms) >= maxRooms {
		return false
	}
	t.finish(now)
	if !known {
		t.state.Rooms = append(t.state.Rooms, Room{Name: room})
	}
	t.state.Room = room
	*t.current() = Room{Name: room, State: Waiting, asked: now}
	t.Advance(now)
	return true
}

// current returns the room that is being walked, nil for none.
func (t *Test) current() *Room {
	i := slices.IndexFunc(t.state.Rooms, func(r Room) bool { return r.Name == t.state.Room })
	if i < 0 || t.state.Room == "" {
		return nil
	}
	return &t.state.Rooms[i]
}

// Take takes in a decision of a link.
func (t *Test) Take(r Reading) {
	if !t.state.Running {
		return
	}
	l := t.link(r.Link)
	l.room, l.far, l.moves = r.Room, r.Far, r.Valid && r.Moves
	if r.Valid {
		l.heard, l.Value, l.Threshold, l.ByPower = r.Time, r.Value, r.Threshold, r.ByPower
	}
	if l.moves && r.Time.Since(l.moved) > stillFor/2 {
		l.began = r.Time
	}
	if l.moves {
		l.moved = r.Time
	}
	room := t.current()
	if room == nil || room.begun.IsZero() || r.Time <= room.begun {
		return
	}
	if l.Peak = max(l.Peak, l.Value); l.moves {
		l.strength += r.Strength
		l.Crossed = l.Crossed || l.began > room.begun
	}
	t.judge(room, r.Time)
}

// judge looks whether the room is seen at a time.
func (t *Test) judge(room *Room, at motion.Time) {
	if room.State == Seen || t.none(room.Name, func(l *link) bool { return l.Crossed && l.moves && at.Since(l.began) >= confirmed }) {
		return
	}
	if own, _, most := t.strengths(room.Name); own >= lead*most {
		after := motion.Round(max(0, at.Since(room.begun)), 2)
		room.State, room.After, room.Why, room.Elsewhere = Seen, &after, "", ""
	}
}

// none reports whether no link of the room is as wanted.
func (t *Test) none(room string, wanted func(*link) bool) bool {
	for _, l := range t.links {
		if l.room == room && wanted(l) {
			return false
		}
	}
	return true
}

// strengths returns how much a room has moved since the walk began, and which other room that links serve has
// moved most, and how much: in the mean of the links that end there, as for the location of motion.
func (t *Test) strengths(room string) (own float64, other string, most float64) {
	ends := map[string]*fuse.Ends{}
	for _, l := range t.links {
		ends[l.room] = &fuse.Ends{}
	}
	for _, l := range t.links {
		ends[l.room].Add(l.strength, false)
		if far := ends[l.far]; far != nil {
			far.Add(l.strength, true)
		}
	}
	for name, of := range ends {
		mean := of.Mean()
		if name == room {
			own = mean
		} else if name != "" && (mean > most || mean == most && mean > 0 && name < other) {
			other, most = name, mean
		}
	}
	return own, other, most
}

// Advance moves the test on to now.
func (t *Test) Advance(now motion.Time) {
	if !t.state.Running {
		return
	}
	if now >= t.state.Ends || now < t.state.Started {
		t.End(now)
		return
	}
	room := t.current()
	switch {
	case room == nil:
	case room.State == Waiting:
		t.state.Moving = t.moving(now)
		calm := len(t.state.Moving) == 0
		if now.Since(room.asked) >= patience {
			calm = !slices.Contains(t.state.Moving, room.Name)
		}
		if calm {
			t.begin(room, now)
		}
	case room.State == Walking && now.Since(room.begun) >= longestWalk:
		t.miss(room, now)
	}
}

// moving returns the rooms that have moved lately, by name.
func (t *Test) moving(now motion.Time) (rooms []string) {
	for _, l := range t.links {
		if l.room != "" && now.Since(l.moved) < stillFor && !slices.Contains(rooms, l.room) {
			rooms = append(rooms, l.room)
		}
	}
	slices.Sort(rooms)
	return rooms
}

// begin begins the walk in a room.
func (t *Test) begin(room *Room, now motion.Time) {
	room.State, room.begun, t.state.Moving = Walking, now, nil
	for _, l := range t.links {
		l.Peak, l.Crossed, l.strength = 0, false, 0
	}
}

// miss notes that a room was not seen, and why.
func (t *Test) miss(room *Room, now motion.Time) {
	room.State = Unseen
	_, other, most := t.strengths(room.Name)
	sensed := func(l *link) bool {
		return !l.heard.IsZero() && l.heard.Since(room.begun) > -fresh && now.Since(l.heard) < longestWalk+fresh
	}
	switch {
	case t.none(room.Name, func(*link) bool { return true }):
		room.Why = NoLinks
	case t.none(room.Name, sensed):
		room.Why = Blind
	case most > 0:
		room.Why = Elsewhere
	default:
		room.Why = Below
	}
	if most > 0 {
		room.Elsewhere = other
	}
}

// finish leaves the present room. A walk that was too short says nothing.
func (t *Test) finish(now motion.Time) {
	room := t.current()
	if room == nil {
		return
	}
	switch {
	case room.State == Walking && now.Since(room.begun) >= leastWalk:
		t.miss(room, now)
	case room.State == Walking:
		room.State = Waiting
	}
	room.Links = t.linksOf(room.Name)
	t.state.Room, t.state.Moving = "", nil
}

// linksOf returns the links that serve a room, by key.
func (t *Test) linksOf(room string) (list []LinkState) {
	for _, l := range t.links {
		if l.room == room {
			list = append(list, l.LinkState)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Link.Compare(list[j].Link) < 0 })
	return list
}

// End ends the test.
func (t *Test) End(now motion.Time) {
	if t.state.Running {
		t.finish(now)
		t.state.Running, t.state.Ends = false, max(t.state.Started, min(now, t.state.Ends))
	}
}

// Restamp replaces each time by anew of it, after the clock was set.
func (t *Test) Restamp(anew func(motion.Time) motion.Time) {
	t.state.Started, t.state.Ends = anew(t.state.Started), anew(t.state.Ends)
	for i := range t.state.Rooms {
		r := &t.state.Rooms[i]
		r.asked, r.begun = anew(r.asked), anew(r.begun)
	}
	for _, l := range t.links {
		l.heard, l.moved, l.began = anew(l.heard), anew(l.moved), anew(l.began)
	}
}
