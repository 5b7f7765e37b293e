package sensing

import (
	"math"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/walk"
)

// WalkState is a walk test with the links that it is about.
type WalkState struct {
	walk.State
	Links map[fuse.Link]WalkLink
}

// WalkLink names a link and its ends.
type WalkLink struct {
	Name     string
	From, To LinkEnd
}

// errNoWalk is the fault of a test that there is not.
var errNoWalk = fault.New(fault.NotFound, "walk test: none runs; begin one")

// StartWalk begins a walk test of a network in a room. Conflict: one runs. NotFound: the network.
func (se *Sensing) StartWalk(id motion.NetworkID, room string) (WalkState, error) {
	n, err := se.network(id)
	if err != nil {
		return WalkState{}, err
	}
	now := se.state.Now()
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.walk != nil && n.walk.State(now).Running {
		return WalkState{}, &fault.Error{Kind: fault.Conflict, Code: "walk_test_runs", Message: "walk test: one runs already in this home; go on with it, or end it"}
	}
	n.walk = walk.New(strconv.FormatInt(now.Micros(), 36), now)
	for key, s := range n.pipeline.sensors {
		n.walk.Know(key, n.Zone(key), n.FarZone(key), s.lastMotion)
	}
	n.walk.Next(room, now)
	return n.walkState(now), nil
}

// NextWalk goes on with a running walk test to another room. NotFound: none runs. TooLarge: it has too
// many rooms.
func (se *Sensing) NextWalk(id motion.NetworkID, room string) (WalkState, error) {
	return se.withWalk(id, func(n *network, now motion.Time) error {
		if !n.walk.State(now).Running {
			return errNoWalk
		}
		if !n.walk.Next(room, now) {
			return fault.New(fault.TooLarge, "room: the walk test has too many rooms")
		}
		return nil
	})
}

// EndWalk ends a walk test; one that has ended stays so. NotFound: there was none since the start.
func (se *Sensing) EndWalk(id motion.NetworkID) (WalkState, error) {
	return se.withWalk(id, func(n *network, now motion.Time) error {
		n.walk.End(now)
		return nil
	})
}

// Walk returns the walk test that runs, or else the last one since the start. NotFound: there was none.
func (se *Sensing) Walk(id motion.NetworkID) (WalkState, error) {
	return se.withWalk(id, func(*network, motion.Time) error { return nil })
}

// withWalk does something to the walk test of a network and returns what is known of it then.
func (se *Sensing) withWalk(id motion.NetworkID, do func(*network, motion.Time) error) (WalkState, error) {
	n, err := se.network(id)
	if err != nil {
		return WalkState{}, err
	}
	now := se.state.Now()
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.walk == nil {
		return WalkState{}, errNoWalk
	}
	if err := do(n, now); err != nil {
		return WalkState{}, err
	}
	return n.walkState(now), nil
}

// walkState describes the walk test; n.Mu is held.
func (n *network) walkState(now motion.Time) WalkState {
	s := WalkState{State: n.walk.State(now), Links: map[fuse.Link]WalkLink{}}
	for _, room := range s.Rooms {
		for _, l := range room.Links {
			s.Links[l.Link] = n.walkLink(l.Link)
		}
	}
	return s
}

func (n *network) walkLink(key fuse.Link) WalkLink {
	return WalkLink{Name: n.NameOf(key), From: n.linkEnd(key.Src), To: n.linkEnd(key.Dst)}
}

// LiveLink is how a link is now, while a walk test runs.
type LiveLink struct {
	walk.Live
	WalkLink
}

// WalkLive returns how the links with a room are now, nil while no walk test runs: when links move tells
// who is at home.
func (se *Sensing) WalkLive(id motion.NetworkID) ([]LiveLink, error) {
	n, err := se.network(id)
	if err != nil {
		return nil, err
	}
	now := se.state.Now()
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.walk == nil {
		return nil, nil
	}
	var list []LiveLink
	for _, l := range n.walk.Live(now) {
		list = append(list, LiveLink{l, n.walkLink(l.Link)})
	}
	return list, nil
}

// walkTick tells the walk test of a decision of a link; n.Mu is held. The tick is copied, so that it
// stays on the stack of those who have no walk test.
func (n *network) walkTick(key fuse.Link, t detect.Tick) {
	r := walk.Reading{Link: key, Room: n.Zone(key), Far: n.FarZone(key), Time: t.Time, Valid: t.Valid, Moves: t.Normal.Motion}
	if t.Valid {
		level := levelOf(&t)
		r.Strength = math.Exp(fuse.Scattered(&t) / 2)
		r.Value, r.Threshold, r.ByPower = level.Value, level.Threshold, level.ByPower
	}
	n.walk.Take(r)
}

// walkSample tells the walk test of a guardian's sample, in which a link moves when its intensity is
// above 0; n.Mu is held.
func (n *network) walkSample(s *fuse.Sample) {
	for i := range s.Links {
		l := &s.Links[i]
		r := walk.Reading{Link: l.Link, Room: n.Zone(l.Link), Far: n.FarZone(l.Link), Time: s.Time, Valid: l.Intensity.Known()}
		if r.Valid {
			r.Moves, r.Strength = l.Intensity > 0, float64(l.Intensity)
			r.Value = 100 * r.Strength
		}
		if l.MSAD.Known() && l.MConf.Known() {
			r.Value, r.Threshold = float64(l.MSAD), float64(l.MConf)
		}
		n.walk.Take(r)
	}
}
