package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	berrors "go.etcd.io/bbolt/errors"
)

// errIndex says that an index does not agree with its table.
var errIndex = errors.New("index")

// errVital says that a record cannot be left out.
var errVital = errors.New("it is vital")

// mostDropped is how many records that cannot be read are dropped before a backup is the
// better choice.
const mostDropped = 64

// mend verifies the records for checkTime at most. It rebuilds wrong indexes, which loses
// nothing, and drops records that cannot be read, unless they are vital. lost tells which,
// such as "2 of leafs".
func (db *DB) mend(ctx context.Context) (lost string, err error) {
	dropped := map[string]int{}
	rebuilt := false
	for left := mostDropped; ; left-- {
		met := db.checkAtStart(ctx)
		var unread *recordError
		switch {
		case errors.As(met, &unread) && left > 0:
			err = db.dropRecord(ctx, unread)
			dropped[unread.table]++
		case errors.Is(met, errIndex) && !rebuilt:
			err = db.rebuildIndexes(ctx, met)
			rebuilt = true
		default:
			return tally(dropped), met
		}
		if errors.Is(err, errVital) {
			dropped[unread.table]--
			err = met
		}
		if err != nil {
			return tally(dropped), err
		}
	}
}

// tally says how many of each kind there are, "" of none.
func tally(counts map[string]int) string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] == 0 {
			continue
		}
		said = append(said, fmt.Sprintf("%d of %s", counts[name], name))
	}
	return strings.Join(said, ", ")
}

// checkAtStart verifies the records for checkTime at most.
func (db *DB) checkAtStart(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return db.View(limited, func(tx *Tx) error { return tx.checkRecords(limited) })
}

// dropRecord deletes a record that cannot be read. errVital: it stays.
func (db *DB) dropRecord(ctx context.Context, unread *recordError) error {
	at := slices.IndexFunc(allTables(), func(t checkedTable) bool { return t.bucket() == unread.table })
	if at < 0 {
		return errVital // of no table: a fact about the file itself
	}
	if err := db.Update(ctx, func(tx *Tx) error { return allTables()[at].drop(tx, unread.key) }); err != nil {
		return fmt.Errorf("drop a record that cannot be read: %w", err)
	}
	db.logger.Error("a record cannot be read and is lost", "bucket", unread.table, "key", hex.EncodeToString(unread.key), "err", unread.err)
	return nil
}

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

// drop deletes a record that cannot be read, and whatever names it. A vital one stays.
func (t table[K, V]) drop(tx *Tx, key []byte) error {
	if t.vital {
		return errVital
	}
	if err := reindex(tx, key, entriesNaming(tx, t.indexNames(), key), nil); err != nil {
		return err
	}
	return tx.bucket(t.name).Delete(key)
}

// bucket returns the name of a table's bucket.
func (t table[K, V]) bucket() string { return t.name }

// rebuild makes the indexes of a table anew. A unique key that two records claim is an
// error; records of history that cannot be decoded get no entry.
func (t table[K, V]) rebuild(tx *Tx) error {
	for _, index := range t.indexes {
		name := []byte(index.name)
		if err := tx.bolt.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
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
		return reindex(tx, key, nil, entries)
	})
}
