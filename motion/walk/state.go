package walk

import (
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// State is what is known of a test.
type State struct {
	ID            string
	Started, Ends motion.Time
	Running       bool
	Room          string   // that is being walked, or waits for it; "" for none
	Moving        []string // rooms that have to become still before the walk begins
	Rooms         []Room   // in the order in which they were walked first
}

// Room is what is known of a room that was walked.
type Room struct {
	Name      string
	State     string
	After     *motion.Seconds // of a room that is seen, since the walk began
	Why       string          // of one that is unseen: NoLinks and the others
	Elsewhere string          // of one that is unseen: the room that moved most instead, "" for none
	Links     []LinkState     // that serve it, by key

	asked, begun motion.Time
}

// LinkState is what is known of a link that serves a room. Value, Peak and Threshold are as those of
// sensing.Level: percent of coherence, or e-folds of power above the quiet.
type LinkState struct {
	Link             fuse.Link
	Value, Threshold float64 // of its newest decision with data
	Peak             float64 // of the walk
	ByPower          bool
	Crossed          bool // it has started motion during the walk
}

// Running reports whether readings count.
func (t *Test) Running() bool { return t.state.Running }

// State returns what is known at now.
func (t *Test) State(now motion.Time) State {
	t.Advance(now)
	s := t.state
	s.Moving, s.Rooms = slices.Clone(s.Moving), slices.Clone(s.Rooms)
	for i := range s.Rooms {
		if r := &s.Rooms[i]; r.Name == s.Room {
			r.Links = t.linksOf(r.Name)
		}
	}
	return s
}

// Live is how a link is now.
type Live struct {
	LinkState
	Room  string
	Moves bool
}

// Live returns how the links with a room are at now, by key; nil when the test is over.
func (t *Test) Live(now motion.Time) (list []Live) {
	if t.Advance(now); !t.state.Running {
		return nil
	}
	for _, l := range t.links {
		if l.room != "" && now.Since(l.heard) < fresh {
			list = append(list, Live{l.LinkState, l.room, l.moves})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Link.Compare(list[j].Link) < 0 })
	return list
}
