package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
	"sensegate/store/storetest"
)

// damaged is a state directory whose database the tests damage.
type damaged struct {
	path, backup string
	whole, copy  []byte
}

// lived returns the database of a home that has seen motion, and a backup of it.
func lived(t *testing.T, b *box) damaged {
	t.Helper()
	b.home()
	for range 3 {
		b.send(10, 0.35, 0)
		b.send(130, 0, 0)
	}
	time.Sleep(11 * time.Minute)
	made, err := b.db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.stop()
	d := damaged{path: b.path, backup: made.Path}
	if d.whole, err = os.ReadFile(b.path); err != nil {
		t.Fatal(err)
	}
	if d.copy, err = os.ReadFile(made.Path); err != nil {
		t.Fatal(err)
	}
	return d
}

// with writes the whole backup and a database with other contents to a directory of
// their own, and returns the database's path.
func (d damaged) with(t *testing.T, contents []byte) string {
	t.Helper()
	directory := t.TempDir()
	path := filepath.Join(directory, "sensegate.db")
	backup := filepath.Join(store.BackupDirectory(path), filepath.Base(d.backup))
	if err := os.Mkdir(filepath.Dir(backup), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{path: contents, backup: d.copy} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// live starts an engine on what lies at path, lets minutes pass, asks it for what a
// household asks for, and stops it. What it logs of trouble is returned.
func live(t *testing.T, path string) (recovery *store.Recovery, networks int, events []string) {
	t.Helper()
	db, recovery, err := store.OpenOrRecover(context.Background(), store.Options{Path: path})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	e, err := engine.New(context.Background(), db, engine.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	e.Introduce(&recordedDevices{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	time.Sleep(11 * time.Minute)
	err = db.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Networks()
		networks = len(list)
		for _, n := range list {
			_, _ = e.State.Samples(ctx, n.ID, 0, tx.Now().Second()) // what is damaged is left out
			stored, _ := storetest.Events(tx, n.ID)
			for _, event := range stored {
				events = append(events, event.Event)
			}
		}
		return err
	})
	if err != nil {
		t.Errorf("read: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return recovery, networks, events
}

// TestDamagedDatabaseNeverKeepsTheEngineFromRunning changes 1 to 64 bytes anywhere in
// a database. Each time the engine starts, runs and stops without a panic or an error,
// on the file itself, without records that cannot be read, on what is salvaged, or on the
// backup, and does so again at the next start.
func TestDamagedDatabaseNeverKeepsTheEngineFromRunning(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	run(t, func(t *testing.T, b *box) {
		d := lived(t, b)
		random := rand.New(rand.NewPCG(7, 11))
		recovered := 0
		for round := range rounds {
			broken := bytes.Clone(d.whole)
			length := 1 + random.IntN(64)
			at := random.IntN(len(d.copy)) // what lies behind was never used
			for i := range length {
				broken[at+i] = byte(random.Uint32())
			}
			path := d.with(t, broken)
			recovery, networks, _ := live(t, path)
			if networks != 1 {
				t.Errorf("round %d: %d bytes at %d: %d networks, want 1", round, length, at, networks)
			}
			if recovery == nil {
				continue
			}
			recovered++
			if recovery.Aside == "" && recovery.Lost != "" && recovery.Backup == "" {
				continue // on the file itself, but for records that are told
			}
			if aside, err := os.ReadFile(recovery.Aside); err != nil || len(aside) < len(broken) {
				t.Errorf("round %d: recovery %+v, aside %v, want the damaged file kept", round, recovery, err)
			}
			if again, _, _ := live(t, path); again != nil {
				t.Errorf("round %d: damaged again: %+v", round, again)
			}
		}
		t.Logf("%d of %d damaged files were recovered, the others served", recovered, rounds)
		if recovered < rounds/10 {
			t.Errorf("only %d of %d were recovered", recovered, rounds)
		}
		synctest.Wait()
	}, func(o *engine.Options) { o.FlushInterval = time.Minute })
}

func TestRecoveryIsToldInTheHistoryAndTheHealth(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		d := lived(t, b)
		path := d.with(t, d.whole[:len(d.copy)/2])
		recovery, _, events := live(t, path)
		if recovery == nil || recovery.Backup == "" {
			t.Fatalf("recovery %+v, want one from the backup", recovery)
		}
		if last := events[len(events)-1]; last != motion.DatabaseRecoveredEvent {
			t.Errorf("events %v, want the last to tell of the recovery", events)
		}
		if _, _, again := live(t, path); len(again) != len(events) {
			t.Errorf("events %v after another start, want it told once", again)
		}
		db, again, err := store.OpenOrRecover(t.Context(), store.Options{Path: path})
		if err != nil || again != nil {
			t.Fatal(again, err)
		}
		defer db.Close()
		recovery.Untold = false
		if known := db.Health().Recovery; known == nil || *known != *recovery {
			t.Errorf("health tells of %+v, want %+v", known, recovery)
		}
	})
}

func TestDamagedDatabaseWithoutABackupIsRefusedAndKept(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		d := lived(t, b)
		half := d.whole[:len(d.copy)/2]
		path := d.with(t, half)
		if err := os.RemoveAll(store.BackupDirectory(path)); err != nil {
			t.Fatal(err)
		}
		_, _, err := store.OpenOrRecover(t.Context(), store.Options{Path: path})
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "to begin anew on purpose") {
			t.Errorf("error %v, want one that says how to begin anew", err)
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, half) {
			t.Errorf("the damaged file was not kept: %v", err)
		}
	})
}
