package house

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
	"sensegate/motion/home"
	"sensegate/motion/uplink/homeassistant"
	"sensegate/store"
)

// What a follower may be behind.
const (
	momentsBehind = 64
	eventsBehind  = 256
	changesBehind = 256
)

// remembered is how many of the newest events a network is remembered by.
const remembered = 64

// follower follows the networks of a House.
type follower struct {
	*House
	ctx     context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	watches map[motion.NetworkID]*watch
	told    func(homeassistant.Change) // nil: nobody
	turns   int                        // of those who were told
}

// Watch begins to watch the networks until ctx ends; wait waits until they are not any more.
func (h *House) Watch(ctx context.Context) (wait func()) {
	f := &h.follower
	f.ctx = ctx
	changes := h.Engine.State.Changes.Subscribe(struct{}{}, changesBehind)
	f.settle()
	f.running.Go(func() { f.run(changes) })
	return f.running.Wait
}

// Follow has tell called with what changes until ctx ends, or Follow is called again.
func (h *House) Follow(ctx context.Context, tell func(homeassistant.Change)) homeassistant.Follower {
	f := &h.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns++
	turn := f.turns
	f.told = tell
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.turns == turn {
			f.told = nil
		}
	})
	return f
}

// tell tells whoever follows.
func (f *follower) tell(c homeassistant.Change) {
	f.mu.Lock()
	told := f.told
	f.mu.Unlock()
	if told != nil {
		told(c)
	}
}

