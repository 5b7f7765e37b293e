package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"sensegate/api/appliance/box"
	"sensegate/store"
)

const (
	operations    = 60  // of each writer while the product is traced
	controlImages = 100 // of the run without syncs
	booted        = 3   // images that the product itself is started on
)

// recording is a traced run of a product.
type recording struct {
	house   *house
	writers []*writer
	base    []byte // its database at the start, synced
	steps   []step
}

// record traces a product while its writers work. Options of strace may inject
// faults.
func record(t *testing.T, product string, options ...string) recording {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("crash images are made from a trace: %v", err)
	}
	h := furnish(t, product)
	r := recording{house: h, writers: h.writers()}
	database := filepath.Join(h.dir, box.Database)
	var err error
	if r.base, err = os.ReadFile(database); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trace")
	p := start(t, h.dir, append(tracer(out, options...), product)...)
	v := h.visit(t, p)
	err = v.work(t.Context(), r.writers, operations)
	p.Kill()
	v.leave()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	if r.steps, err = readTrace(lines, database); err != nil {
		t.Fatal(err)
	}
	r.complete(t)
	return r
}

// complete wants all acknowledgements that the writers got to be in the trace.
func (r recording) complete(t *testing.T) {
	t.Helper()
	seen, counts := map[receipt]bool{}, map[stepKind]int{}
	for _, s := range r.steps {
		seen[s.ack] = true
		counts[s.kind]++
	}
	for _, w := range r.writers {
		for n, got := range w.acked {
			if !seen[got] {
				t.Fatalf("%s %d: %s is not in the trace", w.name, n, got)
			}
		}
	}
	t.Logf("traced %d acknowledged operations, %d writes, %d syncs", operations*len(r.writers), counts[writes], counts[syncs])
}

// open has the store open n images, and returns why it could not or what is missing.
func (r recording) open(t *testing.T, n int, bad func(image, error)) {
	t.Helper()
	dir := t.TempDir()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	number := 0
	eachImage(r.steps, r.base, r.writers, n, rand.New(rand.NewPCG(*seed, 1)), func(i image) {
		number++
		path := filepath.Join(dir, strconv.Itoa(number))
		group.Go(func() error {
			if err := os.WriteFile(path, i.disk, 0o600); err != nil {
				return err
			}
			err := inspect(context.Background(), path, func(db *store.DB) error {
				return db.View(context.Background(), func(tx *store.Tx) error { return checkAll(tx, r.writers, i.done) })
			})
			if err != nil {
				bad(i, err)
			}
			return os.Remove(path)
		})
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// powerCut opens what power cuts leave of a product's database.
func powerCut(t *testing.T, product string) {
	r := record(t, product)
	r.open(t, *images, func(i image, err error) { t.Errorf("%v: %v", i, err) })
	t.Logf("%d images", *images)
	eachImage(r.steps, r.base, r.writers, booted, rand.New(rand.NewPCG(*seed, 2)), func(i image) { r.boot(t, i) })
}

// boot starts the product itself on an image.
func (r recording) boot(t *testing.T, i image) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, box.Database), i.disk, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, r.house.product)
	v := r.house.visit(t, p)
	var meta struct{ Crash string }
	v.want("GET", "/core/network/1/meta", "", &meta)
	v.leave()
	p.Stop()
	got, err := strconv.Atoi(meta.Crash)
	if acked := i.done[settingWriter]; err != nil || got != acked && got != acked+1 {
		t.Errorf("%v: the product says %q", i, meta.Crash)
	}
}

// neverSynced is the control: with syncs that are swallowed the same images must
// show that acknowledged operations are lost.
func neverSynced(t *testing.T, product string) {
	r := record(t, product, "-e", "inject=fsync,fdatasync:retval=0")
	var lost atomic.Int64
	var example atomic.Value
	r.open(t, controlImages, func(i image, err error) {
		lost.Add(1)
		example.Store(fmt.Sprintf("%v: %v", i, err))
	})
	if lost.Load() < controlImages/4 {
		t.Errorf("%d of %d images of a product that does not sync show it: the harness sees too little", lost.Load(), controlImages)
	}
	t.Logf("%d of %d images show it, such as: %v", lost.Load(), controlImages, example.Load())
}
