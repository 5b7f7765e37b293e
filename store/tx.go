package store

import (
	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/fault"
)

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

// requireNetwork returns a NotFound fault unless the network exists: records
// that belong to a network cannot outlive it.
func (tx *Tx) requireNetwork(id motion.NetworkID) error {
	if tx.bucket(networks.name).Get(key32(id)) == nil {
		return fault.New(fault.NotFound, "network %d: not found", id)
	}
	return nil
}