// Networks returns the networks that are followed, in order.
func (f *follower) Networks() []motion.NetworkID {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []motion.NetworkID
	for id := range f.watches {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Box returns the appliance.
func (f *follower) Box(ctx context.Context) (homeassistant.Box, error) { return f.House.Box(ctx) }

// Intensity returns the newest intensity of a network.
func (f *follower) Intensity(id motion.NetworkID) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watches[id]
	if w == nil || w.shown.paused || f.Engine.State.Now().Since(w.heard) > intensityFor {
		return 0, false
	}
	return w.intensity, true
}

// run follows which networks there are and what changes about them, and looks at each once a second.
func (f *follower) run(changes *feed.Subscription[struct{}, motion.NetworkID]) {
	defer func() { changes.Close() }()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for f.ctx.Err() == nil {
		id, ok, open := changes.Next()
		if ok {
			if f.settle() {
				f.tell(homeassistant.Change{})
			} else if f.watchOf(id) != nil {
				f.tell(homeassistant.Change{Network: id})
			}
			continue
		}
		if !open && !changes.Behind() { // the engine stops
			<-f.ctx.Done()
			return
		}
		if !open {
			changes = f.Engine.State.Changes.Subscribe(struct{}{}, changesBehind)
			f.settle()
			f.tell(homeassistant.Change{})
			continue
		}
		select {
		case <-f.ctx.Done():
			return
		case <-changes.Ready():
		case <-ticker.C:
			for _, id := range f.Networks() {
				f.look(id)
			}
		}
	}
}

// settle begins to watch networks that are new, and reports whether there are others than before.
func (f *follower) settle() (changed bool) {
	there := map[motion.NetworkID]bool{}
	for _, n := range f.Engine.State.All() {
		if len(f.Options.Networks) == 0 || slices.Contains(f.Options.Networks, n.ID) {
			there[n.ID] = true
		}
	}
	for id := range there {
		if f.watchOf(id) != nil {
			continue
		}
		moments, events := f.Engine.State.Moments.Subscribe(id, momentsBehind), f.Engine.State.LiveEvents.Subscribe(id, eventsBehind)
		w := f.remember(id) // after that: no event is missed in between
		f.mu.Lock()
		f.watches[id] = w
		f.mu.Unlock()
		f.running.Go(func() { f.hear(id, moments, events) })
		changed = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.watches {
		if !there[id] {
			delete(f.watches, id) // its subscriptions have ended
			changed = true
		}
	}
	return changed
}

// remember returns the watch of a network with what its newest events tell: motion that is under way, and
// an alarm that was triggered.
func (f *follower) remember(id motion.NetworkID) *watch {
	w := &watch{rooms: map[string]*room{}}
	now := f.Engine.State.Now()
	err := f.DB.View(f.ctx, func(tx *store.Tx) error {
		record, ok, err := tx.HomeOfNetwork(id)
		if err != nil {
			return err
		}
		w.away = ok && record.Claimed() && record.Scene == home.Away
		events, err := tx.Events(store.EventQuery{Network: id, NotBefore: now.Add(-day), Last: remembered, Ascending: true, Kinds: []string{
			motion.MotionDetectedEvent, motion.MotionStoppedEvent, motion.CustomAlertEvent, motion.SceneChangedToAwayEvent, motion.SceneChangedToHomeEvent,
		}})
		w.recall(events)
		return err
	})
	if err != nil && f.ctx.Err() == nil {
		f.Log.Warn("the newest events of a network are not known", "network", id, "err", err)
	}
	return w
}

// watchOf returns the watch of a network, nil for none.
func (f *follower) watchOf(id motion.NetworkID) *watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watches[id]
}

// hear takes in what is told of a network until it is deleted or ctx ends. Who was too slow for the
// engine subscribes anew.
func (f *follower) hear(id motion.NetworkID, moments *feed.Subscription[motion.NetworkID, *state.Moment], events *feed.Subscription[motion.NetworkID, state.Message]) {
	defer func() { moments.Close(); events.Close() }()
	for f.ctx.Err() == nil {
		m, isMoment, open := moments.Next()
		switch {
		case isMoment:
			f.moment(id, m)
		case !open && !moments.Behind():
			return
		case !open:
			moments = f.Engine.State.Moments.Subscribe(id, momentsBehind)
		}
		e, isEvent, open := events.Next()
		switch {
		case isEvent && e.Event != nil:
			f.event(id, e.Event)
		case !open && !events.Behind():
			return
		case !open:
			events = f.Engine.State.LiveEvents.Subscribe(id, eventsBehind)
		}
		if isMoment || isEvent {
			continue
		}
		select {
		case <-f.ctx.Done():
			return
		case <-moments.Ready():
		case <-events.Ready():
		}
	}
}

// moment takes in a sample.
func (f *follower) moment(id motion.NetworkID, m *state.Moment) {
	f.mu.Lock()
	if w := f.watches[id]; w != nil {
		w.note(m, f.Engine.State.Now())
	}
	f.mu.Unlock()
	f.look(id)
}

// event takes in an event, and has it told.
func (f *follower) event(id motion.NetworkID, e *motion.Event) {
	now := f.Engine.State.Now()
	f.mu.Lock()
	if w := f.watches[id]; w != nil {
		w.take(e, now)
	}
	f.mu.Unlock()
	f.tell(homeassistant.Change{Network: id, Event: e})
	f.tell(homeassistant.Change{Network: id})
}

// look judges a network anew, and tells when something has changed.
func (f *follower) look(id motion.NetworkID) {
	n, err := f.Engine.State.Network(id)
	if err != nil {
		return // it was deleted: a change says so
	}
	now := f.Engine.State.Now()
	n.Mu.Lock()
	seen := sight{tripped: n.Tripped(now), last: n.LastMotion(), paused: n.Record.Paused()}
	n.Mu.Unlock()
	f.mu.Lock()
	w := f.watches[id]
	changed := w != nil && w.judge(seen, now)
	f.mu.Unlock()
	if changed {
		f.tell(homeassistant.Change{Network: id})
	}
}

// Network returns a network as it is now, false when it is not followed.
func (f *follower) Network(ctx context.Context, id motion.NetworkID) (homeassistant.Network, bool, error) {
	f.look(id)
	v, err := f.view(ctx, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return homeassistant.Network{}, false, nil
	case err != nil:
		return homeassistant.Network{}, false, err
	}
	if err := f.figures(ctx, id, v); err != nil && !errors.Is(err, context.Canceled) {
		f.Log.Warn("activity of a network is not known", "network", id, "err", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watches[id]
	if w == nil {
		return homeassistant.Network{}, false, nil
	}
	w.away = v.Away
	w.write(v)
	return v.Network, true, nil
}
