package uplink_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
	"sensegate/store"
	"sensegate/store/storetest"
)

// patience bounds every wait of the tests.
const patience = time.Minute

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// connect connects as the appliance does, with a broker that has less time for each answer.
func connect(ctx context.Context, to uplink.Target) (uplink.Connection, error) {
	return mqtt.Connect(ctx, to, discard())
}

// bench is a set with its database, which has one network.
type bench struct {
	*uplink.Set
	db      *store.DB
	network motion.NetworkID
	stop    func() // ends the set and waits
}

// newBench opens a database with a network.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{db: storetest.Open(t)}
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		b.network = n.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// options returns what a set needs of an appliance without samples.
func (b *bench) options() uplink.Options {
	return uplink.Options{
		DB: b.db, Log: discard(), Connect: connect,
		Health: func(context.Context, []motion.NetworkID) (uplink.Health, error) {
			return uplink.Health{Version: "test", Problems: []string{}}, nil
		},
		Minutes: uplink.MinuteReader{
			Samples: func(context.Context, motion.NetworkID, int64, int64, int64, ...series.ID) (*series.Set, error) {
				return series.NewSet()
			},
			Topology: func(motion.NetworkID, bool) (motion.Topology, error) { return motion.Topology{}, nil },
		},
		Networks: func(context.Context) ([]motion.NetworkID, error) { return []motion.NetworkID{b.network}, nil },
		Now:      func() motion.Time { return motion.TimeOf(time.Now()) },
	}
}

// run runs a set of uplinks, in place of the one before, until the test ends or stop is called.
func (b *bench) run(t testing.TB, o uplink.Options) {
	t.Helper()
	if b.stop != nil {
		b.stop()
	}
	set, err := uplink.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	set.Hurry()
	b.Set = set
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- set.Run(ctx) }()
	b.stop = func() {
		b.stop = nil
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(patience):
			t.Error("the set does not end")
		}
	}
	t.Cleanup(func() {
		if b.stop != nil {
			b.stop()
		}
	})
}

// state returns how an uplink is.
func (b *bench) state(t testing.TB, name string) uplink.State {
	t.Helper()
	for _, one := range b.List() {
		if one.Config.Name == name {
			return one
		}
	}
	t.Fatalf("no uplink %s", name)
	return uplink.State{}
}

// eventually waits until something holds, which goroutines of others bring about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}

// box returns the instance id.
func (b *bench) box(t testing.TB) string {
	t.Helper()
	id, err := store.Read(t.Context(), b.db, (*store.Tx).Instance)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
