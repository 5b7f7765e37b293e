package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// upkeep crashes the product in each kind of chore: it is killed at random moments, and a
// trace of one that is left alone gives power cuts.
func upkeep(t *testing.T, product string, counts *tally) {
	all := chores(t, product)
	moments := rand.New(rand.NewPCG(*seed, 4))
	for _, c := range all {
		length := c.measure(t, product)
		for range share(ofUpkeep(*kills), all) {
			counts.crashed(t, "kill in: "+c.name, c.kill(t, product, length, moments))
		}
	}
	needStrace(t)
	for _, c := range all {
		c.cutPower(t, product, share(ofUpkeep(*starts), all), counts)
	}
}

// share returns how many crashes each chore gets, so that migrations, restores and wipes
// get at least n.
func share(n int, all []*chore) int {
	asked := 0
	for _, c := range all {
		if !c.extra {
			asked++
		}
	}
	return max(1, (n+asked-1)/asked)
}

// unkept is the environment of old databases: what is in them is as old as they are.
var unkept = []string{"SENSEGATE_STORE_RETENTION_EVENTS=876000h"}

// done is what came of a chore.
type done struct {
	acked  bool
	ack    receipt
	killed bool
	took   time.Duration // to the acknowledgement, or to where the product serves
}

// do does the chore in a directory, below a tracer or not, and kills it after a time; life
// 0: it comes to its end.
func (c *chore) do(ctx context.Context, product, top string, life time.Duration, tracer ...string) (done, error) {
	line, environment, err := c.line(product, top)
	if err != nil {
		return done{}, err
	}
	began := time.Now()
	r, err := launch(stateIn(top), environment, append(tracer, line...)...)
	if err != nil {
		return done{}, err
	}
	if c.ask != nil {
		return c.answer(ctx, r, life)
	}
	if life > 0 {
		r.killAfter(life)
	}
	if len(line) == 1 && !c.wipes {
		return serve(r, life)
	}
	result := done{killed: r.killed(), acked: r.out.Len() > 0, ack: ofOutput, took: time.Since(began)}
	if !result.killed && r.err != nil {
		return result, fmt.Errorf("%s: %w\n%s", c.name, r.err, strings.Join(r.log, "\n"))
	}
	return result, nil
}

// line returns the command line of the chore and its environment.
func (c *chore) line(product, top string) (line, environment []string, err error) {
	switch {
	case c.wipes:
		self, err := os.Executable()
		return []string{self}, append(unkept, wipeVariable+"="+databaseIn(top)), err
	case c.words != nil:
		return append([]string{product}, c.words(top)...), unkept, nil
	}
	return []string{product}, unkept, nil
}

// serve waits until the product serves and ends it in order, or until it was killed.
func serve(r *running, life time.Duration) (done, error) {
	if life > 0 {
		return done{killed: r.killed()}, nil
	}
	began := time.Now()
	if _, err := r.serving(); err != nil {
		return done{}, err
	}
	return done{acked: true, ack: ofReady, took: time.Since(began)}, r.stop()
}

// answer asks the product, once it serves, to do the chore.
func (c *chore) answer(ctx context.Context, r *running, life time.Duration) (done, error) {
	address, err := r.serving()
	if err != nil {
		return done{}, err
	}
	h := c.house
	h.dir = r.dir
	if life > 0 {
		r.killAfter(life)
	}
	began := time.Now()
	ack, err := c.ask(ctx, &h, address)
	result := done{acked: err == nil, ack: ack, took: time.Since(began)}
	if life == 0 {
		return result, errors.Join(err, r.stop())
	}
	result.killed = r.killed()
	if errors.Is(err, errRefused) {
		return result, err
	}
	return result, nil // a connection that the kill has ended
}

// place writes what the chore begins with to a new directory.
func (c *chore) place(t *testing.T) string {
	t.Helper()
	top := shortDir(t)
	if err := c.found.write(top); err != nil {
		t.Fatal(err)
	}
	return top
}

// measure does the chore once and learns what the state says before and after it, and how
// long it takes.
func (c *chore) measure(t *testing.T, product string) time.Duration {
	t.Helper()
	top := c.place(t)
	var err error
	if c.before == "" && c.found.paths()["state/sensegate.db"] != nil {
		copied := c.place(t) // reading it migrates it
		if c.before, err = said(databaseIn(copied)); err != nil {
			t.Fatal(err)
		}
	}
	result, err := c.do(t.Context(), product, top, 0)
	if err == nil {
		c.after, err = said(databaseIn(top))
	}
	if err == nil && c.before == "" {
		c.before = c.after
	}
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if err := c.wrong(product, top, true, c.found); err != nil {
		t.Fatalf("%s that came to its end: %v", c.name, err)
	}
	return result.took
}

