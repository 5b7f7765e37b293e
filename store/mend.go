package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// errIndex says that an index does not agree with its table.
var errIndex = errors.New("index")

// errVital says that a record cannot be left out.
var errVital = errors.New("it is vital")

// mostDropped is how many records that cannot be read are dropped before a backup is the
// better choice.
const mostDropped = 64

// mend verifies the records, those that are not vital for checkTime at most. It rebuilds wrong indexes, which loses
// nothing, and drops records that cannot be read, unless they are vital. lost tells which,
// such as "2 of leafs".
func (db *DB) mend(ctx context.Context) (lost string, err error) {
	dropped := map[string]int{}
	rebuilt := false
	for left := mostDropped; ; left-- {
		met := db.checkAtStart(ctx, checkTime)
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

// checkAtStart verifies the vital records however long that takes: when one of them is met
// later, the store fails and the next start has to mend it. It verifies the others for a
// limited time.
func (db *DB) checkAtStart(ctx context.Context, limit time.Duration) error {
	var vital, others []untyped
	for _, t := range allTables() {
		if t.vital {
			vital = append(vital, t)
		} else {
			others = append(others, t)
		}
	}
	if err := db.View(ctx, func(tx *Tx) error { return tx.checkTables(ctx, vital) }); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return db.View(limited, func(tx *Tx) error { return tx.checkTables(limited, others) })
}

// dropRecord deletes a record that cannot be read. errVital: it stays. After an adoption
// window, those that are not known are closed.
func (db *DB) dropRecord(ctx context.Context, unread *recordError) error {
	tables := allTables()
	at := slices.IndexFunc(tables, func(t untyped) bool { return t.name == unread.table })
	if at < 0 {
		return errVital // of no table: a fact about the file itself
	}
	isWindow := unread.table == windows.name
	err := db.Update(ctx, func(tx *Tx) error {
		if err := tables[at].drop(tx, unread.key); err != nil || !isWindow {
			return err
		}
		return tx.closeUnknownWindows()
	})
	if err != nil {
		return fmt.Errorf("drop a record that cannot be read: %w", err)
	}
	db.logger.Error("a record cannot be read and is lost", "bucket", unread.table, "key", hex.EncodeToString(unread.key), "err", unread.err)
	if isWindow {
		db.logger.Warn("the adoption window of each network is closed whose own is not known")
	}
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

// checkRecords verifies that every record can be read and that every index agrees
// with its table, until ctx ends, whose error it returns then. Events and detections that
// cannot be read are counted: no backup is worth more than the others. Samples carry
// checksums of their own and are left out when they are damaged.
func (tx *Tx) checkRecords(ctx context.Context) error { return tx.checkTables(ctx, allTables()) }

// checkTables is checkRecords of some tables, and of the facts about the file.
func (tx *Tx) checkTables(ctx context.Context, tables []untyped) error {
	if err := tx.checkMeta(); err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.check(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// checkMeta verifies the facts about the file itself.
func (tx *Tx) checkMeta() error {
	err := tx.bucket(metaBucket).ForEach(func(key, value []byte) error {
		if string(key) == schemaKey {
			return nil // read before this
		}
		if _, err := verified(key, value); err != nil {
			return &recordError{table: metaBucket, key: bytes.Clone(key), err: err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var a age
	return tx.getMeta(ageKey, &a)
}

// allTables returns every table: first those that a start reads, then the history.
func allTables() (tables []untyped) {
	for _, r := range salvageRules() {
		tables = append(tables, r.untyped)
	}
	return tables
}
