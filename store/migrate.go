package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/store/file"
)

// The bucket of facts about the file itself, and its keys.
const (
	metaBucket       = "meta"
	schemaKey        = "schema"
	installedAtKey   = "installed_at"
	adoptionUntilKey = "adoption_until"
)

// migration changes a file from the schema before it to its own version, in one
// transaction but for what comes first.
type migration struct {
	version int
	first   func(*DB, context.Context) error // what is changed before, in transactions of their own, and can be done again; nil: nothing
	buckets []string                         // that it adds
	apply   func(*Tx) error                  // further changes; nil: none
}

// migrations returns every migration there ever was, oldest first. The list is
// appended to; a released entry is never changed.
func migrations() []migration {
	return []migration{
		{version: 1, buckets: bucketsV1(), apply: (*Tx).stampInstallation},
		{version: 2, buckets: bucketsV2()},
		{version: 3}, // values get checksums, which former programs cannot read
		{version: 4, first: (*DB).addChecksums, buckets: bucketsV4(), apply: (*Tx).toV4},
		{version: 5, first: (*DB).partEvents, apply: (*Tx).forgetHouseholds},
		{version: 6, buckets: []string{audit.name}},
		{version: 7, buckets: []string{uplinks.name, uplinkCursors.name, eventsBySeq, rooms.name, published.name}, apply: (*Tx).makeInstance},
		{version: 8}, // blocks of samples may hold levels, which former programs cannot read
		{version: 9}, // nor these: packs of blocks, blocks of version 2
	}
}

// bucketsV1 returns the buckets of the first schema.
func bucketsV1() []string {
	return []string{
		metaBucket,
		"networks", "networks_by_guardian",
		"nodes", "nodes_by_device", "nodes_by_bssid", "nodes_by_name", "radars",
		"leafs", "leafs_by_mac", "links", "status",
		"events", "events_by_id", "events_by_dedupe",
		"devices", "devices_by_network", "heard", "device_tokens", "pending",
		"api_keys", "api_keys_by_hash", "api_keys_by_name", "integration_users",
		"detector_states", "event_states",
		"commands", "commands_by_network", "commands_by_node", "commands_by_batch", "commands_by_state", "commands_by_trigger",
		"batches", "batches_by_network",
		"application_settings",
		"alerts", "pushes",
		"samples_journal", "samples_1s", "samples_5s",
	}
}

// bucketsV2 returns what schema 2 added: people and homes with what is theirs, sums of
// samples by the minute and the quarter of an hour, what each report says anew, pushes to
// phones, and third-party sensors with their detections.
func bucketsV2() []string {
	return []string{
		"users", "users_by_email", "users_by_sub", "users_by_identity", "users_by_unconfirmed",
		"sessions", "sessions_by_user", "sessions_by_expiry", "familiar",
		"homes", "homes_by_network",
		"memberships", "memberships_by_home", "memberships_by_user",
		"samples_60s", "samples_900s", "status_heard",
		"invitations", "invitations_by_home",
		"home_locations", "home_locations_by_home", "home_meta", "user_meta",
		"scene_configs", "armed",
		"mails", "mails_by_address", "mails_by_user", "mails_by_home", "mails_by_due",
		"mobiles", "mobiles_by_token", "mobiles_by_user", "deliveries", "deliveries_by_due", "deliveries_by_network",
		"sensor_integrations", "sensor_integrations_by_home", "sensor_integrations_by_account",
		"sensor_farewells", "sensor_cursors", "sensors", "sensors_by_home", "detections", "detections_by_sensor",
	}
}

// bucketsV4 returns what schema 4 added.
func bucketsV4() []string {
	return []string{"adoption_windows"}
}

// toV4 changes what schema 2 stored in another form, one step for each kind of record.
func (tx *Tx) toV4() error {
	for _, step := range []func() error{tx.settleOwners, tx.nameDevices, tx.pendingToV4} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// migrate brings the file to the version of the last step. An existing file is
// copied first, unless it is a copy that is being checked.
func (db *DB) migrate(steps []migration, candidate bool) error {
	version, err := db.schema()
	if err != nil {
		return err
	}
	if version == 0 && candidate {
		return fmt.Errorf("%w: it is %w, it holds nothing of it", ErrDamaged, ErrForeign)
	}
	last := steps[len(steps)-1].version
	if version > last {
		return fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewer, version, last)
	}
	if version == last {
		return nil
	}
	apply := func() error { return db.applyFrom(version, steps) }
	switch {
	case version == 0 || candidate:
		return apply()
	case db.wrapped != nil:
		return db.wrapped(func() (string, error) { return db.backUpFirst(version) }, apply)
	}
	if _, err := db.backUpFirst(version); errors.Is(err, ErrNoRoom) {
		db.logger.Warn("database not backed up before migration", "err", err)
	} else if err != nil {
		return err
	}
	return apply()
}

