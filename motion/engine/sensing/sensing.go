// Package sensing decides whether and where there is motion: reports become samples, samples
// events and live motion.
package sensing

import (
	"sync/atomic"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
	"sensegate/motion/peer"
	"sensegate/motion/walk"
	"sensegate/store"
)

// Sensing decides from what is measured whether and where there is motion. Make it with New.
type Sensing struct {
	state     *state.State
	events    *events.Writer
	inventory *inventory.Inventory
	relays    func() map[string]Relay
	recorder  atomic.Pointer[Taker] // see Record; nil: nobody records

	deliveries deliveries
	newLinks   *peer.Buckets[motion.NodeID] // that take the place of others, by receiver
}

// New makes the Sensing, which gives each network that is read its pipeline. relays are the
// outside services that live motion can be delivered to, by name.
func New(s *state.State, w *events.Writer, i *inventory.Inventory, relays func() map[string]Relay) *Sensing {
	se := &Sensing{state: s, events: w, inventory: i, relays: relays, newLinks: peer.NewBuckets[motion.NodeID](linkRate, linkBurst)}
	s.AttachSense = se.takeUp
	return se
}

// Close waits for the deliveries to outside services; the live streams have ended before.
func (se *Sensing) Close() { se.deliveries.close() }

// network is a network with its pipeline. The network's mutex guards it.
type network struct {
	*state.Network
	engine *Sensing

	pipeline   pipeline
	live       liveState
	walk       *walk.Test // the newest walk test, nil: none since the start
	throughput throughputWatch
	traces     traces
	levels     levelRuns
	glances    map[string]*glance // by link name
	named      motion.Time        // when links of a guardian's figures were last made known
	detected   detectedAt
	trusted    motion.Time // newest sample in which an authenticated link was in motion
}

// takeUp begins to sense a network whose records have been read. What its links have
// learned, and the state of its events, come again by themselves: when they cannot be
// read, it begins without them.
func (se *Sensing) takeUp(tx *store.Tx, n *state.Network) {
	l, _, err := stateFrom[learned](tx.DetectorState(n.ID))
	if err != nil {
		se.state.Log.Warn("what links have learned cannot be read: they learn anew", "network", n.ID, "err", err)
	}
	s := &network{Network: n, engine: se, pipeline: pipeline{sensors: map[fuse.Link]*sensor{}, learned: l}}
	n.Source, n.Sense = l.Source, s
	s.pipeline.machine = fuse.NewEvents(s.eventConfig())
	s.pipeline.fuser = fuse.New(s.step)
	s.pipeline.fuser.Restore(l.Fusion)
	s.pipeline.fuser.SetPriority(n.Guardian.Leafblower.ZonePriorityList)
	machine, stored, err := stateFrom[fuse.State](tx.EventState(n.ID))
	if err != nil {
		se.state.Log.Warn("the state of events cannot be read: it begins anew", "network", n.ID, "err", err)
	}
	if stored {
		s.pipeline.machine.Restore(machine)
	}
}

// networkOf returns a network with its pipeline.
func networkOf(n *state.Network) *network { return n.Sense.(*network) }

// network is networkOf of a network's id. NotFound: no such network.
func (se *Sensing) network(id motion.NetworkID) (*network, error) {
	n, err := se.state.Network(id)
	if err != nil {
		return nil, err
	}
	return networkOf(n), nil
}

// Follow takes in changed records and configuration.
func (n *network) Follow(now motion.Time) {
	n.pipeline.reconfigure(n)
	n.chooseLinks(now)
	n.engine.configureEvents(n, now, "")
}

// ClockSet stamps anew what a clock has stamped that was set since.
func (n *network) ClockSet(anew func(motion.Time) motion.Time) {
	n.pipeline.machine.Restamp(anew)
	n.trusted = anew(n.trusted)
	n.pipeline.fuser.ClockSet()
	n.traces.begin()
	n.levels.begin()
	n.glances = nil
	if n.walk != nil {
		n.walk.Restamp(anew)
	}
}

// Detection returns when motion was last seen, 0 for never, and whether a detection is open.
func (n *network) Detection() (last motion.Time, open bool) {
	_, open = n.pipeline.machine.Open()
	return n.pipeline.machine.LastMotion(), open
}

// AuthenticatedMotion returns when a link that is not unauthenticated was last in motion.
func (n *network) AuthenticatedMotion() motion.Time { return n.trusted }

// Calibrating returns how long a link still learns its quiet, and whether it does.
func (n *network) Calibrating(link string) (left motion.Seconds, running bool) {
	s := n.sensorsByName()[link]
	if s == nil {
		return 0, false
	}
	return s.calibrating()
}

// calibrating is Calibrating of one link.
func (s *sensor) calibrating() (left motion.Seconds, running bool) {
	for _, d := range s.detectors() {
		if c := d.Calibration(); c.Running {
			left, running = max(left, c.Left), true
		}
	}
	return left, running
}
