package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// TestIndexesFollowPutsAndDeletes compares the table of nodes, which has every
// sort of index, with a map after random changes.
func TestIndexesFollowPutsAndDeletes(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	rapid.Check(t, func(t *rapid.T) {
		model := map[motion.NodeID]motion.Node{}
		err := db.Update(t.Context(), func(tx *Tx) error {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint(tx.bolt.ID())})
			if err != nil {
				return err
			}
			for range rapid.IntRange(1, 30).Draw(t, "changes") {
				changeNode(t, tx, n.ID, model)
			}
			if err := nodes.untyped().check(context.Background(), tx); err != nil {
				t.Fatal(err)
			}
			compareNodes(t, tx, n.ID, model)
			return tx.DeleteNetwork(n.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// changeNode puts or deletes a random node in both tx and model.
func changeNode(t *rapid.T, tx *Tx, network motion.NetworkID, model map[motion.NodeID]motion.Node) {
	ids := slices.Sorted(maps.Keys(model))
	small := rapid.IntRange(0, 3)
	n := motion.Node{
		NetworkID: network,
		DeviceID:  []string{"", "a", "b", "c"}[small.Draw(t, "device")],
		Name:      []string{"A", "B", "C", "AB"}[small.Draw(t, "name")],
		MeshBSSID: motion.MAC{byte(small.Draw(t, "mesh"))},
		P2PBSSID:  motion.MAC{byte(small.Draw(t, "p2p"))},
	}
	if len(ids) > 0 && rapid.Bool().Draw(t, "existing") {
		n.ID = rapid.SampledFrom(ids).Draw(t, "id")
		if rapid.Bool().Draw(t, "delete") {
			delete(model, n.ID)
			if err := tx.DeleteNode(n.ID); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	conflict := false
	for id, other := range model {
		sameDevice := other.DeviceID == n.DeviceID && n.DeviceID != ""
		conflict = conflict || id != n.ID && (sameDevice || other.Name == n.Name)
	}
	stored, err := tx.PutNode(n)
	if conflict != (fault.KindOf(err) == fault.Conflict) || !conflict && err != nil {
		t.Fatalf("put %+v: %v, want conflict %v", n, err, conflict)
	}
	if !conflict {
		model[stored.ID] = stored
	}
}

// compareNodes looks every node up in every way.
func compareNodes(t *rapid.T, tx *Tx, network motion.NetworkID, model map[motion.NodeID]motion.Node) {
	list, err := tx.Nodes(network)
	if err != nil || len(list) != len(model) {
		t.Fatalf("%d nodes, error %v, want %d", len(list), err, len(model))
	}
	for i, id := range slices.Sorted(maps.Keys(model)) {
		want := model[id]
		byName, err := tx.NodeByName(network, want.Name)
		if list[i].ID != id || byName.ID != id || err != nil {
			t.Fatalf("node %d: listed %d, by name %d, error %v", id, list[i].ID, byName.ID, err)
		}
		if want.DeviceID != "" {
			if byDevice, err := tx.NodeByDevice(want.DeviceID); byDevice.ID != id || err != nil {
				t.Fatalf("node %d: by device %d, error %v", id, byDevice.ID, err)
			}
		}
		for _, mac := range want.BSSIDs() {
			found, err := tx.NodesByBSSID(mac)
			has := func(n motion.Node) bool { return n.ID == id && slices.Contains(n.BSSIDs(), mac) }
			if err != nil || !slices.ContainsFunc(found, has) {
				t.Fatalf("node %d: by %s %+v, error %v", id, mac, found, err)
			}
		}
	}
}

func TestConflictChangesNothing(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	err := db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		if err != nil {
			return err
		}
		if _, err := tx.PutNode(motion.Node{NetworkID: n.ID, Name: "A", DeviceID: "a"}); err != nil {
			return err
		}
		b, err := tx.PutNode(motion.Node{NetworkID: n.ID, Name: "B", DeviceID: "b"})
		if err != nil {
			return err
		}
		b.DeviceID, b.Name = "c", "A"
		if _, err := tx.PutNode(b); fault.KindOf(err) != fault.Conflict {
			t.Errorf("error %v, want a conflict", err)
		}
		if found, err := tx.NodeByDevice("b"); found.ID != b.ID {
			t.Errorf("device b is node %d, error %v, want %d", found.ID, err, b.ID)
		}
		if _, err := tx.NodeByDevice("c"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("device c: error %v, want not found", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckFindsAStaleIndex(t *testing.T) {
	t.Parallel()
	db, err := Open(testOptions(t.TempDir() + "/sensegate.db"))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		return tx.bucket("nodes_by_device").Put([]byte("device"), key32(motion.NodeID(7)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if db.Check(t.Context()) == nil {
		t.Error("an index entry without a record is not found")
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		_, err := tx.NodeByDevice("device")
		return err
	})
	if err == nil || fault.KindOf(err) != 0 {
		t.Errorf("error %v, want trouble that is not the caller's", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestTooLongNameIsInvalid(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	err := db.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: string(make([]byte, maxKeySize+1))})
		return err
	})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("error %v, want a fault Invalid", err)
	}
}
