package store

import (
	"context"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/samples"
)

// Samples holds the motion samples of all networks: the open blocks in memory,
// their journal, the sealed blocks and their sums in the database. Its
// methods may be called concurrently.
type Samples struct {
	db    *DB
	heads *samples.Heads
}

// Value is one series' value at one moment.
type Value = series.Value

// age is how far the samples have been brought up to date, kept in the meta bucket.
type age struct {
	// Summed is the second, a multiple of an hour, before which every block that
	// ended has been summed up in the tiers above it.
	Summed    int64          `json:"summed"`
	Retention retentionClock `json:"retention"`
	Expiring  bool           `json:"expiring,omitempty"` // more records are past their retention than one flush deletes
}

const ageKey = "samples"

// OpenSamples refills the open blocks from the journal: what a restart finds.
// Damaged journal entries are left out and named by the error, which leaves the
// Samples usable.
func OpenSamples(ctx context.Context, db *DB) (*Samples, error) {
	s := &Samples{db: db, heads: samples.New(db.Writable, func(seconds int64) {
		if db.health.lose(seconds) {
			db.logger.Error("nothing could be stored for too long: the oldest samples in memory are given up")
		}
	})}
	damaged, err := Read(ctx, db, func(tx *Tx) (damaged, err error) { return s.heads.Replay(tx.samples()) })
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return s, damaged
}

// samples returns the transaction as the package of samples takes it.
func (tx *Tx) samples() samples.Tx {
	return samples.Tx{Bolt: tx.bolt, Now: tx.now, Logger: tx.db.logger, OnCommit: tx.OnCommit}
}

// Add takes one live frame of a network: for each series the intensity or share
// at ts. Frames of the same second are combined (Block.AddFrame).
func (s *Samples) Add(network motion.NetworkID, ts motion.Time, values []Value) {
	s.heads.Add(network, ts, values)
}

// Fill takes one 5 s sample that starts at ts from a device's history. It
// replaces nothing that is held for the same time.
func (s *Samples) Fill(network motion.NetworkID, ts motion.Time, values []Value) {
	s.heads.Fill(network, ts, values)
}

// Forget lets go of what is in memory of a network that was deleted, after the
// transaction with Tx.DeleteNetwork. What comes for it afterwards is not written.
func (s *Samples) Forget(id motion.NetworkID) { s.heads.Forget(id) }

// Set returns the samples of a network that a query of [from, to) in buckets of so many
// seconds, or multiples of them, needs (series.Need), without what is past its retention: of
// the series in only when there are any there, which takes less memory and time.
// Damaged blocks are left out and named by the error; the Set is usable all the same.
func (s *Samples) Set(ctx context.Context, network motion.NetworkID, from, to, bucket int64, only ...series.ID) (*series.Set, error) {
	reading := s.heads.Read(network, from, to, bucket, only...)
	err := s.db.View(ctx, func(tx *Tx) error {
		var a age
		if err := tx.getMeta(ageKey, &a); err != nil {
			return err
		}
		reading.AddSealed(tx.bolt, a.Summed, s.db.retention.since(tx.now.Second()))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	return reading.Set()
}

// Flush writes what is new in memory, brings the sums up to date and deletes what is
// past its retention, records too. It belongs in the transaction of the regular flush.
func (s *Samples) Flush(tx *Tx) error {
	for _, network := range s.heads.Networks() {
		if tx.requireNetwork(network) != nil { // a frame came for one that had just been deleted
			s.Forget(network)
		}
	}
	var before age
	if err := tx.getMeta(ageKey, &before); err != nil {
		return err
	}
	after := before
	var err error
	if after.Summed, err = s.heads.Flush(tx.samples(), before.Summed); err != nil {
		return err
	}
	if after.Summed != before.Summed {
		after.Retention = before.Retention.step(tx.now.Second())
		after.Expiring = true
	}
	if after.Expiring {
		after.Expiring = tx.expireRecords(after.Retention.At)
	}
	if after != before {
		if err := tx.putMeta(ageKey, after); err != nil {
			return err
		}
	}
	return tx.samples().Expire(tx.db.retention.since(after.Retention.At), after.Summed)
}
