// Package integration implements the operations on third-party sensors that take several
// steps: accounts at providers, pairing, reading things, storing detections, and the events of
// interfaces.md 6 no. 5.
//
// It knows the store, the engine, and providers as package sensor declares them. It must not
// know a provider's protocol, HTTP, or authorization: callers have checked that the home is
// the user's.
//
// Concurrency. All exported methods may be called concurrently, Run once. No transaction and
// no lock is held during calls of a provider; one batch of readings is processed at a time.
// States of things are kept in memory; detections are stored at once, other states every five
// minutes, to spare the flash.
package integration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// Times of the background work.
const (
	flushInterval    = 5 * time.Minute
	deletionInterval = 30 * time.Second
	syncLimit        = 3 * time.Second // how long a reader waits for a provider
)

// Options configure a Service.
type Options struct {
	Providers map[string]sensor.Provider // by name; none: integrations cannot be enabled
	Default   string                     // the provider of callers who name none; "" = the only one
	Log       *slog.Logger               // nil: no log
	// Push, if not nil, queues the push of a detection in the transaction that stores it.
	Push func(*store.Tx, motion.Event) error
}

// Service manages the sensor integrations of all homes. Create it with New and start it with
// Run; it needs a running engine.
type Service struct {
	db       *store.DB
	engine   *engine.Engine
	options  Options
	log      *slog.Logger
	leaving  chan struct{} // receives when accounts are to be deleted
	taking   sync.Mutex    // serialises batches
	mu       sync.Mutex
	live     map[key]live
	cursors  map[string]string // newest of each provider
	unstored map[string]bool   // providers whose cursor is not stored
}

// key identifies a thing of a home.
type key struct {
	home  home.ID
	thing string
}

// live is the state of a thing since the start.
type live struct {
	state  sensor.State
	at     motion.Time // of the newest reading
	pushed motion.Time // when a detection was last pushed; 0: never
	pace   sensor.Pace
	dirty  bool // differs from what is stored
}

// New returns a Service for a database and the engine that uses it.
func New(db *store.DB, e *engine.Engine, o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Default == "" && len(o.Providers) == 1 {
		for name := range o.Providers {
			o.Default = name
		}
	}
	return &Service{
		db: db, engine: e, options: o, log: o.Log, leaving: make(chan struct{}, 1),
		live: map[key]live{}, cursors: map[string]string{}, unstored: map[string]bool{},
	}
}

// Run runs the providers and the background work until ctx ends, then stores the states in
// memory. It returns an error if the database fails.
func (s *Service) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	for name, provider := range s.options.Providers {
		group.Go(func() error {
			if err := provider.Run(running, host{s, name}); err != nil {
				return fmt.Errorf("sensors of %s: %w", name, err)
			}
			return nil
		})
	}
	group.Go(func() error { return s.every(running, flushInterval, nil, s.flush) })
	group.Go(func() error { return s.every(running, deletionInterval, s.leaving, s.deleteDueAccounts) })
	err := group.Wait()
	return errors.Join(err, tolerate(s.flush(context.WithoutCancel(ctx))))
}

// every calls step immediately, at each interval and when woken, until ctx ends or step
// returns an error that is not tolerable.
func (s *Service) every(ctx context.Context, interval time.Duration, wake <-chan struct{}, step func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := tolerate(step(ctx)); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-wake:
		}
	}
}

// tolerate returns nil for an error after which the step is tried again later, such as a full
// disk.
func tolerate(err error) error {
	if fault.KindOf(err) == fault.Unavailable || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// provider returns the provider of an integration. Unavailable: it is no longer configured.
// Conflict: it is configured for another network only.
func (s *Service) provider(i sensor.Integration) (sensor.Provider, error) {
	p := s.options.Providers[i.Provider]
	if p == nil {
		return nil, fault.New(fault.Unavailable, "the sensor provider %s is not configured on this appliance", i.Provider)
	}
	if only, _ := p.Single(); only != 0 && only != i.Network {
		return nil, servesAnother(i)
	}
	return p, nil
}

// servesAnother returns the fault for a provider that serves only another household.
func servesAnother(i sensor.Integration) error {
	return fault.New(fault.Conflict, "provider: %s serves another network of this appliance", i.Provider)
}

// choose returns the name of the requested provider, or of the default one.
func (s *Service) choose(name string) (string, error) {
	names := slices.Sorted(maps.Keys(s.options.Providers))
	switch {
	case len(names) == 0:
		return "", fault.New(fault.Conflict, "integrations_enabled: no sensor provider is configured on this appliance")
	case name == "" && s.options.Default == "":
		return "", fault.New(fault.Invalid, "provider: name one of %s", strings.Join(names, ", "))
	case name == "":
		return s.options.Default, nil
	case !slices.Contains(names, name):
		return "", fault.New(fault.Invalid, "provider: want one of %s", strings.Join(names, ", "))
	}
	return name, nil
}

// Integration returns the integration of a home. NotFound: the home has none.
func (s *Service) Integration(ctx context.Context, h home.ID) (sensor.Integration, error) {
	return store.Read(ctx, s.db, func(tx *store.Tx) (sensor.Integration, error) { return integrationOf(tx, h) })
}

// integrationOf is Integration in a transaction.
func integrationOf(tx *store.Tx, h home.ID) (sensor.Integration, error) {
	i, ok, err := tx.IntegrationOf(h)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "the network has no sensor integration; initialize one with POST /sensors/integrations")
	}
	return i, err
}

// event returns an event of a network's sensors with the current time.
func event(tx *store.Tx, id motion.NetworkID, kind string, detail motion.Document) (motion.Event, error) {
	network, err := tx.Network(id)
	return motion.Event{
		Event: kind, NetworkID: id, GuardianID: network.GuardianID, TS: tx.Now(), Detail: detail,
	}, err
}
