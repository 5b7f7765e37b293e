package sim

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// peerPatience is how long connect waits for the extenders once they are switched on.
const peerPatience = 5 * time.Second

// fleet is the boxes of one home. connect, power, tell and stop belong to one goroutine.
type fleet struct {
	home     *Home
	settings *settings
	tally    tally
	boxes    []*box
	radars   []*agent // by node
	guardian *agent   // nil without one
	log      *slog.Logger
	present  func() up           // the state without outages
	refused  func(i int) Refusal // why node i is
	told     []bool              // the leafs that were there when tell was called last

	network atomic.Uint32
	adopted chan struct{} // closed when the master is adopted
	once    sync.Once
	signal  chan struct{} // an agent connected; holds at most one
}

// newFleet makes the boxes of a home and their agents.
func newFleet(home *Home, gate *gatekeeper, guarded bool, clock func() time.Time, log *slog.Logger) *fleet {
	f := &fleet{home: home, settings: newSettings(), log: log, adopted: make(chan struct{}), signal: make(chan struct{}, 1)}
	f.present, f.refused = func() up { return allUp(home) }, func(int) Refusal { return NotRefused }
	links := home.Links()
	for i, node := range home.Nodes {
		radar := newAgent(motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}, &f.tally, log)
		f.radars = append(f.radars, radar)
		b := &box{
			index: i, home: home, gate: gate, settings: f.settings, radar: radar, log: log,
			restarts: make(chan restart, 1), news: make(chan struct{}, 1), online: f.wake,
			adopted: func(c *wire.LocalConfig) { f.noteAccess(i, c) },
			record: func() motion.Radar {
				now := motion.TimeOf(clock())
				return radarRecord(home, i, links, f.present(), now, now)
			},
		}
		if i == 0 && guarded {
			f.guardian = newAgent(motion.DeviceKey{Kind: motion.Guardian, ID: home.GuardianID}, &f.tally, log)
			b.guardian = f.guardian
		}
		f.boxes = append(f.boxes, b)
	}
	return f
}

// noteAccess stores the network of the gatekeeper's answer to box i.
func (f *fleet) noteAccess(i int, c *wire.LocalConfig) {
	f.network.Store(uint32(c.Radar.NetworkID))
	if i == 0 {
		f.once.Do(func() { close(f.adopted) })
	}
}

// wake makes connect check the connections again.
func (f *fleet) wake() {
	select {
	case f.signal <- struct{}{}:
	default:
	}
}

// connect starts the master, then the extenders that have power, and reports whether the
// home connected before ctx ended. It waits for adoption without a limit.
func (f *fleet) connect(ctx context.Context) bool { return f.connectWithin(ctx, ctx) }

// connectWithin is connect for boxes that run until the end of ctx; it gives up
// when waiting ends.
func (f *fleet) connectWithin(ctx, waiting context.Context) bool {
	f.boxes[0].switchOn(ctx, NotRefused)
	select {
	case <-f.adopted:
	case <-waiting.Done():
		return false
	}
	f.power(ctx, f.present())
	patience := time.NewTimer(peerPatience)
	defer patience.Stop()
	for late := false; ; {
		all := f.boxes[0].connected()
		for _, b := range f.boxes[1:] {
			all = all && (late || !b.running() || b.refusal != NotRefused || b.connected())
		}
		if all {
			return true
		}
		select {
		case <-f.signal:
		case <-patience.C:
			late = true
		case <-waiting.Done():
			return false
		}
	}
}

// power switches the boxes on and off according to state, and restarts those that are refused
// for another reason than before.
func (f *fleet) power(ctx context.Context, state up) {
	for i, b := range f.boxes {
		on, refused := state.nodes[i] && state.uplink, f.refused(i)
		if b.running() && b.refusal != refused {
			f.log.Info("set up anew", "node", b.node().Name)
			b.switchOff()
		}
		switch {
		case on && !b.running():
			f.log.Info("power comes", "node", b.node().Name)
			b.switchOn(ctx, refused)
		case !on && b.running():
			f.log.Info("power fails", "node", b.node().Name)
			b.switchOff()
		}
	}
}

// tell makes the boxes to which leafs have come since the last call post their records again.
func (f *fleet) tell() {
	leafs := f.present().leafs
	for i, leaf := range f.home.Leafs {
		if f.told == nil || !leafs[i] || f.told[i] {
			continue
		}
		select {
		case f.boxes[leaf.Node].news <- struct{}{}:
		default: // it will post anyway
		}
	}
	f.told = leafs
}

// stop switches all boxes off and waits for them (see switchOff).
func (f *fleet) stop() {
	var boxes sync.WaitGroup
	for _, b := range f.boxes {
		boxes.Go(b.switchOff)
	}
	boxes.Wait()
}
