package crashtest

import (
	"bytes"
	"context"
	"errors"
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
	operations    = 40 // of each writer while the product is traced
	controlImages = 40 // of the run without syncs
	asked         = 2  // images on which the product itself is asked
)

// recording is a traced run of a product.
type recording struct {
	house   *house
	writers []*writer
	base    *disk // its directory at the start, synced
	steps   []step
}

// needStrace skips the test where there is no strace, and fails it in CI.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("crash images are made from a trace: %v", err)
	}
}

// record traces a product while its writers work. Options of strace may inject
// faults.
func record(t *testing.T, product string, options ...string) recording {
	t.Helper()
	needStrace(t)
	h := furnish(t, product)
	r := recording{house: h, writers: h.writers()}
	var err error
	if r.base, err = readDisk(h.dir); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trace")
	p := start(t, h.dir, append(tracer(out, options...), product)...)
	v := h.visit(t, p)
	err = v.work(t.Context(), r.writers, operations)
	v.leave()
	p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	r.steps = follow(t, out, h.dir, r.base)
	r.complete(t)
	return r
}

// follow reads a trace of a product that has ended in order, and wants it to explain all
// that lies on the disk.
func follow(t *testing.T, out, root string, found *disk) []step {
	t.Helper()
	lines, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	steps, live, err := readTrace(lines, root, found)
	if err != nil {
		t.Fatal(err)
	}
	left, err := readDisk(root)
	if err == nil {
		err = live.same(left)
	}
	if err != nil {
		t.Fatalf("the trace and the disk: %v", err)
	}
	return steps
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

// lookAt makes images of what the product did below found, and tells what check says of
// each, several at a time.
func lookAt(t *testing.T, steps []step, found *disk, writers []*writer, cuts []cut, check func(dir string, i image) error, tell func(image, error)) {
	t.Helper()
	root := shortDir(t)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	eachImage(steps, found, writers, cuts, rand.New(rand.NewPCG(*seed, 1)), func(i image) {
		dir := filepath.Join(root, strconv.Itoa(i.number))
		group.Go(func() error {
			if err := i.disk.write(dir); err != nil {
				return err
			}
			tell(i, check(dir, i))
			return os.RemoveAll(dir)
		})
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// open opens n images and tells of each what is wrong or missing. On the first of them the
// product itself is started before.
func (r recording) open(t *testing.T, n, starts int, tell func(image, error)) {
	t.Helper()
	check := func(dir string, i image) error {
		if i.number <= starts {
			if err := reopen(r.house.product, dir); err != nil {
				return err
			}
		}
		if err := keysKept(r.base, "", dir); err != nil {
			return err
		}
		ctx := context.Background()
		return inspect(ctx, filepath.Join(dir, box.Database), func(db *store.DB) error {
			return db.View(ctx, func(tx *store.Tx) error { return checkAll(tx, r.writers, i.done) })
		})
	}
	lookAt(t, r.steps, r.base, r.writers, cutsOf(r.steps, n, rand.New(rand.NewPCG(*seed, 5))), check, tell)
}

// keysKept wants the keys of tokens and the authority in a state directory to be those on a
// disk, as far as there are any below prefix.
func keysKept(want *disk, prefix, dir string) error {
	files := want.paths()
	for _, name := range []string{"signing.json", "tls/authority.pem"} {
		data, isThere := files[prefix+name]
		if got, err := os.ReadFile(filepath.Join(dir, name)); isThere && (err != nil || !bytes.Equal(got, data)) {
			return fmt.Errorf("%w: %s is another one", errLost, name)
		}
	}
	return nil
}

// powerCut opens what power cuts leave of a product's directory.
func powerCut(t *testing.T, product string, counts *tally) {
	r := record(t, product)
	started := *starts - ofUpkeep(*starts)
	r.open(t, max(*images, started), started, func(i image, err error) {
		if err != nil {
			err = fmt.Errorf("%v: %w", i, err)
		}
		kind := "power cut at work"
		if i.number > started {
			kind += ", opened by the store alone"
		}
		counts.crashed(t, kind, err)
	})
	chance := rand.New(rand.NewPCG(*seed, 2))
	eachImage(r.steps, r.base, r.writers, cutsOf(r.steps, asked, chance), chance, func(i image) { r.ask(t, i) })
}

// ask starts the product on an image and asks it itself.
func (r recording) ask(t *testing.T, i image) {
	t.Helper()
	h := *r.house
	h.dir = shortDir(t)
	if err := i.disk.write(h.dir); err != nil {
		t.Fatal(err)
	}
	p := start(t, h.dir, h.product)
	v := h.visit(t, p)
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
// show that acknowledged operations are lost. On none may the product panic or hang.
func neverSynced(t *testing.T, product string) {
	r := record(t, product, "-e", "inject=fsync,fdatasync:retval=0")
	var lost atomic.Int64
	var example atomic.Value
	r.open(t, controlImages, controlImages, func(i image, err error) {
		if errors.Is(err, errBroken) {
			t.Errorf("%v: %v", i, err)
		}
		if err != nil {
			lost.Add(1)
			example.Store(fmt.Sprintf("%v: %v", i, err))
		}
	})
	if lost.Load() < controlImages/8 {
		t.Errorf("%d of %d images of a product that does not sync show it: the harness sees too little", lost.Load(), controlImages)
	}
	t.Logf("%d of %d images show it, such as: %v", lost.Load(), controlImages, example.Load())
}
