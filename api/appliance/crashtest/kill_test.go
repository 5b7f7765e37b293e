package crashtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/store"
)

const (
	shortLife = time.Second            // the longest time to most kills
	startLife = 200 * time.Millisecond // the longest time to a kill while it starts
	longLife  = 7 * time.Second        // to each fifteenth one, so that samples get old
)

// houseLives is how many kills a house survives before a new one is furnished:
// every kill looks at all that it has.
const houseLives = 100

// killed kills the product at random moments of a busy life.
func killed(t *testing.T, product string) {
	moments := rand.New(rand.NewPCG(*seed, 0))
	acked, seconds := 0, 0
	for left := *kills; left > 0; left -= houseLives {
		h := furnish(t, product)
		writers, film := h.writers(), &film{}
		for i := range min(left, houseLives) {
			life := time.Duration(moments.Int64N(int64(shortLife)))
			if i%15 == 5 {
				life = longLife
			}
			stumble(t, h.dir, product, time.Duration(moments.Int64N(int64(startLife))))
			live(t, h.visit(t, start(t, h.dir, product)), writers, film, life)
			if err := h.left(t, writers, film); err != nil {
				t.Fatalf("kill %d of this house, after %v: %v", i+1, life, err)
			}
		}
		start(t, h.dir, product).Stop()
		h.wantMore(t, writers)
		for _, w := range writers {
			acked += len(w.acked)
		}
		seconds += len(film.due)
	}
	if *kills >= 10 && seconds == 0 {
		t.Error("no sample became as old as the flush interval")
	}
	t.Logf("%d kills, and as many at the start: of %d acknowledged operations and %d seconds of samples none is lost", *kills, acked, seconds)
}

// killedAtFirst kills a product that makes its state, and wants the next one to start.
func killedAtFirst(t *testing.T, product string) {
	moments := rand.New(rand.NewPCG(*seed, 3))
	for range max(1, *kills/3) {
		dir := t.TempDir()
		stumble(t, dir, product, time.Duration(moments.Int64N(int64(startLife))))
		start(t, dir, product).Stop()
		if err := inspect(t.Context(), filepath.Join(dir, box.Database), func(*store.DB) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// stumble starts a product and kills it before it can be ready, or little later.
func stumble(t *testing.T, dir, product string, life time.Duration) {
	t.Helper()
	cmd := exec.Command(product)
	cmd.Env = box.Environment(dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.Exited() {
		t.Fatalf("the product ended by itself: %v", err)
	}
}

// wantMore wants each writer to have had acknowledgements, and its check to fail for
// operations that were never made, which shows that it looks.
func (h *house) wantMore(t *testing.T, writers []*writer) {
	t.Helper()
	err := inspect(t.Context(), filepath.Join(h.dir, box.Database), func(db *store.DB) error {
		return db.View(t.Context(), func(tx *store.Tx) error {
			for _, w := range writers {
				if len(w.acked) == 0 {
					t.Errorf("nothing was acknowledged to the writer of %s", w.name)
				}
				if w.check(tx, len(w.acked)+2) == nil {
					t.Errorf("two more operations of %s than were made are not missed", w.name)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// live is one life of a product: writers work, the guardian films, and the product
// is killed.
func live(t *testing.T, v *visit, writers []*writer, film *film, life time.Duration) {
	t.Helper()
	defer v.leave()
	worked, filmed := make(chan error, 1), make(chan error, 1)
	go func() { worked <- v.work(t.Context(), writers, math.MaxInt) }()
	go func() { filmed <- film.shoot(t.Context(), v) }()
	select {
	case <-time.After(life):
	case err := <-worked:
		t.Fatalf("a writer ended before the product: %v\n%s", err, v.process.Log())
	}
	end := now()
	v.process.Kill()
	if err := errors.Join(<-worked, <-filmed); errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	film.cut(end)
}

// left looks at a copy of the database, so that the product itself has to deal with
// what it left behind.
func (h *house) left(t *testing.T, writers []*writer, film *film) error {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.dir, box.Database))
	if err != nil {
		return err
	}
	path := filepath.Join(t.TempDir(), box.Database)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return err
	}
	defer os.Remove(path)
	done := make([]int, len(writers))
	for i, w := range writers {
		done[i] = len(w.acked)
	}
	return inspect(t.Context(), path, func(db *store.DB) error {
		ctx := context.Background()
		return errors.Join(db.View(ctx, func(tx *store.Tx) error { return checkAll(tx, writers, done) }), film.check(ctx, db))
	})
}
