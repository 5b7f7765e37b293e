package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
	"sensegate/store"
)

// box is the product's database and its uplink to the cluster, without what measures: events are made
// up. Its methods are called by one goroutine at a time.
type box struct {
	path     string // of the database
	db       *store.DB
	id       string
	networks []motion.NetworkID
	made     map[motion.NetworkID][]string // ids of the events, in the order in which they were stored
	way      *way
	stop     func() error // ends the uplink; nil: it does not run
}

// networksOfBox is how many networks a box has.
const networksOfBox = 2

// newBox makes the database of a box.
func newBox(ctx context.Context, dir string) (*box, error) {
	b := &box{path: filepath.Join(dir, "sensegate.db"), made: map[motion.NetworkID][]string{}}
	if err := errors.Join(os.MkdirAll(dir, 0o700), b.open()); err != nil {
		return nil, err
	}
	err := b.db.Update(ctx, func(tx *store.Tx) (err error) {
		if b.id, err = tx.Instance(); err != nil {
			return err
		}
		for n := range networksOfBox {
			network, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprintf("%s-%d", b.id, n)})
			if err != nil {
				return err
			}
			b.networks = append(b.networks, network.ID)
		}
		return nil
	})
	return b, err
}

func (b *box) open() (err error) {
	b.db, err = store.Open(store.Options{Path: b.path, Retention: store.DefaultRetention()})
	return err
}

// start starts the uplink.
func (b *box) start(ctx context.Context) error {
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("ENGINE_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("box", b.id)
	}
	set, err := uplink.New(ctx, uplink.Options{
		DB: b.db, Log: log,
		Configured: []uplink.Config{{
			Name: "engine", URL: "mqtt://" + b.way.address(), Username: "box-" + b.id, Password: boxPassword,
			Use: []uplink.Use{uplink.Events, uplink.History},
		}},
		Connect: func(ctx context.Context, to uplink.Target) (uplink.Connection, error) {
			return mqtt.Connect(ctx, to, log)
		},
		Health: func(context.Context, []motion.NetworkID) (uplink.Health, error) {
			return uplink.Health{TS: motion.TimeOf(time.Now()), Version: "test", Problems: []string{}}, nil
		},
		Minutes: uplink.MinuteReader{
			Samples: func(context.Context, motion.NetworkID, int64, int64, int64, ...series.ID) (*series.Set, error) {
				return series.NewSet()
			},
			Topology: func(motion.NetworkID, bool) (motion.Topology, error) { return motion.Topology{}, nil },
		},
		Networks: func(context.Context) ([]motion.NetworkID, error) { return b.networks, nil },
		Now:      func() motion.Time { return motion.TimeOf(time.Now()) },
	})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- set.Run(running) }()
	b.stop = func() error {
		cancel()
		return <-ended
	}
	return nil
}

// restart stops the appliance and starts it again on its database.
func (b *box) restart(ctx context.Context) error {
	return errors.Join(b.close(), b.open(), b.start(ctx))
}

// close stops the appliance.
func (b *box) close() error {
	var err error
	if b.stop != nil {
		err = b.stop()
		b.stop = nil
	}
	return errors.Join(err, b.db.Close())
}

// happen stores an event of one network after the other.
func (b *box) happen(ctx context.Context, at time.Time) error {
	for _, network := range b.networks {
		err := b.db.Update(ctx, func(tx *store.Tx) error {
			stored, _, err := tx.AddEvent(motion.Event{Event: motion.MotionDetectedEvent, NetworkID: network, TS: motion.TimeOf(at)}, "")
			if err == nil {
				b.made[network] = append(b.made[network], stored.ID)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("store an event: %w", err)
		}
	}
	return nil
}

// tally is what became of the events of boxes.
type tally struct {
	Made, Missing, Doubles, Disorder int
}

// count compares what boxes have stored with what the stream has, by subject.
func count(boxes []*box, stream map[string][]string) (t tally) {
	for _, b := range boxes {
		for network, made := range b.made {
			place := make(map[string]int, len(made))
			for i, id := range made {
				place[id] = i + 1
			}
			seen, last := map[string]bool{}, 0
			for _, id := range stream[fmt.Sprintf("sensegate.%s.%d.event", b.id, network)] {
				switch at := place[id]; {
				case seen[id]:
					t.Doubles++
				case at < last:
					t.Disorder++
				default:
					last = at
				}
				seen[id] = true
			}
			t.Made += len(made)
			t.Missing += len(made) - len(slices.DeleteFunc(slices.Clone(made), func(id string) bool { return !seen[id] }))
		}
	}
	return t
}
