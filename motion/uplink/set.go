package uplink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Options are the parts of a Set.
type Options struct {
	DB         *store.DB
	Configured []Config // of the configuration, valid ones
	Relay      RelayConfig
	// Connect connects to a broker. Its error is a *Failure, or that of ctx.
	Connect func(context.Context, Target) (Connection, error)
	// Own connects to the appliance's own broker for an uplink; nil: there are none such.
	Own func(context.Context, Uplink) (Connection, error)
	// Health returns how the appliance is, with the counts of some networks; none: of all.
	Health func(ctx context.Context, only []motion.NetworkID) (Health, error)
	// Minutes reads motion by the minute, Networks lists the networks, and Now is the time, 0 while the
	// clock has not been set.
	Minutes  MinuteReader
	Networks func(context.Context) ([]motion.NetworkID, error)
	Now      func() motion.Time
	// Parts make what an uplink is used for. A use without an entry is the Set's own, or sends nothing.
	Parts map[Use]func(Uplink) Part
	// Cleared makes the part that takes back from the broker of an uplink without Home Assistant what it
	// has left there when it had one; nil: none.
	Cleared func(Uplink) Part
	// Incoming makes the part that hears what other makers announce to Home Assistant, of uplinks that
	// are configured for it; nil: nobody does.
	Incoming func(Uplink) Part
	// Service makes the part of an uplink to http or https, which is run without a Peer; nil: sends nothing.
	Service func(Uplink) Part
	Log     *slog.Logger
}

// Set is all uplinks. Its methods may be called concurrently.
type Set struct {
	options Options
	box     string
	webhook *webhook // nil: not configured
	pace    pace

	changing sync.Mutex // one change at a time

	mu      sync.Mutex
	running context.Context // of Run; nil before it
	runners []*runner       // those of the configuration first
}

