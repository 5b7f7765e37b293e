package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store/file"
)

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	file   *file.File
	now    func() time.Time
	logger *slog.Logger
	uses   keyUses

	retention  Retention
	wrapped    func(backUp func() (string, error), migrate func() error) error // Options.Migrate
	deleted    chan struct{}                                                   // holds a value when something is to be wiped
	share      eventShare
	numbered   watchers
	health     health
	unreadable unreadable
	verified   atomic.Bool // a start has found the vital records whole
	importing  sync.Mutex  // held while a network is taken in
}

// Path returns the path of the database file.
func (db *DB) Path() string { return db.file.Path() }

// View runs fn in a read transaction, which sees the database as it was when
// fn began. It returns what fn returns. Damage that it meets closes Failed, after which
// every View and Update is refused: to a page, or, in a database of OpenOrRecover, to a vital
// record.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.file.View(ctx, func(btx *bolt.Tx) error { return fn(db.tx(btx)) })
}

// Read returns what read reads in a transaction of View.
func Read[T any](ctx context.Context, db *DB, read func(*Tx) (T, error)) (value T, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		value, err = read(tx)
		return err
	})
	return value, err
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
//
// A context of Audited has its line written in the same transaction.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	var tx *Tx
	note := auditOf(ctx)
	err := db.file.Update(ctx, func(btx *bolt.Tx) error {
		tx = db.tx(btx)
		if err := fn(tx); err != nil || note == nil {
			return err
		}
		return tx.AddAuditLine(note.line)
	})
	if err != nil {
		return err
	}
	if note != nil {
		note.written.Store(true)
	}
	for _, then := range tx.onCommit {
		then()
	}
	return nil
}

// Failed is closed when a commit failed in a way that leaves its outcome
// unknown, such as an I/O error, or when damage was met. The process must then end and start
// again, so that it reads what is really on the disk, and mends it.
func (db *DB) Failed() <-chan struct{} { return db.file.Failed() }

// Err returns the error that closed Failed, nil before that.
func (db *DB) Err() error { return db.file.Err() }

// Writable returns nil, the fault of kind Unavailable with which Update refuses while
// the disk has too little room, or the error that closed Failed.
func (db *DB) Writable() error { return db.file.Writable() }

// Watch looks at the room on the disk until ctx ends, so that the database becomes
// read-only in time, and writes again soon after there is room. Without it, that
// happens at Open and after a commit for which there was no room.
func (db *DB) Watch(ctx context.Context) error { return db.file.Watch(ctx) }

// Check verifies every page of the file and every index against its records.
// It holds the write lock meanwhile; reading goes on.
func (db *DB) Check(ctx context.Context) error {
	return db.file.Check(func(btx *bolt.Tx) error { return db.tx(btx).checkRecords(ctx) })
}

// Close waits for open transactions, writes the noted uses of API keys and
// releases the file. It must be called once, when nothing uses the database
// any more.
func (db *DB) Close() error {
	var err error
	if db.Err() == nil {
		err = db.Update(context.Background(), (*Tx).WriteKeyUses)
	}
	if fault.KindOf(err) == fault.Unavailable {
		err = nil
	}
	return errors.Join(err, db.file.Close())
}

// tx wraps a transaction of bbolt.
func (db *DB) tx(btx *bolt.Tx) *Tx {
	return &Tx{bolt: btx, db: db, now: motion.TimeOf(db.now())}
}

// Tx is a transaction: the typed methods on it read, and inside an Update also
// write, the records of this package. It must not be used by two goroutines,
// nor after the function it was given to has returned. What its methods return
// are copies.
//
// Of a record that is not there the methods answer a fault of kind NotFound,
// of a value that must be unique and is taken one of kind Conflict. All other
// errors are trouble with the file or its contents.
type Tx struct {
	bolt     *bolt.Tx
	db       *DB
	now      motion.Time
	onCommit []func()
	cuts     []EventCut
}

// Now returns the time at which the transaction began.
func (tx *Tx) Now() motion.Time { return tx.now }

// OnCommit has fn called after the transaction was committed, in the order of
// the calls, on the goroutine that called Update. Nothing happens when it is
// rolled back, or in a View.
func (tx *Tx) OnCommit(fn func()) { tx.onCommit = append(tx.onCommit, fn) }

// bucket returns a bucket by its name. It is never nil: Open made sure that
// every bucket of the schema is there.
func (tx *Tx) bucket(name string) *bolt.Bucket {
	return tx.bolt.Bucket([]byte(name))
}

// metDamage makes the store fail because of a vital record, an entry of its index or a fact
// about the file that cannot be read, as damage to a page does, and returns the error for it;
// nil for nil. Until a start has verified all of these it returns err alone. What is met after
// that has come about since, and the next start finds it: it mends it or refuses, so that
// nothing runs until it meets the same damage again.
func (tx *Tx) metDamage(err error) error {
	if err == nil || !tx.db.verified.Load() {
		return err
	}
	return tx.db.file.Fail(file.Damaged("%s: %w", tx.db.Path(), err))
}

// requireNetwork returns a NotFound fault unless the network exists and has no Handover:
// records that belong to a network cannot outlive it.
func (tx *Tx) requireNetwork(id motion.NetworkID) error {
	if err := tx.requireStored(id); err != nil {
		return err
	}
	return tx.Here(id)
}

// requireStored returns a NotFound fault unless the network exists.
func (tx *Tx) requireStored(id motion.NetworkID) error {
	if tx.bucket(networks.name).Get(key32(id)) == nil {
		return fault.New(fault.NotFound, "network %d: not found", id)
	}
	return nil
}
