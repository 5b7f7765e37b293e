package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	// Health returns how the appliance is.
	Health func(context.Context) (Health, error)
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
func (s *Set) Base() string { return newUplink(Config{}, s.box).Base }

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
	r := &runner{uplink: u, origin: origin, pace: s.pace, log: s.options.Log, ended: make(chan struct{})}
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

// find returns the runner of a name. NotFound: there is none.
func (s *Set) find(name string) (*runner, error) {
	for _, r := range s.list() {
		if r.uplink.Name == name {
			return r, nil
		}
	}
	return nil, fault.New(fault.NotFound, "uplink %.40q: not found", name)
}

// changeable is find, of one that was made in the app. Conflict: it stands in the configuration.
func (s *Set) changeable(name string) (*runner, error) {
	r, err := s.find(name)
	if err == nil && r.origin != OfApp {
		err = fault.New(fault.Conflict, "uplink %s stands in the configuration: change it there", name)
	}
	return r, err
}

// check returns the mistakes of a configuration from the app as a fault.
func (s *Set) check(c Config, except string) error {
	err := errors.Join(c.Validate(), c.withoutFiles())
	if key, text := s.clashes(c, except); err == nil && key != "" {
		err = fmt.Errorf("%s: %s", key, text)
	}
	return invalid(err)
}

// Add stores a new uplink and starts it. Invalid: its mistakes. A ctx of store.Audited has its line
// written in the same transaction.
func (s *Set) Add(ctx context.Context, c Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.check(c, ""); err != nil {
		return err
	}
	return s.replace(ctx, nil, &c)
}

// Change replaces an uplink by another of the same name. An empty password or key stays what it was.
// NotFound, Conflict: it is not one of the app. Invalid: the mistakes.
func (s *Set) Change(ctx context.Context, name string, c Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	former, err := s.changeable(name)
	if err != nil {
		return err
	}
	c = c.withSecretsOf(former.uplink.Config)
	c.Name = name
	if err := s.check(c, name); err != nil {
		return err
	}
	return s.replace(ctx, former, &c)
}

// withSecretsOf keeps the password and the key where none are given, for as long as they are sent to
// the same broker.
func (c Config) withSecretsOf(former Config) Config {
	if c.URL != former.URL {
		return c
	}
	if c.Password == "" && c.Username == former.Username {
		c.Password = former.Password
	}
	if c.ClientKey == "" && c.ClientCertificate == former.ClientCertificate {
		c.ClientKey = former.ClientKey
	}
	return c
}

// Remove ends and forgets an uplink. NotFound, Conflict: it is not one of the app.
func (s *Set) Remove(ctx context.Context, name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	former, err := s.changeable(name)
	if err != nil {
		return err
	}
	return s.replace(ctx, former, nil)
}

// replace stores a change, ends the former uplink and starts the new one; either may be nil.
// s.changing is held.
func (s *Set) replace(ctx context.Context, former *runner, c *Config) error {
	runners := slices.DeleteFunc(s.list(), func(r *runner) bool { return r == former })
	all := make([]Config, len(runners))
	for i, r := range runners {
		all[i] = r.uplink.Config
	}
	err := s.options.DB.Update(ctx, func(tx *store.Tx) error {
		if c == nil {
			return tx.DeleteUplink(former.uplink.Name)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := tx.PutUplink(store.Uplink{Name: c.Name, Config: raw}); err != nil {
			return err
		}
		return s.settleCursors(tx, append(all, *c))
	})
	if err != nil {
		return err
	}
	if former != nil && former.stop != nil {
		former.stop()
		<-former.ended
		for _, part := range former.parts {
			if kept, ok := part.(interface{ Removed() }); ok {
				kept.Removed()
			}
		}
		s.leave(former, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c != nil {
		made := s.newRunner(*c, OfApp)
		if s.running != nil {
			s.start(made)
		}
		runners = append(runners, made)
		slices.SortStableFunc(runners, byOrigin)
	}
	s.runners = runners
	return nil
}

// byOrigin orders those of the configuration first, as they stand there, and the others by name.
func byOrigin(a, b *runner) int {
	switch {
	case a.origin != b.origin:
		return strings.Compare(string(b.origin), string(a.origin)) // configuration, app
	case a.origin == OfConfiguration:
		return 0
	}
	return strings.Compare(a.uplink.Name, b.uplink.Name)
}

// settleCursors gives each uplink that wants events or history a cursor from now on, and forgets all
// others.
func (s *Set) settleCursors(tx *store.Tx, all []Config) error {
	names := map[string]bool{}
	for _, c := range all {
		if !c.Has(Events) && !c.Has(History) {
			continue
		}
		names[c.Name] = true
		cursor, _, err := tx.UplinkCursor(c.Name)
		if err != nil {
			return err
		}
		cursor.Name = c.Name
		if !c.Has(Events) {
			cursor.Events = nil
		} else if cursor.Events == nil {
			last, err := tx.LastEventNumber()
			if err != nil {
				return err
			}
			cursor.Events = &last
		}
		if !c.Has(History) {
			cursor.Minutes = 0
		} else if cursor.Minutes == 0 {
			cursor.Minutes = minuteOf(tx.Now())
		}
		if err := tx.PutUplinkCursor(cursor); err != nil {
			return err
		}
	}
	return tx.KeepUplinkCursors(names)
}
