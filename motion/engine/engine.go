// Package engine is the product without its doors: its rooms put together. It knows neither
// MQTT nor HTTP; the broker reaches it through Report, Admit and the calls of sessions, and it
// reaches devices through state.Outbound. Callers use the room that they need.
//
// Concurrency. All exported methods of all rooms may be called concurrently; package state says
// what is locked in which order. Management commands have a mutex of their own, which is held
// for the whole of an event, commit and sending included, and comes before every other one.
// Time comes from the data; the wall clock (Options.Now) only stamps receipt and moves silent
// networks on.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/engine/alerting"
	"sensegate/motion/engine/devices"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/insights"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/management"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// Options configure an Engine.
type Options struct {
	// AccessToken is the pre-shared token that adopts any device; "" = none.
	AccessToken string
	// Readopt lets an adopted device that lost its token back in from the address
	// of its last session.
	Readopt bool
	// FirstWindow is how long a new installation adopts by itself, since its
	// creation: into networks without an owner, and into those that were claimed
	// meanwhile until their owners close it. Zero: never.
	FirstWindow time.Duration
	// NodesNetwork is the network that nodes of other makers join; 0: the only one.
	NodesNetwork motion.NetworkID
	// FlushInterval is the time between two writes of samples: what a power cut may
	// cost of them. 60 s when zero.
	FlushInterval time.Duration
	// WithoutInsights leaves activity and sleep insights unserved.
	WithoutInsights bool
	// Relays returns the outside services that live motion can be delivered to now, by name;
	// nil: there are none.
	Relays func() map[string]sensing.Relay
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

// Engine is the running product: its rooms, and what runs them. Make it with New, start it
// with Run.
type Engine struct {
	State     *state.State
	Events    *events.Writer
	Commands  *management.Manager
	Inventory *inventory.Inventory
	Devices   *devices.Fleet
	Sensing   *sensing.Sensing
	Alerts    *alerting.Runner
	Insights  *insights.Insights

	learned  written // signs of life and what links have learned; Flushing guards both
	reported written // whole status reports

	worked  atomic.Pointer[time.Time] // when advance was last done; nil: not yet
	running atomic.Bool               // Run was called: one that only serves a command stores events by nobody
}

// New loads every network from db. Introduce must be called before Run.
func New(ctx context.Context, db *store.DB, o Options) (*Engine, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := state.New(ctx, db, o.Log, o.Now, cmp.Or(o.FlushInterval, time.Minute), o.Built)
	if err != nil {
		return nil, err
	}
	e := &Engine{State: s, Events: events.New(s, o.Stored), Commands: management.New(s), Insights: insights.New(s, o.WithoutInsights)}
	e.Inventory = inventory.New(s, e.Events, e.Commands)
	e.Devices = devices.New(s, e.Events, e.Commands, e.Inventory, devices.Options{
		AccessToken: o.AccessToken, Readopt: o.Readopt, FirstWindow: o.FirstWindow, NodesNetwork: o.NodesNetwork,
	})
	e.Sensing = sensing.New(s, e.Events, e.Inventory, o.Relays)
	e.Alerts = alerting.New(s, e.Events)
	e.learned, e.reported = written(s.Started), written(s.Started)
	err = db.View(ctx, func(tx *store.Tx) error {
		return errors.Join(s.Load(tx), e.Devices.Load(tx), e.Commands.Load(tx))
	})
	if err != nil {
		return nil, fmt.Errorf("load networks: %w", err)
	}
	return e, nil
}

// Introduce tells the engine how to reach devices, before Run.
func (e *Engine) Introduce(broker state.Outbound) { e.State.Outbound = broker }

// Run works until ctx ends, then writes everything that is held in memory. It
// returns early with an error when an event could not be stored: its outcome on
// disk is unknown then, and only a restart can tell.
func (e *Engine) Run(ctx context.Context) error {
	e.running.Store(true)
	e.note()
	group, running := errgroup.WithContext(ctx)
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecording()
	recorded := make(chan error, 1)
	go func() { recorded <- e.Events.Run(recording) }()
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
	group.Go(func() error { return e.every(running, sensing.LiveRenewal, "renew live", e.Sensing.RenewLive) })
	group.Go(func() error { return e.every(running, time.Minute, "look at links", e.Sensing.Look) })
	group.Go(func() error {
		return e.every(running, e.State.FlushInterval, "flush", func(ctx context.Context) error { return e.flush(ctx, false) })
	})
	group.Go(func() error { return e.every(running, time.Minute, "count refusals", e.Devices.CountRefused) })
	group.Go(func() error { return e.Commands.Run(running) })
	group.Go(func() error { return e.Alerts.Run(running) })
	err := group.Wait()

	e.State.LiveMotion.Close()
	e.Sensing.Close()
	e.State.LiveEvents.Close()
	e.State.Moments.Close()
	e.State.Changes.Close()
	e.Commands.Close()
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
			if err := e.State.Contained.Run(what, func() error { return step(ctx) }); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// watchClock looks whether the clock was set. It marks that in every history, as after
// a start in 1970.
func (e *Engine) watchClock(ctx context.Context) error {
	by, err := e.State.StepClock(ctx)
	if err != nil || by == 0 {
		return err
	}
	e.State.Log.Warn("the clock was set", "by_s", float64(by))
	if err := e.Inventory.ShiftPauses(ctx, e.State.Now().Add(-by), by); err != nil {
		return err
	}
	return e.tellAll(ctx, motion.ClockSetEvent, motion.Document{"by_s": math.Round(float64(by))})
}

// note notes that the engine works.
func (e *Engine) note() {
	now := time.Now()
	e.worked.Store(&now)
}

// Silent returns for how long a running engine has not finished its work of each second: about a
// second at most, unless a lock, the disk or the processor is not to be had. 0 before Run.
func (e *Engine) Silent() time.Duration {
	if at := e.worked.Load(); at != nil {
		return time.Since(*at)
	}
	return 0
}

// advance looks whether the clock was set, ends the pauses that are over, and moves networks on
// whose links are silent.
func (e *Engine) advance(ctx context.Context) error {
	defer e.note()
	now := e.State.Now() // before it is watched: what is silent is told by a clock that was watched
	if err := e.watchClock(ctx); err != nil {
		return err
	}
	if err := e.Inventory.EndPauses(ctx, now); err != nil {
		return err
	}
	return e.Sensing.Advance(ctx, now)
}
