package file

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// View runs fn in a read transaction and returns what fn returns. Damage that it meets
// closes Failed, after which every View and Update is refused.
func (f *File) View(ctx context.Context, fn func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.Err(); err != nil {
		return err
	}
	defer f.readers.begin()()
	return f.guarded(func() error {
		btx, err := f.Bolt.Begin(false)
		if err != nil {
			return fmt.Errorf("begin reading %s: %w", f.path, err)
		}
		defer btx.Rollback()
		return fn(btx)
	})
}

// Update runs fn in the one write transaction, waiting for its turn. When fn returns nil,
// what it wrote is on the disk before Update returns; when fn returns an error, or panics,
// nothing was written. A transaction that changed nothing costs no sync.
//
// A full disk, one with less than Options.MinFree, or a file at Options.MaxSize, is
// a fault of kind Unavailable; the file can be written again when there is room. After
// any other failed commit it is unknown what is on the disk: every later Update is
// refused and Failed is closed.
func (f *File) Update(ctx context.Context, fn func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.Err(); err != nil {
		return err
	}
	return f.guarded(func() error {
		btx, err := f.Bolt.Begin(true)
		if err != nil {
			return fmt.Errorf("begin writing %s: %w", f.path, err)
		}
		defer btx.Rollback()
		if err := f.Writable(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(btx); err != nil {
			return err
		}
		if err := f.Err(); err != nil {
			return err
		}
		return f.commit(btx)
	})
}

// commit makes what btx changed durable. bbolt materialises a node for every
// change, so that a transaction without nodes has nothing to write.
func (f *File) commit(btx *bolt.Tx) error {
	if stats := btx.Stats(); stats.GetNodeCount() == 0 {
		return btx.Rollback()
	}
	size := f.Size()
	err := btx.Commit()
	switch {
	case err == nil:
		stats := btx.Stats()
		f.writes.count(stats.GetPageAlloc(), f.Bolt.Info().PageSize, f.Size() > size)
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, berrors.ErrMaxSizeReached):
		return f.noRoom()
	}
	return f.Fail(fmt.Errorf("commit to %s: %w", f.path, err))
}

// Fail records the first failed commit, or damage that was met, stops all further commits and
// returns err.
func (f *File) Fail(err error) error {
	f.failOnce.Do(func() {
		f.failure = err
		close(f.failed)
		f.logger.Error("storing failed: the appliance stops, so that it starts again from what is really on the disk", "err", err)
	})
	return err
}

// Failed is closed when a commit failed in a way that leaves its outcome
// unknown, such as an I/O error, or when damage was met. The process must then end and start
// again, so that it reads what is really on the disk, and mends it.
func (f *File) Failed() <-chan struct{} { return f.failed }

// Err returns the error that closed Failed, nil before that.
func (f *File) Err() error {
	select {
	case <-f.failed:
		return f.failure
	default:
		return nil
	}
}

// Check verifies every page of the file and calls records with the transaction in which it
// does so. It holds the write lock meanwhile; reading goes on.
func (f *File) Check(records func(*bolt.Tx) error) error {
	return f.guarded(func() error {
		btx, err := f.Bolt.Begin(true)
		if err != nil {
			return fmt.Errorf("begin checking %s: %w", f.path, err)
		}
		defer btx.Rollback()
		var problems []error
		for problem := range btx.Check() {
			problems = append(problems, problem)
		}
		err = errors.Join(problems...)
		if err == nil {
			err = records(btx)
		}
		if err != nil {
			return fmt.Errorf("check %s: %w", f.path, err)
		}
		return nil
	})
}

// guarded runs fn, which uses the mapped file. Damage that bbolt meets there makes it
// panic, and a page that the disk cannot give any more makes the system fault. Either is
// made an error that wraps ErrDamaged and closes Failed: the process has to end and start
// again, where the file is verified and recovered.
func (f *File) guarded(fn func() error) error {
	met, err := damageMet(fn)
	if met != nil {
		return f.Fail(Damaged("%s cannot be read: %v", f.path, met))
	}
	return err
}

// damageMet runs fn, which uses the mapped file, and returns the panic or fault with which
// damage cut it short, nil for none. Other panics go on.
func damageMet(fn func() error) (met any, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		met = recover()
		if met == nil {
			return
		}
		_, isFault := met.(interface{ Addr() uintptr })
		if !isFault && !panickedInBolt() {
			panic(met)
		}
	}()
	return nil, fn()
}

// boltModule begins the names of bbolt's functions.
const boltModule = "go.etcd.io/bbolt"

// panickedInBolt reports whether the panic that runs was raised by a function of bbolt. A
// deferred function calls it: the stack is that of the panic still.
func panickedInBolt() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for raised := false; ; {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		switch {
		case raised && !inRuntime:
			return strings.HasPrefix(frame.Function, boltModule)
		case frame.Function == "runtime.gopanic":
			raised = true
		}
		if !more {
			return false
		}
	}
}

// readers knows the read transactions that are open, so that those can be waited for that
// may see pages which a commit has freed. The zero value is ready.
type readers struct {
	mu   sync.Mutex
	open *sync.WaitGroup // since the last wait
}

// begin counts a reader that is about to begin and returns what to call when it has ended.
func (r *readers) begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = new(sync.WaitGroup)
	}
	r.open.Add(1)
	return r.open.Done
}

// wait returns when all readers that had begun before have ended. Others begin meanwhile.
// One wait at a time.
func (r *readers) wait() {
	r.mu.Lock()
	former := r.open
	r.open = nil
	r.mu.Unlock()
	if former != nil {
		former.Wait()
	}
}
