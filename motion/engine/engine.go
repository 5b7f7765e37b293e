package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
	"sensegate/motion/peer"
	"sensegate/store"
)

// Devices is how the engine reaches devices; the broker implements it.
type Devices interface {
	// Send publishes a command to a device; a retained one also waits for its
	// next connection.
	Send(device motion.DeviceKey, command string, payload []byte, retain bool) error
	// Disconnect ends the device's session, if it has one.
	Disconnect(device motion.DeviceKey, reason string)
	// DisconnectUser ends the sessions of an integration user.
	DisconnectUser(name, reason string)
}

// Options configure an Engine.
type Options struct {
	// FlushInterval is the time between two writes of samples: what a power cut may
	// cost of them. 60 s when zero.
	FlushInterval time.Duration
	// AccessToken is the pre-shared token that adopts any device; "" = none.
	AccessToken string
	// Readopt lets an adopted device that lost its token back in from the address
	// of its last session.
	Readopt bool
	// FirstWindow is how long a new installation adopts by itself, since its
	// creation: into networks without an owner, and into those that were claimed
	// meanwhile until their owners close it. Zero: never.
	FirstWindow time.Duration
	// WithoutInsights leaves activity and sleep insights unserved.
	WithoutInsights bool
	// Relays are the outside services that live motion can be delivered to, by name.
	Relays map[string]Relay
	// Stored is told of every new event in the transaction that stores it, so that what
	// follows from it is as durable; nil = nobody. It must be quick, its error is trouble
	// with the store.
	Stored func(*store.Tx, motion.Event) error
	// Built is when the program was built: the wall clock has not been set while it is
	// before that. Zero: it always is.
	Built motion.Time
	// Now is the wall clock, time.Now when nil.
	Now func() time.Time
	Log *slog.Logger
}

// Engine is the running product. Make it with New, start it with Run.
type Engine struct {
	db      *store.DB
	options Options
	log     *slog.Logger
	devices Devices

	live   feed.Hub[motion.NetworkID, Message]
	events feed.Hub[motion.NetworkID, Message]

	alerts   *alertQueue
	commands commands

	deliveries deliveries

	contained containment
	samples   *store.Samples
	clocks    deviceClocks
	clock     ownClock
	recorder  recorder
	ledger    ledger
	pending   pendingList
	refusals  refusals
	returns   returns
	entries   *peer.Buckets[motion.NetworkID] // of devices that a window lets in, 0: of new networks
	comings   *peer.Buckets[motion.DeviceKey] // of devices that are let in
	newLinks  *peer.Buckets[motion.NodeID]    // that take the place of others, by receiver
	started   motion.Time
	reloading sync.Mutex // one reload at a time, so that the newest records stay
	flushing  sync.Mutex // one flush at a time, and the times of the last ones
	learned   written    // signs of life and what links have learned
	reported  written    // whole status reports

	mu       sync.Mutex
	networks map[motion.NetworkID]*network
	sessions map[motion.DeviceKey]*session
}

// New loads every network from db. Introduce must be called before Run.
func New(ctx context.Context, db *store.DB, options Options) (_ *Engine, err error) {
	if options.FlushInterval == 0 {
		options.FlushInterval = time.Minute
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		db: db, options: options, log: options.Log, contained: containment{log: options.Log},
		recorder: newRecorder(),
		clocks:   deviceClocks{built: options.Built},
		alerts:   newAlertQueue(),
		commands: newCommands(),
		networks: map[motion.NetworkID]*network{},
		sessions: map[motion.DeviceKey]*session{},
		refusals: refusals{hours: map[motion.NetworkID]*refusedHour{}},
		returns:  returns{last: map[motion.DeviceKey]comeback{}},
		entries:  peer.NewBuckets[motion.NetworkID](entryRate, entryBurst),
		comings:  peer.NewBuckets[motion.DeviceKey](comingRate, comingBurst),
		newLinks: peer.NewBuckets[motion.NodeID](linkRate, linkBurst),
	}
	if e.samples, err = store.OpenSamples(ctx, db); e.samples == nil {
		return nil, err
	} else if err != nil {
		e.log.Warn("part of the last samples is lost", "err", err)
	}
	if err := e.openClock(ctx); err != nil {
		return nil, fmt.Errorf("look at the clock: %w", err)
	}
	e.started = e.now()
	e.learned, e.reported = written(e.started), written(e.started)
	err = db.View(ctx, func(tx *store.Tx) error {
		if e.pending.entries, err = tx.PendingDevices(); err != nil {
			return err
		}
		records, err := tx.Networks()
		if err != nil {
			return err
		}
		for _, record := range records {
			n, err := e.loadNetwork(tx, record)
			if err != nil {
				return err
			}
			n.restamp(e.clock.restampedLate)
			e.networks[record.ID] = n
			if err := e.loadCommands(tx, record.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load networks: %w", err)
	}
	return e, nil
}

// Introduce tells the engine how to reach devices, before Run.
func (e *Engine) Introduce(devices Devices) { e.devices = devices }

// Run works until ctx ends, then writes everything that is held in memory. It
// returns early with an error when an event could not be stored: its outcome on
// disk is unknown then, and only a restart can tell.
func (e *Engine) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecording()
	recorded := make(chan error, 1)
	go func() { recorded <- e.record(recording) }()
	group.Go(func() error {
		select {
		case err := <-recorded:
			recorded <- err
			return err
		case <-running.Done():
			return nil
		}
	})
	group.Go(func() error { return e.tellRecovery(running) })
	group.Go(func() error { return e.every(running, time.Second, "advance", e.advance) })
	group.Go(func() error { return e.every(running, liveRenewal, "renew live", e.renewLive) })
	group.Go(func() error { return e.every(running, e.options.FlushInterval, "flush", e.flushRegularly) })
	group.Go(func() error { return e.every(running, time.Minute, "count refusals", e.countRefused) })
	group.Go(func() error { return e.runCommands(running) })
	group.Go(func() error { return e.runAlerts(running) })
	err := group.Wait()

	e.live.Close()
	e.deliveries.close()
	e.events.Close()
	e.commands.watch.Close()
	stopRecording()
	if last := <-recorded; err == nil {
		err = last
	}
	return errors.Join(err, e.Flush(context.WithoutCancel(ctx)))
}

// every calls step each interval until ctx ends or step fails; what names it.
func (e *Engine) every(ctx context.Context, interval time.Duration, what string, step func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := e.contained.run(what, func() error { return step(ctx) }); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// now returns the wall clock. While that is not set, it follows on former runs in which
// it was not either.
func (e *Engine) now() motion.Time {
	now := motion.TimeOf(e.options.Now())
	if e.clocks.unset(now) {
		return now.Add(e.clock.ahead)
	}
	return now
}

// network returns the state of a network.
func (e *Engine) network(id motion.NetworkID) (*network, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.networks[id]
	if n == nil {
		return nil, fault.New(fault.NotFound, "network %d is not known", id)
	}
	return n, nil
}

// all returns every network's state.
func (e *Engine) all() []*network {
	e.mu.Lock()
	defer e.mu.Unlock()
	networks := make([]*network, 0, len(e.networks))
	for _, n := range e.networks {
		networks = append(networks, n)
	}
	return networks
}
