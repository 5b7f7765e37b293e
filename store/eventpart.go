package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// partEvents moves on, by a microsecond each, the events that share a time with another
// of their network, where schema 4 allowed it. It can go on after a power cut.
func (db *DB) partEvents(ctx context.Context) error {
	const head = 4 + 8 // network and time
	var late [][]byte
	err := db.bolt.View(func(btx *bolt.Tx) error {
		former := []byte{}
		return btx.Bucket([]byte(events.name)).ForEach(func(key, _ []byte) error {
			if len(former) == head && bytes.HasPrefix(key, former) {
				late = append(late, bytes.Clone(key))
			}
			former = append(former[:0], key[:min(head, len(key))]...)
			return nil
		})
	})
	for keys := range slices.Chunk(late, checksumStep) {
		if err == nil {
			err = db.Update(ctx, func(tx *Tx) error {
				return moveRecords(tx, events, keys, func(record *eventRecord) (eventKey, error) { return record.complete(tx) })
			})
		}
	}
	if err != nil {
		return fmt.Errorf("part events: %w", err)
	}
	return nil
}