// wrong returns what is wrong after a crash: the product has to start, and its state to
// say what it did before the chore or after it, with the keys on a disk.
func (c *chore) wrong(product, top string, acked bool, keys *disk) error {
	if err := reopen(product, stateIn(top), unkept...); err != nil {
		return err
	}
	if err := errors.Join(keysKept(keys, "state/", stateIn(top)), nothingForgotten(top)); err != nil {
		return err
	}
	got, err := said(databaseIn(top))
	if err != nil {
		return err
	}
	switch {
	case got == c.after:
	case got == c.before && !acked:
	case got == c.before:
		return fmt.Errorf("%w: what was done and acknowledged", errLost)
	default:
		return fmt.Errorf("half done; after it: %s; before it: %s", firstDifference(c.after, got), firstDifference(c.before, got))
	}
	if c.check == nil {
		return nil
	}
	return c.check(c, top, acked || got == c.after && c.after != c.before)
}

// kill kills the chore at a random moment and returns what is wrong afterwards.
func (c *chore) kill(t *testing.T, product string, length time.Duration, moments *rand.Rand) error {
	t.Helper()
	const tries = 100 // one that comes to its end before is tried again
	for range tries {
		top := c.place(t)
		result, err := c.do(t.Context(), product, top, 1+time.Duration(moments.Int64N(int64(length))))
		if err != nil {
			return err
		}
		if result.killed && moments.IntN(2) == 0 {
			err = killAgain(product, top, time.Duration(moments.Int64N(int64(startLife))))
		}
		if result.killed && err == nil {
			err = c.wrong(product, top, result.acked, c.found)
		}
		if err := errors.Join(err, os.RemoveAll(top)); err != nil || result.killed {
			return err
		}
	}
	return fmt.Errorf("it was never killed in %v", length)
}

// killAgain kills the start that follows.
func killAgain(product, top string, life time.Duration) error {
	r, err := launch(stateIn(top), unkept, product)
	if err != nil {
		return err
	}
	r.killAfter(life)
	if !r.killed() {
		return fmt.Errorf("%w: %w\n%s", errRefusedStart, r.err, strings.Join(r.log, "\n"))
	}
	return nil
}

// cutPower starts the product on n images of the chore.
func (c *chore) cutPower(t *testing.T, product string, n int, counts *tally) {
	t.Helper()
	needStrace(t)
	top, out := c.place(t), filepath.Join(shortDir(t), "trace")
	found, err := readDisk(top)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.do(t.Context(), product, top, 0, tracer(out)...)
	if err != nil {
		t.Fatal(err)
	}
	steps := follow(t, out, top, found)
	acks := &writer{}
	if result.acked {
		acks.acked = []receipt{result.ack}
	}
	left, err := readDisk(top)
	if err != nil {
		t.Fatal(err)
	}
	check := func(dir string, i image) error {
		if i.done[0] > 0 {
			return c.wrong(product, dir, true, left)
		}
		return c.wrong(product, dir, false, found)
	}
	acknowledged := false
	for _, s := range steps {
		acknowledged = acknowledged || s.ack == result.ack && result.acked
	}
	if acknowledged != result.acked {
		t.Fatalf("%s: its acknowledgement is not in the trace", c.name)
	}
	cuts := append(corners(steps), cutsOf(steps, n, rand.New(rand.NewPCG(*seed, 6)))...)
	lookAt(t, steps, found, []*writer{acks}, cuts, check, func(i image, err error) {
		if err != nil {
			err = fmt.Errorf("%v of %d: %w", i, len(steps), err)
		}
		counts.crashed(t, "power cut in: "+c.name, err)
	})
}

// nothingForgotten wants no copy of the database under a name that nothing looks for: it
// would hold for ever what is deleted later.
func nothingForgotten(top string) error {
	copies, err := filepath.Glob(filepath.Join(stateIn(top), "snapshot-*"))
	for _, path := range copies {
		if info, also := os.Stat(path); also != nil || info.Size() > 0 {
			return errors.Join(fmt.Errorf("%s is forgotten", filepath.Base(path)), also)
		}
	}
	return err
}
