package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"sensegate/motion"
)

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	path    string
	now     func() time.Time
	logger  *slog.Logger
	bolt    *bolt.DB
	file    *os.File // the handle that bolt writes to and that holds the lock
	readers readers
	uses    keyUses

	retention  Retention
	writes     writes
	candidate  bool          // a copy that is being checked
	backing    sync.Mutex    // held while a backup is made
	deleted    chan struct{} // holds a value when something is to be wiped
	space      space
	share      eventShare
	health     health
	unreadable unreadable

	failOnce sync.Once
	failed   chan struct{}
	failure  error // set before failed is closed
}

// Path returns the path of the database file.
func (db *DB) Path() string { return db.path }

// View runs fn in a read transaction, which sees the database as it was when
// fn began. It returns what fn returns. Damage that it meets closes Failed, after which
// every View and Update is refused.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.Err(); err != nil {
		return err
	}
	defer db.readers.begin()()
	return db.guarded(func() error {
		btx, err := db.bolt.Begin(false)
		if err != nil {
			return fmt.Errorf("begin reading %s: %w", db.path, err)
		}
		defer btx.Rollback()
		return fn(db.tx(btx))
	})
}

// Update runs fn in the one write transaction, waiting for its turn. When fn
// returns nil, what it wrote is on the disk before Update returns, and the
// functions given to Tx.OnCommit have run; when fn returns an error, or panics,
// nothing was written. A transaction that changed nothing costs no sync.
//
// A full disk, one with less than Options.MinFree, or a file at Options.MaxSize, is
// a fault of kind Unavailable; the database works again when there is room. After
// any other failed commit it is unknown what is on the disk: every later Update is
// refused and Failed is closed.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.Err(); err != nil {
		return err
	}
	var tx *Tx
	err := db.guarded(func() error {
		btx, err := db.bolt.Begin(true)
		if err != nil {
			return fmt.Errorf("begin writing %s: %w", db.path, err)
		}
		defer btx.Rollback()
		if err := db.Writable(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		tx = db.tx(btx)
		if err := fn(tx); err != nil {
			return err
		}
		return db.commit(btx)
	})
	if err != nil {
		return err
	}
	for _, then := range tx.onCommit {
		then()
	}
	return nil
}

// commit makes what btx changed durable. bbolt materialises a node for every
// change, so that a transaction without nodes has nothing to write.
func (db *DB) commit(btx *bolt.Tx) error {
	if stats := btx.Stats(); stats.GetNodeCount() == 0 {
		return btx.Rollback()
	}
	size := db.fileSize()
	err := btx.Commit()
	switch {
	case err == nil:
		stats := btx.Stats()
		db.writes.count(stats.GetPageAlloc(), db.bolt.Info().PageSize, db.fileSize() > size)
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, berrors.ErrMaxSizeReached):
		return db.noRoom()
	}
	return db.fail(fmt.Errorf("commit to %s: %w", db.path, err))
}

// fail records the first failed commit and stops all further ones.
func (db *DB) fail(err error) error {
	db.failOnce.Do(func() {
		db.failure = err
		close(db.failed)
		db.logger.Error("storing failed: the appliance stops, so that it starts again from what is really on the disk", "err", err)
	})
	return err
}

// Failed is closed when a commit failed in a way that leaves its outcome
// unknown, such as an I/O error. The process must then end and start again, so
// that it reads what is really on the disk.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Err returns the error that closed Failed, nil before that.
func (db *DB) Err() error {
	select {
	case <-db.failed:
		return db.failure
	default:
		return nil
	}
}

// Check verifies every page of the file and every index against its records.
// It holds the write lock meanwhile; reading goes on.
func (db *DB) Check(ctx context.Context) error {
	return db.guarded(func() error { return db.check(ctx) })
}

// check is Check without the guard.
func (db *DB) check(ctx context.Context) error {
	btx, err := db.bolt.Begin(true)
	if err != nil {
		return fmt.Errorf("begin checking %s: %w", db.path, err)
	}
	defer btx.Rollback()
	var problems []error
	for problem := range btx.Check() {
		problems = append(problems, problem)
	}
	if len(problems) > 0 {
		return fmt.Errorf("check %s: %w", db.path, errors.Join(problems...))
	}
	if err := db.tx(btx).checkRecords(ctx); err != nil {
		return fmt.Errorf("check %s: %w", db.path, err)
	}
	return nil
}

// Close waits for open transactions, writes the noted uses of API keys and
// releases the file. It must be called once, when nothing uses the database
// any more.
func (db *DB) Close() error {
	err := db.letGo()
	if db.Err() != nil {
		return errors.Join(err, db.abandon())
	}
	if err := db.bolt.Close(); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return err
}

// abandonTime is how long closing a failed database may take.
const abandonTime = 2 * time.Second

// abandon closes a database that has failed. A panic may have left a lock of bbolt held:
// then only the lock of the file is released, and the process ends with the rest. The
// process id stays beside the file, so that the next start knows.
func (db *DB) abandon() error {
	closed := make(chan error, 1)
	go func() { closed <- db.bolt.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(abandonTime):
		return db.file.Close()
	}
}

// tx wraps a transaction of bbolt.
func (db *DB) tx(btx *bolt.Tx) *Tx {
	return &Tx{bolt: btx, db: db, now: motion.TimeOf(db.now())}
}
