package store

import (
	"bytes"
	"context"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/samples"
)

// HistoryRecord is one record of the history of a network that goes to another box; exactly one
// of its fields is set.
type HistoryRecord struct {
	Event     *eventRecord     `json:"event,omitempty"`
	Armed     *armedRecord     `json:"armed,omitempty"`
	Detection *detectionRecord `json:"detection,omitempty"`
	Block     *samples.Block   `json:"samples,omitempty"`
}

// copyChunk is how many bytes of the history one transaction reads: one that lasted longer would
// keep the file from growing.
const copyChunk = 512 << 10

// historyCopy reads the history of a network.
type historyCopy struct {
	db         *DB
	network    motion.NetworkID
	take       func([]HistoryRecord) error
	unreadable int
}

// CopyHistory calls take with the history of a network, of each kind in the order of time, some
// records at a time and outside of any transaction: take may wait. What is added meanwhile may
// or may not be among them. unreadable is how many records were left out. NotFound: there is no
// such network, or not any more.
func (s *Samples) CopyHistory(ctx context.Context, network motion.NetworkID, take func([]HistoryRecord) error) (unreadable int, err error) {
	c := &historyCopy{db: s.db, network: network, take: take}
	prefix, err := Read(ctx, s.db, func(tx *Tx) ([]byte, error) {
		h, found, err := tx.HomeOfNetwork(network)
		if !found {
			return nil, err
		}
		return key32(h.ID), err
	})
	if err == nil {
		err = copyRecords(ctx, c, &events, key32(network), func(r *eventRecord) HistoryRecord {
			r.Seq = 0 // its place on this box's way to its uplinks
			return HistoryRecord{Event: r}
		})
	}
	if err == nil {
		err = copyRecords(ctx, c, &armed, key32(network), func(r *armedRecord) HistoryRecord { return HistoryRecord{Armed: r} })
	}
	if err == nil && prefix != nil {
		err = copyRecords(ctx, c, &detections, prefix, func(r *detectionRecord) HistoryRecord { return HistoryRecord{Detection: r} })
	}
	if err == nil {
		err = c.copyOpen(s.heads) // first: what is sealed meanwhile is read then
	}
	for _, tier := range series.Tiers() {
		if err == nil {
			err = c.copySealed(ctx, tier)
		}
	}
	return c.unreadable, err
}

// view reads in a transaction, while there is such a network.
func (c *historyCopy) view(ctx context.Context, fn func(*Tx)) error {
	return c.db.View(ctx, func(tx *Tx) error {
		err := tx.requireStored(c.network)
		if err == nil {
			fn(tx)
		}
		return err
	})
}

// copyRecords copies the records of a table whose keys begin with prefix.
func copyRecords[K, V any](ctx context.Context, c *historyCopy, t *table[K, V], prefix []byte, wrap func(*V) HistoryRecord) error {
	for next := prefix; next != nil; {
		var found []HistoryRecord
		from := next
		err := c.view(ctx, func(tx *Tx) {
			size := 0
			cursor := tx.bucket(t.name).Cursor()
			key, data := cursor.Seek(from)
			for ; bytes.HasPrefix(key, prefix) && key != nil && size < copyChunk; key, data = cursor.Next() {
				size += len(key) + len(data)
				if record, ok := t.readable(tx, key, data); ok {
					found = append(found, wrap(&record))
				} else {
					c.unreadable++
				}
			}
			if next = nil; bytes.HasPrefix(key, prefix) {
				next = bytes.Clone(key)
			}
		})
		if err != nil {
			return err
		}
		if err := c.take(found); err != nil {
			return err
		}
	}
	return nil
}

// copyOpen copies the open blocks.
func (c *historyCopy) copyOpen(heads *samples.Heads) error {
	var open []HistoryRecord
	for _, b := range heads.Open(c.network) {
		open = append(open, HistoryRecord{Block: &b})
	}
	return c.take(open)
}

// copySealed copies the sealed blocks of a tier.
func (c *historyCopy) copySealed(ctx context.Context, tier series.Tier) error {
	for next := int64(0); next >= 0; {
		var blocks []samples.Block
		err := c.view(ctx, func(tx *Tx) {
			var damaged int
			blocks, next, damaged = tx.samples().Blocks(c.network, tier, next, copyChunk)
			c.unreadable += damaged
		})
		if err != nil {
			return err
		}
		found := make([]HistoryRecord, len(blocks))
		for i := range blocks {
			found[i].Block = &blocks[i]
		}
		if err := c.take(found); err != nil {
			return err
		}
	}
	return nil
}

// SealSamples seals the open samples of a network in a transaction, before their time: a copy that is
// made afterwards has all of them, though the memory is let go of.
func (s *Samples) SealSamples(tx *Tx, network motion.NetworkID) error {
	return s.heads.SealAll(tx.samples(), network)
}
