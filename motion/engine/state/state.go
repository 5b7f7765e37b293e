// Package state is what the engine keeps in memory: the networks as they are now, the
// sessions of devices, the clock, what was refused, and who watches live. The rooms of the
// engine share it; none of them knows another one through it.
//
// Lock order, first to last: the mutex of management; Flushing, that of OwnClock or a session's
// Reading; the one of reloading; then either a network's Mu or the mutex of State, never both.
// A network's Mu guards the fields that follow it in Network, the mutex of State the lists of
// networks and sessions; no other one is taken while that is held. These two are never held
// across a commit or a call to a device; those before them may be.
package state

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
	"sensegate/store"
)

// State is the live state of the appliance. Make it with New.
type State struct {
	DB            *store.DB
	Log           *slog.Logger
	Outbound      Outbound         // nil until Introduce of the engine
	Wall          func() time.Time // the wall clock, as it is set
	FlushInterval time.Duration    // between two writes of samples

	LiveMotion feed.Hub[motion.NetworkID, Message]
	LiveEvents feed.Hub[motion.NetworkID, Message]
	Moments    feed.Hub[motion.NetworkID, *Moment]
	Changes    feed.Hub[struct{}, motion.NetworkID] // networks whose records have changed, or are there no more

	Series    *store.Samples
	Contained containment
	Ledger    ledger
	OwnClock  OwnClock
	Started   motion.Time

	// AttachSense sets the Sense of a network that was just read.
	AttachSense func(*store.Tx, *Network)

	// Flushing lets one flush run at a time, and nothing clear what it has copied.
	Flushing sync.Mutex

	reloading sync.Mutex // one reload at a time, so that the newest records stay

	mu       sync.Mutex
	networks map[motion.NetworkID]*Network
	away     map[motion.NetworkID]store.Handover // networks that go, or have gone, to another box: they are not among networks
	departed map[string]string                   // where devices and guardians go whose network was deleted after it had gone
	closing  map[motion.NetworkID]bool           // networks that are about to: no device of theirs is let in
	sessions map[motion.DeviceKey]*Session
	figures  map[string]motion.NodeFigures // of nodes of other makers, by deviceId
}

// New opens the samples and looks at the clock before anything is stamped. built is when the
// program was built: the wall clock has not been set while it is before that; zero: it always
// is. Networks are read by Load.
func New(ctx context.Context, db *store.DB, log *slog.Logger, wall func() time.Time, flush time.Duration, built motion.Time) (*State, error) {
	st := &State{
		DB: db, Log: log, Wall: wall, FlushInterval: flush, Contained: containment{log: log}, OwnClock: OwnClock{Built: built},
		networks: map[motion.NetworkID]*Network{}, away: map[motion.NetworkID]store.Handover{}, closing: map[motion.NetworkID]bool{}, sessions: map[motion.DeviceKey]*Session{}, figures: map[string]motion.NodeFigures{},
	}
	var err error
	if st.Series, err = store.OpenSamples(ctx, db); st.Series == nil {
		return nil, err
	} else if err != nil {
		st.Log.Warn("part of the last samples is lost", "err", err)
	}
	if err := st.openClock(ctx); err != nil {
		return nil, fmt.Errorf("look at the clock: %w", err)
	}
	st.Started = st.Now()
	return st, nil
}

// Load reads every network; AttachSense is set by then.
func (st *State) Load(tx *store.Tx) error {
	records, err := tx.Networks()
	if err != nil {
		return err
	}
	gone, err := tx.Handovers()
	if err != nil {
		return err
	}
	departed, err := tx.DepartedNetworks()
	if err != nil {
		return err
	}
	st.SetDeparted(departed)
	for _, h := range gone {
		st.away[h.Network] = h
	}
	for _, record := range records {
		if _, away := st.away[record.ID]; away {
			continue
		}
		n, err := st.loadNetwork(tx, record)
		if err != nil {
			return err
		}
		n.shiftTimes(st.OwnClock.RestampedLate)
		st.networks[record.ID] = n
	}
	return nil
}

// Now returns the wall clock. While that is not set, it follows on former runs in which
// it was not either.
func (st *State) Now() motion.Time {
	now := motion.TimeOf(st.Wall())
	if st.OwnClock.IsUnset(now) {
		return now.Add(st.OwnClock.ahead)
	}
	return now
}

// Network returns the state of a network.
func (st *State) Network(id motion.NetworkID) (*Network, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := st.networks[id]
	h, away := st.away[id]
	switch {
	case away:
		return nil, h.Away()
	case n == nil:
		return nil, fault.New(fault.NotFound, "network %d is not known", id)
	}
	return n, nil
}

// All returns every network's state.
func (st *State) All() []*Network {
	st.mu.Lock()
	defer st.mu.Unlock()
	networks := make([]*Network, 0, len(st.networks))
	for _, n := range st.networks {
		networks = append(networks, n)
	}
	return networks
}

// Reload brings a network's records in memory up to date after a commit.
func (st *State) Reload(ctx context.Context, id motion.NetworkID) error {
	st.reloading.Lock()
	defer st.reloading.Unlock()
	err := st.DB.View(ctx, func(tx *store.Tx) error {
		record, err := tx.Network(id)
		if err != nil {
			return err
		}
		st.mu.Lock()
		n := st.networks[id]
		st.mu.Unlock()
		if _, away, err := tx.Handover(id); err != nil || away {
			return err
		}
		if n == nil {
			if n, err = st.loadNetwork(tx, record); err != nil {
				return err
			}
			st.mu.Lock()
			defer st.mu.Unlock()
			if st.networks[id] == nil {
				st.networks[id] = n
			}
			return nil
		}
		n.Mu.Lock()
		defer n.Mu.Unlock()
		if err := n.readRecords(tx, record); err != nil {
			return err
		}
		n.Sense.Follow(st.Now())
		return nil
	})
	if err == nil {
		st.Changes.Publish(struct{}{}, id)
	}
	return err
}

// Known returns NotFound when there is no such network.
func (st *State) Known(id motion.NetworkID) error {
	_, err := st.Network(id)
	return err
}

// View calls fn in a reading transaction when there is such a network, else returns NotFound.
func (st *State) View(ctx context.Context, id motion.NetworkID, fn func(*store.Tx) error) error {
	if err := st.Known(id); err != nil {
		return err
	}
	return st.DB.View(ctx, fn)
}

// Update is View in a transaction that may write.
func (st *State) Update(ctx context.Context, id motion.NetworkID, fn func(*store.Tx) error) error {
	if err := st.Known(id); err != nil {
		return err
	}
	return st.DB.Update(ctx, fn)
}

// Outbound is how the engine reaches devices; the broker implements it.
type Outbound interface {
	// Send publishes a command to a device; a retained one also waits for its
	// next connection.
	Send(device motion.DeviceKey, command string, payload []byte, retain bool) error
	// Disconnect ends the device's session, if it has one.
	Disconnect(device motion.DeviceKey, reason string)
	// DisconnectUser ends the sessions of an integration user.
	DisconnectUser(name, reason string)
}

// ForgetNetwork forgets a network that was deleted, and ends its streams.
func (st *State) ForgetNetwork(id motion.NetworkID) {
	st.reloading.Lock() // a reload that has read it before does not put it back
	st.mu.Lock()
	delete(st.networks, id)
	st.mu.Unlock()
	st.reloading.Unlock()
	st.Series.Forget(id)
	st.LiveMotion.End(id)
	st.LiveEvents.End(id)
	st.Moments.End(id)
	st.Changes.Publish(struct{}{}, id)
}