// New returns the set of the configured uplinks and of those in the database. It connects to nothing
// before Run.
func New(ctx context.Context, o Options) (*Set, error) {
	s := &Set{options: o, pace: defaultPace()}
	var made []Config
	err := o.DB.View(ctx, func(tx *store.Tx) (err error) {
		if s.box, err = tx.Instance(); err != nil {
			return err
		}
		made, err = storedConfigs(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read uplinks: %w", err)
	}
	if err := s.newRelay(o.Relay, o.Log); err != nil {
		return nil, err
	}
	for _, c := range o.Configured {
		s.runners = append(s.runners, s.newRunner(c, OfConfiguration))
	}
	for _, c := range made {
		if key, text := s.clashes(c, ""); key != "" {
			o.Log.Error("uplink of the app is not used: it clashes with one of the configuration", "uplink", c.Name, "key", key, "why", text)
			continue
		}
		s.runners = append(s.runners, s.newRunner(c, OfApp))
	}
	if err := o.DB.Update(ctx, func(tx *store.Tx) error { return s.settleCursors(tx, s.configs()) }); err != nil && fault.KindOf(err) != fault.Unavailable {
		return nil, fmt.Errorf("settle cursors of uplinks: %w", err)
	}
	return s, nil
}

// Base returns what the topics of an uplink begin with that says nothing else.
func (s *Set) Base() string { return s.BaseOf(Config{}) }

// BaseOf returns what all topics of an uplink begin with.
func (s *Set) BaseOf(c Config) string { return newUplink(c, s.box).Base }

// storedConfigs returns the configurations in the database.
func storedConfigs(tx *store.Tx) ([]Config, error) {
	stored, err := tx.Uplinks()
	if err != nil {
		return nil, err
	}
	made := make([]Config, len(stored))
	for i, one := range stored {
		if err := json.Unmarshal(one.Config, &made[i]); err != nil {
			return nil, fmt.Errorf("uplink %s: %w", one.Name, err)
		}
	}
	return made, nil
}

// configs returns the configurations of all uplinks.
func (s *Set) configs() []Config {
	all := make([]Config, len(s.runners))
	for i, r := range s.runners {
		all[i] = r.uplink.Config
	}
	return all
}

// clashes returns what of a configuration another uplink than the named one has already.
func (s *Set) clashes(c Config, except string) (key, text string) {
	for _, other := range s.configs() {
		if other.Name == except {
			continue
		}
		if key, text := clash(c, other); key != "" {
			return key, text
		}
	}
	return "", ""
}

// newRunner returns the runner of an uplink.
func (s *Set) newRunner(c Config, origin Origin) *runner {
	u := newUplink(c, s.box)
	r := &runner{uplink: u, origin: origin, pace: s.pace, log: s.options.Log, again: make(chan struct{}, 1), ended: make(chan struct{})}
	r.status.turn(Waiting, time.Time{}, nil)
	switch {
	case c.IsService():
		if s.options.Service != nil {
			r.parts = []Part{s.options.Service(u)}
		}
		return r
	case c.Own():
		r.connect = func(ctx context.Context) (Connection, error) {
			if s.options.Own == nil {
				return nil, &Failure{Text: "this program cannot use its own broker as an uplink", Slow: true}
			}
			return s.options.Own(ctx, u)
		}
	default:
		r.connect = func(ctx context.Context) (Connection, error) { return s.dial(ctx, u, "") }
	}
	r.parts = s.partsOf(u)
	return r
}

// dial connects to the broker of an uplink. suffix is added to its client id; with one, nothing is said
// of the appliance being online.
func (s *Set) dial(ctx context.Context, u Uplink, suffix string) (Connection, error) {
	target, err := u.target()
	if err != nil {
		return nil, &Failure{Text: err.Error(), Step: Reach, Slow: true, Err: err}
	}
	if suffix != "" {
		target.ClientID, target.Status = target.ClientID+suffix, ""
	}
	return s.options.Connect(ctx, target)
}

// partsOf returns the parts of an uplink.
func (s *Set) partsOf(u Uplink) (parts []Part) {
	o := s.options
	if u.Has(Events) || u.Has(History) {
		parts = append(parts, &healthPart{u, o.Health, o.Log})
	}
	for _, use := range u.Use {
		switch made := s.options.Parts[use]; {
		case made != nil:
			parts = append(parts, made(u))
		case use == Events:
			parts = append(parts, &eventPump{uplink: u, db: o.DB, log: o.Log})
		case use == History:
			parts = append(parts, &historyPump{uplink: u, db: o.DB, minutes: o.Minutes, now: o.Now, networks: o.Networks, log: o.Log, tick: historyTick})
		case use == Live:
			parts = append(parts, newLive(u))
		}
	}
	if o.Incoming != nil && u.Has(HomeAssistant) && u.HomeAssistant.Incoming && !u.Own() {
		parts = append(parts, o.Incoming(u))
	}
	if o.Cleared != nil && !u.Has(HomeAssistant) {
		parts = append(parts, o.Cleared(u))
	}
	return parts
}

// Run runs all uplinks until ctx ends.
func (s *Set) Run(ctx context.Context) error {
	s.mu.Lock()
	s.running = ctx
	for _, r := range s.runners {
		s.start(r)
	}
	s.mu.Unlock()
	if s.webhook != nil {
		s.webhook.run(ctx)
	}
	<-ctx.Done()
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, r := range s.list() {
		<-r.ended
	}
	return nil
}

// start starts a runner; s.mu is held.
func (s *Set) start(r *runner) {
	ctx, stop := context.WithCancel(s.running)
	r.stop = stop
	s.options.Log.Info("uplink started", "uplink", r.uplink.Name, "sends", r.uplink.sends())
	go r.run(ctx)
}

// list returns the runners.
func (s *Set) list() []*runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runners)
}

// List returns all uplinks with how they are, those of the configuration first.
func (s *Set) List() []State {
	all := []State{}
	for _, r := range s.list() {
		all = append(all, r.state())
	}
	return all
}

// ShowsMembers reports whether an uplink shows whether the members of a network who agree are at home.
func (s *Set) ShowsMembers(network motion.NetworkID) bool {
	return slices.ContainsFunc(s.list(), func(r *runner) bool {
		c := r.uplink.Config
		return c.Has(HomeAssistant) && c.HomeAssistant.Members && c.Carries(network)
	})
}

// find returns the runner of a name. NotFound: there is none.
func (s *Set) find(name string) (*runner, error) {
	for _, r := range s.list() {
		if r.uplink.Name == name {
			return r, nil
		}
	}
	return nil, fault.New(fault.NotFound, "uplink %.40q: not found", name)
}
