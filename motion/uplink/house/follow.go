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
	"sensegate/motion/uplink/homeassistant"
)

// What a follower may be behind.
const (
	momentsBehind = 64
	eventsBehind  = 256
	changesBehind = 256
)

// follower follows the networks of a House.
type follower struct {
	*House
	ctx     context.Context
	tell    func(homeassistant.Change)
	running sync.WaitGroup

	mu      sync.Mutex
	watches map[motion.NetworkID]*watch
}

// Follow begins to follow the networks until ctx ends.
func (h *House) Follow(ctx context.Context, tell func(homeassistant.Change)) homeassistant.Follower {
	f := &follower{House: h, ctx: ctx, tell: tell, watches: map[motion.NetworkID]*watch{}}
	changes := h.Engine.State.Changes.Subscribe(struct{}{}, changesBehind)
	f.settle()
	f.running.Go(func() { f.run(changes) })
	return f
}

// Wait waits until nothing is followed any more, after the end of its context.
func (f *follower) Wait() { f.running.Wait() }

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
	for {
		select {
		case <-f.ctx.Done():
			return
		case id, ok := <-changes.C():
			if !ok && !changes.Behind() { // the engine stops
				changes.Close()
				<-f.ctx.Done()
				return
			}
			if !ok {
				changes = f.Engine.State.Changes.Subscribe(struct{}{}, changesBehind)
				f.tell(homeassistant.Change{})
			}
			if f.settle() {
				f.tell(homeassistant.Change{})
			} else if ok && f.watchOf(id) != nil {
				f.tell(homeassistant.Change{Network: id})
			}
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
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.watches {
		if !there[id] {
			delete(f.watches, id) // its subscriptions have ended
			changed = true
		}
	}
	for id := range there {
		if f.watches[id] == nil {
			f.watches[id] = &watch{rooms: map[string]*room{}}
			changed = true
			moments, events := f.Engine.State.Moments.Subscribe(id, momentsBehind), f.Engine.State.LiveEvents.Subscribe(id, eventsBehind)
			f.running.Go(func() { f.hear(id, moments, events) })
		}
	}
	return changed
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
	for {
		select {
		case <-f.ctx.Done():
			return
		case m, ok := <-moments.C():
			switch {
			case ok:
				f.moment(id, m)
			case moments.Behind():
				moments = f.Engine.State.Moments.Subscribe(id, momentsBehind)
			default:
				return
			}
		case m, ok := <-events.C():
			switch {
			case ok && m.Event != nil:
				f.event(id, m.Event)
			case !ok && events.Behind():
				events = f.Engine.State.LiveEvents.Subscribe(id, eventsBehind)
			case !ok:
				return
			}
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
