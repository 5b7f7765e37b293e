package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/samples"
)

// Add takes in records of the history. Those of no known form are counted in Skipped.
func (i *Import) Add(ctx context.Context, record HistoryRecord) error {
	i.waiting = append(i.waiting, record)
	i.size += sizeOf(record)
	if i.size < importChunk {
		return nil
	}
	return i.flush(ctx)
}

// sizeOf returns about how many bytes a record takes.
func sizeOf(r HistoryRecord) int {
	const usual = 512
	if r.Block != nil {
		return len(r.Block.Value)
	}
	return usual
}

// flush stores what waits.
func (i *Import) flush(ctx context.Context) error {
	err := i.db.Update(ctx, func(tx *Tx) error {
		for _, r := range i.waiting {
			stored, err := i.store(tx, r)
			if err != nil {
				return err
			}
			if !stored {
				i.Skipped++
			}
		}
		return nil
	})
	i.waiting, i.size = i.waiting[:0], 0
	return err
}

// store stores a record under the ids of this box; stored is false when it is of no known form.
func (i *Import) store(tx *Tx, r HistoryRecord) (stored bool, err error) {
	switch {
	case r.Event != nil:
		return i.storeEvent(tx, *r.Event)
	case r.Armed != nil:
		r.Armed.NetworkID = i.staged.Network
		return true, armed.put(tx, armedKey{i.staged.Network, keyMicros(r.Armed.At)}, *r.Armed)
	case r.Detection != nil:
		return i.storeDetection(tx, *r.Detection)
	case r.Block != nil:
		return i.storeBlock(tx, *r.Block)
	}
	return false, nil
}

func (i *Import) storeEvent(tx *Tx, r eventRecord) (bool, error) {
	id, err := uuid.Parse(r.ID)
	if err != nil || !(r.TS > 0 && r.TS < latestEvent) || !i.people.mapEvent(&r.Event) {
		return false, nil
	}
	r.Seq = 0
	r.NetworkID, r.GuardianID, r.NodeID = i.staged.Network, i.copied.Network.GuardianID, i.nodes[r.NodeID]
	return true, events.put(tx, eventKey{i.staged.Network, keyMicros(r.TS), id}, r)
}

func (i *Import) storeDetection(tx *Tx, r detectionRecord) (bool, error) {
	id, err := uuid.Parse(r.ID)
	thing, known := i.things[r.Sensor]
	if err != nil || !known {
		return false, nil
	}
	r.Home, r.Network, r.Sensor = i.staged.Home, i.staged.Network, thing
	return true, detections.put(tx, detectionKey{i.staged.Home, keyMicros(r.TS), id}, r)
}

func (i *Import) storeBlock(tx *Tx, b samples.Block) (bool, error) {
	err := tx.samples().Import(i.staged.Network, b)
	if errors.Is(err, samples.ErrBlock) {
		return false, nil
	}
	if b.Tier == series.Second || b.Tier == series.FiveSeconds {
		if i.oldest < 0 || b.Start < i.oldest {
			i.oldest = b.Start
		}
	}
	return true, err
}

// sumUp makes the sums that the other box has not made, as far as those of this box are made.
func (i *Import) sumUp(tx *Tx) error {
	var a age
	if err := tx.getMeta(ageKey, &a); err != nil || i.oldest < 0 {
		return err
	}
	return tx.samples().SumImported(i.staged.Network, max(i.copied.Summed, i.oldest), a.Summed)
}

// HistoryBytes returns about how many bytes the history of a network has.
func (db *DB) HistoryBytes(ctx context.Context, network motion.NetworkID) (bytes int64, err error) {
	return Read(ctx, db, func(tx *Tx) (int64, error) {
		return tx.eventBytes(network) + tx.samples().Bytes(network), tx.requireStored(network)
	})
}
