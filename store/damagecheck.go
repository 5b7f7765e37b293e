package store

import (
	"bytes"
	"context"
)

// checkRecords verifies that every record can be read and that every index agrees
// with its table, until ctx ends, whose error it returns then. Events and detections that
// cannot be read are counted: no backup is worth more than the others. Samples carry
// checksums of their own and are left out when they are damaged.
func (tx *Tx) checkRecords(ctx context.Context) error {
	if err := tx.checkMeta(); err != nil {
		return err
	}
	for _, t := range allTables() {
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

// checkedTable is a table of any kind of record.
type checkedTable interface {
	bucket() string
	check(context.Context, *Tx) error
	rebuild(*Tx) error
	drop(tx *Tx, key []byte) error
}

// allTables returns all tables: first those that a start reads, then the history.
func allTables() []checkedTable {
	return []checkedTable{
		networks, nodes, radars, leafs, links, status, statusHeard,
		devices, heard, deviceTokens, pending,
		apiKeys, integrationUsers, detectorStates, eventStates,
		alerts, pushes, applicationSettings,
		users, homes, memberships, sessions, familiar,
		invitations, homeLocations, homeMeta, userMeta, sceneConfigs,
		mails, mobiles, deliveries,
		integrations, farewells, sensorCursors, sensors,
		commands, batches, armed, events, detections,
	}
}