// applyFrom runs the migrations of a file of a version, 0 for a new one.
func (db *DB) applyFrom(version int, steps []migration) error {
	for _, step := range steps {
		if step.version <= version {
			continue
		}
		if step.first != nil {
			if err := step.first(db, context.Background()); err != nil {
				return fmt.Errorf("migrate to schema %d: %w", step.version, err)
			}
		}
		if err := db.apply(step); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", step.version, err)
		}
		if version > 0 {
			db.logger.Info("database migrated", "schema", step.version)
		}
	}
	if version == 0 {
		db.logger.Info("database made", "schema", steps[len(steps)-1].version)
	}
	return nil
}

// apply runs one migration.
func (db *DB) apply(step migration) error {
	btx, err := db.file.Bolt.Begin(true)
	if err != nil {
		return err
	}
	defer btx.Rollback()
	for _, name := range step.buckets {
		if _, err := btx.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
	}
	tx := db.tx(btx)
	if step.apply != nil {
		if err := step.apply(tx); err != nil {
			return err
		}
	}
	if err := tx.putMeta(schemaKey, step.version); err != nil {
		return err
	}
	return btx.Commit()
}

// schema returns the version of the file, 0 when it is empty.
func (db *DB) schema() (version int, err error) {
	err = db.file.Bolt.View(func(btx *bolt.Tx) error {
		if key, _ := btx.Cursor().First(); key == nil {
			return nil
		}
		if btx.Bucket([]byte(metaBucket)) == nil {
			return fmt.Errorf("it is a bbolt file, but %w: name another file", ErrForeign)
		}
		return db.tx(btx).getMeta(schemaKey, &version)
	})
	return version, err
}

// requireBuckets makes sure that every bucket of the schema is there, so that
// Tx.bucket never returns nil.
func (db *DB) requireBuckets(steps []migration) error {
	return db.file.Bolt.View(func(btx *bolt.Tx) error {
		for _, step := range steps {
			for _, name := range step.buckets {
				if btx.Bucket([]byte(name)) == nil {
					return file.Damaged("bucket %s is missing", name)
				}
			}
		}
		return nil
	})
}

// backUpFirst makes a backup before a migration and returns its path.
func (db *DB) backUpFirst(version int) (path string, err error) {
	unchecked := func(string) error { return nil } // its indexes are those of another schema
	made, err := db.file.Backup(context.Background(), fmt.Sprintf("-schema%d", version), unchecked)
	if err == nil {
		db.logger.Info("database backed up before migration", "path", made.Path)
	}
	return made.Path, err
}

// stampInstallation records when the file was made.
func (tx *Tx) stampInstallation() error { return tx.putMeta(installedAtKey, tx.now) }

// InstalledAt returns when this database was made: the start of the
// installation.
func (tx *Tx) InstalledAt() (at motion.Time, err error) {
	err = tx.getMeta(installedAtKey, &at)
	return at, err
}

// getMeta decodes the value at key of the meta bucket into v, and leaves v
// alone when there is none.
func (tx *Tx) getMeta(key string, v any) error {
	data := tx.bucket(metaBucket).Get([]byte(key))
	if data == nil {
		return nil
	}
	text, err := data, error(nil)
	if key != schemaKey {
		text, err = verified([]byte(key), data)
	}
	if err != nil {
		return tx.metDamage(&recordError{table: metaBucket, key: []byte(key), err: err})
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &recordError{table: metaBucket, key: []byte(key), err: err}
	}
	return nil
}

// putMeta stores v at key of the meta bucket. The schema has no checksum, as every
// program must be able to read it.
func (tx *Tx) putMeta(key string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s of %s: %w", key, metaBucket, err)
	}
	if key != schemaKey {
		data = summed([]byte(key), data)
	}
	if err := tx.bucket(metaBucket).Put([]byte(key), data); err != nil {
		return fmt.Errorf("put %s of %s: %w", key, metaBucket, err)
	}
	return nil
}

// partEvents moves on, by a microsecond each, the events that share a time with another
// of their network, where schema 4 allowed it. It can go on after a power cut.
func (db *DB) partEvents(ctx context.Context) error {
	const head = 4 + 8 // network and time
	var late [][]byte
	err := db.file.Bolt.View(func(btx *bolt.Tx) error {
		former := []byte{}
		return btx.Bucket([]byte(events.name)).ForEach(func(key, _ []byte) error {
			if len(former) == head && bytes.HasPrefix(key, former) {
				late = append(late, bytes.Clone(key))
			}
			former = append(former[:0], key[:min(head, len(key))]...)
			return nil
		})
	})
	for keys := range slices.Chunk(late, recordsPerTx) {
		if err == nil {
			err = db.Update(ctx, func(tx *Tx) error {
				return moveRecords(tx, &events, keys, func(record *eventRecord) (eventKey, error) { return record.complete(tx) })
			})
		}
	}
	if err != nil {
		return fmt.Errorf("part events: %w", err)
	}
	return nil
}
