package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
)

// household returns a database with a record of every vital table, and a backup of it.
func household(t *testing.T) (data, backup []byte) {
	t.Helper()
	path := at(t, nil, nil)
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		if err != nil {
			return err
		}
		node, err := tx.PutNode(motion.Node{NetworkID: n.ID, Name: "GWA1000133", DeviceID: "csi-1"})
		if err != nil {
			return err
		}
		device := motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}
		if err := tx.PutDevice(motion.Device{DeviceKey: device, NetworkID: n.ID, NodeID: node.ID}); err != nil {
			return err
		}
		_, tokenErr := tx.IssueToken(device)
		_, _, keyErr := tx.CreateAPIKey(APIKey{Name: "key", NetworkID: n.ID})
		_, _, mqttErr := tx.CreateIntegrationUser(IntegrationUser{Name: "hub", TopicPrefix: "home"})
		h, homeErr := tx.CreateHome(home.New(n.ID))
		user, userErr := tx.CreateUser(home.User{Email: "anna@example.com", Sub: "anna"})
		_, memberErr := tx.CreateMembership(home.Membership{Home: h.ID, User: user.ID, Role: home.OwnerRole})
		return errors.Join(tokenErr, keyErr, mqttErr, homeErr, userErr, memberErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup(t.Context())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if backup, err = os.ReadFile(made.Path); err != nil {
		t.Fatal(err)
	}
	return usedPages(t, path), backup
}

// alterFirst changes a byte of the first value of a bucket, as a failing disk does: no
// checksum follows.
func alterFirst(t *testing.T, db *DB, bucket string) (key []byte) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *Tx) error {
		first, data := tx.bucket(bucket).Cursor().First()
		if first == nil {
			return fmt.Errorf("%s is empty", bucket)
		}
		key, data = bytes.Clone(first), bytes.Clone(data)
		data[len(data)/2] ^= 1
		return tx.bucket(bucket).Put(key, data)
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// readAll reads the records of a vital table in every way there is, until one fails.
func readAll(table untyped, key []byte) map[string]func(*Tx) error {
	ways := map[string]func(*Tx) error{
		"by its key": func(tx *Tx) error { _, err := table.read(tx, key); return err },
		"in a list":  func(tx *Tx) error { return table.each(tx, nil, func(any) {}) },
	}
	for _, index := range table.indexes() {
		ways["by "+index.index] = func(tx *Tx) error {
			return table.eachBy(tx, index.index, nil, func(any) {})
		}
	}
	return ways
}

// TestAlteredVitalRecordMetWhileRunningFailsTheStore alters a record of each vital table, or
// an entry of one of its indexes, while the database is open, and reads it in every way. The
// store fails as for a damaged page, and the next start has it back or, without a backup,
// refuses.
func TestAlteredVitalRecordMetWhileRunningFailsTheStore(t *testing.T) {
	t.Parallel()
	data, backup := household(t)
	vital := 0
	for _, table := range allTables() {
		if !table.vital {
			continue
		}
		vital++
		ways := readAll(table, nil)
		delete(ways, "by nodes_by_bssid")    // no record is in it
		delete(ways, "by users_by_identity") // nor here
		for way := range ways {
			t.Run(table.name+" "+way, func(t *testing.T) {
				t.Parallel()
				for _, copied := range [][]byte{backup, nil} {
					path := at(t, data, copied)
					db := openChecks(t, path)
					key := alterFirst(t, db, table.name)
					failsAt(t, db, readAll(table, key)[way])
					startsMended(t, path, copied != nil, func(tx *Tx) error {
						record, err := table.read(tx, key)
						if returns := table.name != deviceTokens.name && table.name != integrationUsers.name; err == nil && returns != (record != nil) {
							err = fmt.Errorf("the record is there: %v", record != nil)
						}
						return err
					})
				}
			})
		}
		for _, index := range table.indexes() {
			if ways["by "+index.index] == nil {
				continue
			}
			t.Run("an entry of "+index.index, func(t *testing.T) {
				t.Parallel()
				path := at(t, data, nil)
				db := openChecks(t, path)
				alterFirst(t, db, index.index)
				failsAt(t, db, ways["by "+index.index])
				startsMended(t, path, true, ways["by "+index.index])
			})
		}
	}
	if vital < 9 {
		t.Errorf("%d tables are vital, want 9", vital)
	}
}

func TestAlteredFactAboutTheFileMetWhileRunningFailsTheStore(t *testing.T) {
	t.Parallel()
	data, backup := household(t)
	path := at(t, data, backup)
	db := openChecks(t, path)
	err := db.Update(t.Context(), func(tx *Tx) error {
		altered := bytes.Clone(tx.bucket(metaBucket).Get([]byte(installedAtKey)))
		altered[0] ^= 1
		return tx.bucket(metaBucket).Put([]byte(installedAtKey), altered)
	})
	if err != nil {
		t.Fatal(err)
	}
	read := func(tx *Tx) error { _, err := tx.InstalledAt(); return err }
	failsAt(t, db, read)
	startsMended(t, path, true, read)
}

// openChecks opens a database as a start does.
func openChecks(t *testing.T, path string) *DB {
	t.Helper()
	db, recovery, err := OpenOrRecover(t.Context(), testOptions(path))
	if err != nil || recovery != nil {
		t.Fatalf("opened with %v, recovered %+v", err, recovery)
	}
	return db
}

// failsAt wants a read to fail the store, also when who reads does not look at the error and
// writes, and closes it.
func failsAt(t *testing.T, db *DB, read func(*Tx) error) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *Tx) error {
		_ = read(tx)
		return tx.putMeta(adoptionUntilKey, tx.now)
	})
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("read: %v, want ErrDamaged", err)
	}
	select {
	case <-db.Failed():
	default:
		t.Error("Failed is not closed")
	}
	if err := db.Writable(); !errors.Is(err, ErrDamaged) {
		t.Errorf("writable: %v, want ErrDamaged", err)
	}
	if err := db.View(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("reading afterwards: %v, want ErrDamaged", err)
	}
	_ = db.Close()
}

// startsMended starts a database again. Reading it fails no more, or the start says that it
// cannot be mended: it never runs until it meets the same damage once more.
func startsMended(t *testing.T, path string, mends bool, read func(*Tx) error) {
	t.Helper()
	db, _, err := OpenOrRecover(t.Context(), testOptions(path))
	if !mends {
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "to begin anew on purpose") {
			t.Errorf("the start: %v, want one that says how to begin anew", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("the start: %v", err)
	}
	if err := errors.Join(db.View(t.Context(), read), db.Err(), db.Check(t.Context()), db.Close()); err != nil {
		t.Errorf("after the start: %v", err)
	}
}

// TestVitalRecordsAreVerifiedHoweverLongItTakes gives the start no time for the rest.
func TestVitalRecordsAreVerifiedHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	data, _ := household(t)
	for _, bucket := range []string{memberships.name, "memberships_by_user"} {
		db, err := Open(testOptions(at(t, data, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.checkAtStart(t.Context(), 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("whole: %v, want that time is over", err)
		}
		alterFirst(t, db, bucket)
		if err := db.checkAtStart(t.Context(), 0); err == nil || !strings.Contains(err.Error(), bucket) {
			t.Errorf("%s altered: %v, want that it is told", bucket, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
