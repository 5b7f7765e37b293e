package store

import (
	"errors"
	"path/filepath"
	"testing"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/home"
)

// TestHomesVacatedBeforeAreForgottenByTheMigration migrates a file of schema 4, in which
// vacated homes left the names of their devices and their alerts behind.
func TestHomesVacatedBeforeAreForgottenByTheMigration(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	db, err := open(options, migrations()[:4])
	if err != nil {
		t.Fatal(err)
	}
	const vacated, owned, neverOwned = "vacated", "owned", "never owned"
	all := map[string]home.Home{vacated: {OwnedBefore: true}, owned: {OwnedBefore: true, ClaimedAt: 1764000000}, neverOwned: {}}
	networks := map[string]motion.NetworkID{}
	err = db.Update(t.Context(), func(tx *Tx) error {
		for name, one := range all {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: name})
			networks[name], one.ExternalID = n.ID, n.ID
			_, homed := tx.CreateHome(one)
			_, leafed := tx.PutLeaf(motion.Leaf{NetworkID: n.ID, MAC: motion.MAC{2, 0xbb}, FriendlyName: "Ada's phone"})
			push := []alert.Action{{Action: alert.FCMPush}}
			_, alerted := tx.CreateAlert(n.ID, alert.Job{Rule: alert.Rule{NoMotion: push}})
			if err := errors.Join(err, homed, leafed, alerted); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = open(options, migrations()); err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		for name, network := range networks {
			leaf, err := tx.LeafByMAC(network, motion.MAC{2, 0xbb})
			alerts, also := tx.Alerts(network)
			if err := errors.Join(err, also); err != nil {
				return err
			}
			if gone := leaf.FriendlyName == "" && len(alerts) == 0; gone != (name == vacated) {
				t.Errorf("%s: leaf %q, %d alerts", name, leaf.FriendlyName, len(alerts))
			}
		}
		var due unwiped
		err := tx.getMeta(wipeKey, &due)
		if due.Deletions != 1 {
			t.Errorf("%d deletions are to be wiped from the file, want 1", due.Deletions)
		}
		return err
	})
	if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}
