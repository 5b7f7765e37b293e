package crashtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// killed kills the product at random moments of a busy life, and each time while it
// starts as well.
func killed(t *testing.T, product string, counts *tally) {
	moments := rand.New(rand.NewPCG(*seed, 0))
	acked, seconds := 0, 0
	lives := max(1, (*kills-ofUpkeep(*kills)-firstStarts())/2)
	for left := lives; left > 0 && !t.Failed(); left -= houseLives {
		h := furnish(t, product)
		writers, film := h.writers(), &film{}
		for i := range min(left, houseLives) {
			life := time.Duration(moments.Int64N(int64(shortLife)))
			if i%15 == 5 {
				life = longLife
			}
			h.stumble(t, time.Duration(moments.Int64N(int64(startLife))))
			counts.crashed(t, "kill while it starts", h.left(t, writers, film))
			live(t, h.visit(t, start(t, h.dir, product)), writers, film, life)
			counts.crashed(t, "kill at work", h.left(t, writers, film))
			if t.Failed() {
				t.Fatalf("kill %d of this house, after %v", i+1, life)
			}
		}
		start(t, h.dir, product).Stop()
		h.wantMore(t, writers)
		for _, w := range writers {
			acked += len(w.acked)
		}
		seconds += len(film.due)
	}
	if *kills >= 30 && seconds == 0 {
		t.Error("no sample became as old as the flush interval")
	}
	t.Logf("%d kills, and as many at the start: of %d acknowledged operations and %d seconds of samples none is lost", lives, acked, seconds)
}

// firstStarts is how many kills are at the first start of an appliance.
func firstStarts() int { return max(1, *kills/10) }

// killedAtFirst kills a product that makes its state, and wants the next one to start.
func killedAtFirst(t *testing.T, product string, counts *tally) {
	moments := rand.New(rand.NewPCG(*seed, 3))
	for range firstStarts() {
		h := &house{product: product, dir: shortDir(t)}
		h.stumble(t, time.Duration(moments.Int64N(int64(startLife))))
		err := reopen(product, h.dir)
		if err == nil {
			err = inspect(t.Context(), filepath.Join(h.dir, box.Database), func(*store.DB) error { return nil })
		}
		counts.crashed(t, "kill at the first start", err)
	}
}

// stumble starts the product and kills it before it can be ready, or little later.
func (h *house) stumble(t *testing.T, life time.Duration) {
	t.Helper()
	r, err := launch(h.dir, nil, h.product)
	if err != nil {
		t.Fatal(err)
	}
	r.killAfter(life)
	if !r.killed() {
		t.Fatalf("the product ended by itself: %v\n%s", r.err, strings.Join(r.log, "\n"))
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
