package store_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// fixedTime makes every transaction happen at 2025-11-24T16:00:00Z.
func fixedTime(o *store.Options) {
	o.Now = func() time.Time { return time.Unix(1764000000, 0) }
}

func TestNetworkIsFoundByIDAndGuardian(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	var created motion.Network
	update(t, db, func(tx *store.Tx) (err error) {
		created, err = tx.CreateNetwork(motion.Network{GuardianID: "a41f", Meta: motion.Document{"dwm": map[string]any{"groupId": "lab"}}})
		return err
	})
	if created.ID != 1 || created.CreatedAt != 1764000000 || created.UpdatedAt != 1764000000 {
		t.Errorf("created %+v, want id 1 at 1764000000", created)
	}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		return err
	})
	wantKind(t, err, fault.Conflict)
	created.Meta["guardian_env"] = "local"
	update(t, db, func(tx *store.Tx) error { return tx.PutNetwork(created) })
	view(t, db, func(tx *store.Tx) error {
		byID, err1 := tx.Network(1)
		byGuardian, err2 := tx.NetworkByGuardian("a41f")
		all, err3 := tx.Networks()
		for _, diff := range []string{cmp.Diff(created, byID), cmp.Diff(created, byGuardian), cmp.Diff([]motion.Network{created}, all)} {
			if diff != "" {
				t.Error(diff)
			}
		}
		_, err := tx.Network(2)
		wantKind(t, err, fault.NotFound)
		_, err = tx.NetworkByGuardian("b")
		wantKind(t, err, fault.NotFound)
		return errors.Join(err1, err2, err3)
	})
	err = db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutNetwork(motion.Network{ID: 2}) })
	wantKind(t, err, fault.NotFound)
}

func TestNodesAndLeafsShareOneSequence(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	kitchen := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	update(t, db, func(tx *store.Tx) error {
		node, err1 := tx.PutNode(motion.Node{NetworkID: network, Name: "GWA1000133"})
		leaf, err2 := tx.PutLeaf(motion.Leaf{NetworkID: network, MAC: kitchen})
		other, err3 := tx.PutNode(motion.Node{NetworkID: network, Name: "EXA1000134"})
		if node.ID != 1 || leaf.ID != 2 || other.ID != 3 {
			t.Errorf("ids %d, %d, %d, want 1, 2, 3", node.ID, leaf.ID, other.ID)
		}
		return errors.Join(err1, err2, err3)
	})
	view(t, db, func(tx *store.Tx) error {
		leaf, err := tx.LeafByMAC(network, kitchen)
		if leaf.ID != 2 {
			t.Errorf("leaf %+v, want id 2", leaf)
		}
		_, foreign := tx.LeafByMAC(network+1, kitchen)
		wantKind(t, foreign, fault.NotFound)
		return err
	})
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutLeaf(motion.Leaf{NetworkID: network, MAC: kitchen})
		return err
	})
	wantKind(t, err, fault.Conflict)
}

func TestRadarLinkAndStatusAreTheLastOnes(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	sounding := true
	report := motion.StatusReport{
		NetworkID: network, TS: 1764000000.3, Version: motion.Document{"core": "0.7.2"},
		Leafblower: map[string]motion.Choice{"02:bb:00:00:00:31": {IsStatic: "STATIC", Sounding: &sounding, AP: map[string]float64{"GWA1000133": 0.98}}},
		Radars:     map[string]motion.Radar{"GWA1000133": {DeviceID: "csi-a", Uptime: "451300.93", Links: []motion.RadarLink{{RSSI: "-59"}}}},
	}
	link := motion.Link{Name: "GWA1000133.02bb00000031", NetworkID: network, RSSI: -59}
	update(t, db, func(tx *store.Tx) error {
		node, err := tx.PutNode(motion.Node{NetworkID: network, Name: "GWA1000133"})
		return errors.Join(err, tx.PutRadar(node.ID, motion.Radar{Uptime: "1"}), tx.PutRadar(node.ID, report.Radars["GWA1000133"]),
			tx.PutLink(motion.Link{Name: link.Name, NetworkID: network}), tx.PutLink(link), tx.PutStatus(report))
	})
	view(t, db, func(tx *store.Tx) error {
		radar, err1 := tx.Radar(1)
		status, err2 := tx.Status(network)
		list, err3 := tx.Links(network)
		one, err4 := tx.Link(network, link.Name)
		for _, diff := range []string{
			cmp.Diff(report.Radars["GWA1000133"], radar), cmp.Diff(report, status),
			cmp.Diff([]motion.Link{link}, list), cmp.Diff(link, one),
		} {
			if diff != "" {
				t.Error(diff)
			}
		}
		_, err := tx.Radar(2)
		wantKind(t, err, fault.NotFound)
		return errors.Join(err1, err2, err3, err4)
	})
	update(t, db, func(tx *store.Tx) error {
		return errors.Join(tx.DeleteStatus(network), tx.DeleteStatus(network), tx.DeleteLink(network, link.Name), tx.DeleteNode(1))
	})
	view(t, db, func(tx *store.Tx) error {
		_, noStatus := tx.Status(network)
		_, noLink := tx.Link(network, link.Name)
		_, noRadar := tx.Radar(1)
		for _, err := range []error{noStatus, noLink, noRadar} {
			wantKind(t, err, fault.NotFound)
		}
		return nil
	})
}

func TestRecordsNeedTheirNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	for name, put := range map[string]func(*store.Tx) error{
		"node":   func(tx *store.Tx) error { _, err := tx.PutNode(motion.Node{NetworkID: 9, Name: "n"}); return err },
		"leaf":   func(tx *store.Tx) error { _, err := tx.PutLeaf(motion.Leaf{NetworkID: 9}); return err },
		"link":   func(tx *store.Tx) error { return tx.PutLink(motion.Link{NetworkID: 9, Name: "l"}) },
		"status": func(tx *store.Tx) error { return tx.PutStatus(motion.StatusReport{NetworkID: 9}) },
		"event":  func(tx *store.Tx) error { _, _, err := tx.AddEvent(motion.Event{NetworkID: 9, TS: 1}, ""); return err },
		"device": func(tx *store.Tx) error { return tx.PutDevice(motion.Device{NetworkID: 9}) },
		"state":  func(tx *store.Tx) error { return tx.PutEventState(9, json.RawMessage("{}")) },
		"key": func(tx *store.Tx) error {
			_, _, err := tx.CreateAPIKey(store.APIKey{Name: "k", NetworkID: 9})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantKind(t, db.Update(t.Context(), put), fault.NotFound)
		})
	}
}

func TestStatesArePerNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	first, second := newNetwork(t, db, "a"), newNetwork(t, db, "b")
	update(t, db, func(tx *store.Tx) error {
		return errors.Join(tx.PutDetectorState(first, json.RawMessage(`{"learned":1}`)), tx.PutEventState(second, json.RawMessage(`[2]`)))
	})
	view(t, db, func(tx *store.Tx) error {
		detector, err1 := tx.DetectorState(first)
		none, err2 := tx.EventState(first)
		machine, err3 := tx.EventState(second)
		if string(detector) != `{"learned":1}` || none != nil || string(machine) != `[2]` {
			t.Errorf("states %s, %s, %s", detector, none, machine)
		}
		return errors.Join(err1, err2, err3)
	})
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutEventState(first, json.RawMessage("{")) }); err == nil {
		t.Error("stored a state that is no JSON")
	}
}

func TestDeletedNetworkTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	gone, stays := newNetwork(t, db, "gone"), newNetwork(t, db, "stays")
	for _, network := range []motion.NetworkID{gone, stays} {
		update(t, db, func(tx *store.Tx) error {
			name := string(rune('a' + network))
			key := motion.DeviceKey{Kind: motion.Guardian, ID: name}
			node, err1 := tx.PutNode(motion.Node{NetworkID: network, Name: "A", DeviceID: name})
			_, err2 := tx.PutLeaf(motion.Leaf{NetworkID: network, MAC: motion.MAC{2}})
			_, _, err3 := tx.AddEvent(motion.Event{NetworkID: network, TS: 5}, "once")
			_, _, err4 := tx.CreateAPIKey(store.APIKey{Name: name, NetworkID: network})
			err5 := tx.PutDevice(motion.Device{DeviceKey: key, NetworkID: network})
			_, err6 := tx.IssueToken(key)
			return errors.Join(err1, err2, err3, err4, err5, err6, tx.PutRadar(node.ID, motion.Radar{}),
				tx.PutLink(motion.Link{NetworkID: network, Name: "l"}), tx.PutStatus(motion.StatusReport{NetworkID: network}),
				tx.PutDetectorState(network, json.RawMessage("1")), tx.PutEventState(network, json.RawMessage("1")),
				tx.PutApplicationSettings(motion.DefaultApplicationSettings(network)))
		})
	}
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(gone) })
	count := func(network motion.NetworkID) (n int) {
		view(t, db, func(tx *store.Tx) error {
			nodes, err1 := tx.Nodes(network)
			leafs, err2 := tx.Leafs(network)
			links, err3 := tx.Links(network)
			devices, err4 := tx.NetworkDevices(network)
			events, err5 := tx.Events(store.EventQuery{Network: network})
			state, err6 := tx.DetectorState(network)
			machine, err7 := tx.EventState(network)
			n = len(nodes) + len(leafs) + len(links) + len(devices) + len(events) + len(state) + len(machine)
			return errors.Join(err1, err2, err3, err4, err5, err6, err7)
		})
		return n
	}
	if count(gone) != 0 || count(stays) != 7 {
		t.Errorf("%d records left and %d of the other network, want 0 and 7", count(gone), count(stays))
	}
	view(t, db, func(tx *store.Tx) error {
		keys, err := tx.APIKeys()
		if len(keys) != 1 || keys[0].NetworkID != stays {
			t.Errorf("keys %+v, want that of network %d", keys, stays)
		}
		return err
	})
	if next := newNetwork(t, db, "next"); next != stays+1 {
		t.Errorf("id %d after %d: ids are not used again", next, stays)
	}
}
