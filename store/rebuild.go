package store

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// errIndex says that an index does not agree with its table.
var errIndex = errors.New("index")

// rebuildIndexes makes every index anew from the records of its table, in one transaction.
// Nothing is lost by it: an index holds nothing that its records do not.
func (db *DB) rebuildIndexes(ctx context.Context, damage error) error {
	err := db.Update(ctx, func(tx *Tx) error {
		for _, t := range allTables() {
			if err := t.rebuild(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("rebuild indexes: %w", err)
	}
	db.logger.Warn("an index was damaged: all were rebuilt from their records, nothing is lost", "damage", damage)
	return nil
}

// rebuild makes the indexes of a table anew. A unique key that two records claim is an
// error; records of history that cannot be decoded get no entry.
func (t table[K, V]) rebuild(tx *Tx) error {
	for _, index := range t.indexes {
		name := []byte(index.name)
		if err := tx.bolt.DeleteBucket(name); err != nil && !errors.Is(err, bolt.ErrBucketNotFound) {
			return fmt.Errorf("drop %s: %w", index.name, err)
		}
		if _, err := tx.bolt.CreateBucket(name); err != nil {
			return fmt.Errorf("create %s: %w", index.name, err)
		}
	}
	if len(t.indexes) == 0 {
		return nil
	}
	return tx.bucket(t.name).ForEach(func(key, data []byte) error {
		v, err := t.decode(key, data)
		if err != nil && t.history {
			tx.db.leaveOut(t.name, key, err)
			return nil
		}
		if err != nil {
			return err
		}
		entries := t.entries(key, v)
		for _, e := range entries {
			if holder := tx.bucket(e.index).Get(e.key); holder != nil {
				return fmt.Errorf("%s: records %x and %x have the same %s", t.name, holder, key, e.noun)
			}
		}
		return t.reindex(tx, key, nil, entries)
	})
}
