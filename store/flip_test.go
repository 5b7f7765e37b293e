package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/home"
)

// furnished returns the used pages of a database with records of many kinds, and a backup
// of it.
func furnished(t testing.TB) (data, backup []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		for i := range 20 {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint("guardian-", i), Meta: motion.Document{"guardian_env": "local"}})
			if err != nil {
				return err
			}
			node, err := tx.PutNode(motion.Node{NetworkID: n.ID, Name: "GWA1000133", DeviceID: fmt.Sprint("csi-", i)})
			if err != nil {
				return err
			}
			for j := range byte(10) {
				if _, err := tx.PutLeaf(motion.Leaf{NetworkID: n.ID, NodeID: node.ID, MAC: motion.MAC{2, 0, 0, 0, byte(i), j}, FriendlyName: "Kitchen speaker"}); err != nil {
					return err
				}
			}
			one, err := tx.CreateHome(home.New(n.ID))
			if err != nil {
				return err
			}
			user, err := tx.CreateUser(home.User{Email: fmt.Sprintf("person%d@example.com", i), Sub: fmt.Sprint("sub-", i)})
			if err != nil {
				return err
			}
			if _, err := tx.CreateMembership(home.Membership{Home: one.ID, User: user.ID, Role: home.OwnerRole}); err != nil {
				return err
			}
			for j := range 30 {
				event := motion.Event{NetworkID: n.ID, Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, TS: motion.Time(1763999000 + j)}
				if _, _, err := tx.AddEvent(event, fmt.Sprint(j)); err != nil {
					return err
				}
			}
		}
		return nil
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

// records returns what the buckets of records and indexes hold, by bucket and key.
func records(t testing.TB, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := db.View(t.Context(), func(tx *Tx) error {
		return tx.bolt.ForEach(func(name []byte, b *bolt.Bucket) error {
			if string(name) == metaBucket {
				return nil // a recovery is noted there
			}
			return b.ForEach(func(key, value []byte) error {
				all[fmt.Sprintf("%s/%x", name, key)] = string(value)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNoAlteredValueIsServed changes bytes anywhere in a database, 200 times. Each time it
// opens, and every record is either what was written, or lost and told, or of history and
// left out of answers.
func TestNoAlteredValueIsServed(t *testing.T) {
	t.Parallel()
	data, backup := furnished(t)
	whole := at(t, data, backup)
	db, _, err := OpenOrRecover(t.Context(), testOptions(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := records(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	restored, dropped, leftOut := 0, 0, 0
	for round := range 200 {
		broken := bytes.Clone(data)
		for range 1 + random.IntN(4) {
			broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
		}
		db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, broken, backup)))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if recovery != nil && recovery.Backup != "" {
			restored++
		}
		if recovery != nil && recovery.Lost != "" {
			dropped++
		}
		got := records(t, db)
		for key, value := range got {
			if value == want[key] {
				continue
			}
			bucket, encoded, _ := bytes.Cut([]byte(key), []byte("/"))
			var id []byte
			if _, err := fmt.Sscanf(string(encoded), "%x", &id); err != nil {
				t.Fatal(err)
			}
			if _, err := verified(id, []byte(value)); err == nil {
				t.Errorf("round %d: %s at %s is %q, want %q", round, bucket, encoded, value, want[key])
			}
			leftOut++
		}
		if len(got) < len(want) && recovery == nil && db.Health().Unreadable == 0 {
			t.Errorf("round %d: %d of %d records, and nobody is told", round, len(got), len(want))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("200 files: %d restored from the backup, %d without some records, %d records of history left out", restored, dropped, leftOut)
	if restored == 0 || dropped == 0 || leftOut == 0 {
		t.Error("one of the ways out was never taken")
	}
}

// at writes a database and a backup of it to a directory of their own and returns the path
// of the former.
func at(t testing.TB, data, backup []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	copied := filepath.Join(BackupDirectory(path), "20251124T150000Z.backup")
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{path: data, copied: backup} {
		if content == nil {
			continue
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
