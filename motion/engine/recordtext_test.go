package engine_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter"
	"sensegate/motion/jsonwriter/jsonwritertest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// recordWall is what the clock says in the test of records.
const recordWall motion.Time = 1_764_000_000.25

// lot draws records of networks, the same ones for the same seed.
type lot struct{ *rand.Rand }

func (l lot) chance(of int) bool { return l.IntN(of) == 0 }

func (l lot) text() string {
	return []string{"", "Kitchen", "Küche <b>&amp;</b>", "a\"b\\c", "line\u2028end", "1.4.2", "9e672846789a9c9b76686f52"}[l.IntN(7)]
}

// time returns a moment of the last minutes, an old one, or none.
func (l lot) time() motion.Time {
	return []motion.Time{0, recordWall, recordWall - motion.Time(l.IntN(200))/2, recordWall - 1e6, recordWall + 3}[l.IntN(5)]
}

func (l lot) mac() motion.MAC {
	if l.chance(4) {
		return motion.MAC{}
	}
	return motion.MAC{2, 0, 0, 0, byte(l.IntN(256)), byte(l.IntN(256))}
}

func (l lot) radar(node motion.Node) motion.Radar {
	r := motion.Radar{
		DeviceID: node.DeviceID, NodeName: node.Name, TS: l.time(), Age: float64(l.IntN(50)) / 4, GatewayBSSID: l.mac(), MeshBSSID: l.mac(), P2PBSSID: l.mac(),
		APBSSID2GHz: l.mac(), APBSSID5GHz: l.mac(), HWID: l.text(), HWVersion: l.text(), FWVersion: l.text(), Uptime: "180000.00", StatusTime: l.Float64(),
	}
	if l.chance(2) {
		r.Mem, r.Load = map[string]string{"total": l.text(), "free": l.text()}, []string{"0.96", l.text()}
		r.Version = motion.Document{"algos": map[string]any{"omot": l.text()}, "build": l.Float64(), "none": nil}
	}
	for i := range l.IntN(4) {
		port := motion.Interface{Name: fmt.Sprint("wlan", i), Type: "WIFI_AP", MAC: l.mac(), IP: l.text(), WifiChannel: i, MotionEnabled: l.chance(2)}
		if l.chance(2) {
			port.Routes = []motion.Document{{"dst": "0.0.0.0", "gateway": l.text()}, {}}
		}
		r.Interfaces = append(r.Interfaces, port)
	}
	return r
}

// status returns a report of a guardian.
func (l lot) status(network motion.Network, nodes []motion.Node, leafs []motion.Leaf) motion.StatusReport {
	tripped := l.IntN(2)
	r := motion.StatusReport{
		TS: l.time(), NetworkID: network.ID, GuardianID: network.GuardianID, MotionEnabled: l.IntN(2), MotionTripped: &tripped, LastMotion: l.time(), Rev: l.IntN(3),
		Version: motion.Document{"core": l.text()}, Leafblower: map[string]motion.Choice{}, Radars: map[string]motion.Radar{},
	}
	for _, node := range nodes {
		r.Radars[node.Name] = l.radar(node)
	}
	for _, leaf := range leafs {
		sounding := l.chance(2)
		r.Leafblower[leaf.MAC.String()] = motion.Choice{IsStatic: "STATIC", Sounding: &sounding, AP: map[string]float64{"A": l.Float64()}}
	}
	return r
}

// network writes a network with its nodes, leafs and links.
func (l lot) network(tx *store.Tx, i int) error {
	network, err := tx.CreateNetwork(motion.Network{
		GuardianID: fmt.Sprint("guardian-", i), LastHeard: l.time(), Meta: motion.Document{"name": l.text()},
		GuardianConfig: motion.Document{"motion_events": map[string]any{"enabled": l.IntN(2)}},
	})
	if err != nil {
		return err
	}
	if l.chance(4) {
		network.StatusCleared = recordWall - 30
	}
	var nodes []motion.Node
	var leafs []motion.Leaf
	for k := range l.IntN(4) {
		node, err := tx.PutNode(motion.Node{
			NetworkID: network.ID, DeviceID: fmt.Sprintf("csi-%d-%d", i, k), Name: fmt.Sprintf("%c%d", 'Z'-k, i), RootMode: l.IntN(3), LocationID: l.text(), APBSSID2GHz: motion.MAC{2, 1, 0, 0, byte(i), byte(k)}, LastHeard: l.time(),
		})
		if err != nil {
			return err
		}
		nodes, network.MasterID = append(nodes, node), node.ID
		if l.chance(4) {
			continue
		}
		if err := tx.PutRadar(node.ID, l.radar(node)); err != nil {
			return err
		}
	}
	for k := range l.IntN(5) {
		leaf, err := tx.PutLeaf(motion.Leaf{
			NetworkID: network.ID, MAC: motion.MAC{2, 2, 0, 0, byte(i), byte(9 - k)}, Hostname: l.text(), IP: l.text(), Location: l.text(), Mobile: l.chance(3), MLDMAC: l.mac(),
		})
		if err != nil {
			return err
		}
		leafs = append(leafs, leaf)
	}
	if err := l.links(tx, nodes, leafs); err != nil {
		return err
	}
	if l.chance(3) {
		if err := tx.PutStatus(l.status(network, nodes, leafs)); err != nil {
			return err
		}
	}
	return tx.PutNetwork(network)
}

// links writes links of leafs and between nodes, and some at nodes that are not there.
func (l lot) links(tx *store.Tx, nodes []motion.Node, leafs []motion.Leaf) error {
	for i, node := range nodes {
		for _, leaf := range leafs {
			if l.chance(3) {
				continue
			}
			link := motion.Link{NetworkID: node.NetworkID, Dst: node.ID, Src: leaf.ID, DstName: node.Name, SrcName: leaf.MAC.Name(), RSSI: -l.IntN(90), Sounding: !l.chance(4), Online: !l.chance(4)}
			link.IfName = []string{state.MatrixInterface, state.SensedInterface, "wlan0"}[l.IntN(3)]
			if l.chance(6) {
				link.Dst, link.DstName = 0, "GONE"
			}
			link.Name = motion.LinkName(link.DstName, link.SrcName)
			if err := tx.PutLink(link); err != nil {
				return err
			}
		}
		if i > 0 {
			link := motion.Link{NetworkID: node.NetworkID, Name: motion.LinkName(node.Name, nodes[0].Name), Dst: node.ID, Src: nodes[0].ID, DstName: node.Name, SrcName: nodes[0].Name, Mesh: true, IfName: state.MatrixInterface, Sounding: true, Online: true}
			if err := tx.PutLink(link); err != nil {
				return err
			}
		}
	}
	return nil
}

// hear changes what is known of a network this minute.
func (l lot) hear(e *engine.Engine, n *state.Network) {
	n.Mu.Lock()
	n.Reported, n.Source.Heard, n.Reach.Received, n.Heartbeat.LastMotion = l.time(), l.time(), l.time(), l.time()
	n.Source.Holder = []state.Holder{"", state.GuardianHolds, state.OwnHolds}[l.IntN(3)]
	if n.Status != nil && l.chance(5) {
		n.Status = nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.Links)) {
		link := n.Links[name]
		link.Heard = l.time()
		link.LeftOut = []string{"", "", state.ReasonLowScore}[l.IntN(3)]
		link.Throughput = fuse.Reading(l.Float64())
	}
	var keys []motion.DeviceKey
	for _, id := range slices.Sorted(maps.Keys(n.Nodes)) {
		keys = append(keys, motion.DeviceKey{Kind: motion.RadarKind, ID: n.Nodes[id].DeviceID})
	}
	keys = append(keys, n.Record.GuardianKey())
	n.Mu.Unlock()
	for _, key := range keys {
		switch l.IntN(4) {
		case 0:
			e.State.BeginSession(motion.Device{DeviceKey: key, NetworkID: n.ID})
			e.State.Connected(key, netip.IPv6Loopback())
		case 1:
			e.State.Heard(key, recordWall-motion.Time(l.IntN(200)))
		case 2:
			e.State.Disconnected(key, "test")
		}
	}
}

// change changes records, settings or meta, as people and devices do.
func (l lot) change(t *testing.T, e *engine.Engine, n *state.Network) {
	t.Helper()
	n.Mu.Lock()
	nodes := slices.SortedFunc(maps.Values(n.Nodes), func(a, b motion.Node) int { return int(a.ID) - int(b.ID) })
	leafs := slices.SortedFunc(maps.Values(n.Leafs), func(a, b motion.Leaf) int { return int(a.ID) - int(b.ID) })
	n.Mu.Unlock()
	var err error
	put := func(write func(tx *store.Tx) error) {
		if err = e.State.DB.Update(t.Context(), write); err == nil {
			err = e.State.Reload(t.Context(), n.ID)
		}
	}
	kind := l.IntN(9)
	switch {
	case kind == 0:
		_, err = e.Inventory.ChangeConfig(t.Context(), n.ID, false, func(_ *store.Tx, record *motion.Network) error {
			record.Meta = motion.Document{"name": l.text(), "dwm": map[string]any{"groupId": l.Float64()}}
			return nil
		})
	case kind == 1:
		err = e.Inventory.Pause(t.Context(), n.ID, 60)
	case kind == 2:
		err = e.Inventory.Resume(t.Context(), n.ID)
	case kind == 3:
		_, err = e.Inventory.ChangeConfig(t.Context(), n.ID, false, func(_ *store.Tx, record *motion.Network) error {
			record.GuardianConfig = motion.Document{"motion_events": map[string]any{"enabled": l.IntN(2), "cooldown": 30 + l.IntN(9)}}
			record.RadarConfig = motion.Document{"sounding": map[string]any{"enabled": l.IntN(4) % 2, "mode": []string{"allow", "deny"}[l.IntN(2)]}}
			return nil
		})
	case kind == 4:
		n.ClearStatus(recordWall + 100)
	case kind == 5 && len(leafs) > 0:
		err = e.Inventory.PlaceLeaf(t.Context(), n.ID, leafs[0].MAC, l.text(), l.text())
	case kind == 6 && len(nodes) > 0: // it boots with another firmware
		put(func(tx *store.Tx) error { return tx.PutRadar(nodes[0].ID, l.radar(nodes[0])) })
	case kind == 7 && len(nodes) > 0:
		put(func(tx *store.Tx) error { return tx.DeleteNode(nodes[0].ID) })
	case kind == 8:
		n.Mu.Lock()
		report := l.status(n.Record, nodes, leafs)
		n.Status = &report
		n.Mu.Unlock()
	}
	if err != nil {
		t.Fatalf("change %d: %v", kind, err)
	}
}

// Whatever networks have in them and whatever changes, the answer says what the database and the minute say, in
// the bytes of encoding/json.
func FuzzRecordsAreThoseOfTheDatabaseByEncodingJSON(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		l := lot{rand.New(rand.NewPCG(seed, 0))}
		db := storetest.Open(t)
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for i := range 6 {
				if err := l.network(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wall := func() time.Time { return recordWall.Std() }
		e, err := engine.New(t.Context(), db, engine.Options{Now: wall})
		if err != nil {
			t.Fatal(err)
		}
		e.Introduce(unreachable{})
		ids := e.Inventory.NetworksByMeta(func(motion.Document) bool { return true })
		for range 12 {
			sameAsReference(t, e, ids)
			for _, id := range ids {
				n, err := e.State.Network(id)
				if err != nil {
					t.Fatal(err)
				}
				l.hear(e, n)
				l.change(t, e, n)
			}
		}
	})
}

// A node may be named as the address of a leaf. The links of both at another node are then of the leaf, of which the
// report says one score.
func TestAComposedReportNamesANodeOnceForALeaf(t *testing.T) {
	db := storetest.Open(t)
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		network, err := tx.CreateNetwork(motion.Network{GuardianID: "guardian"})
		if err != nil {
			return err
		}
		leaf, err := tx.PutLeaf(motion.Leaf{NetworkID: network.ID, MAC: motion.MAC{2, 2, 0, 0, 0, 9}})
		if err != nil {
			return err
		}
		for i, name := range []string{"A", leaf.MAC.String()} {
			if _, err := tx.PutNode(motion.Node{NetworkID: network.ID, DeviceID: fmt.Sprint("csi-", i), Name: name, LastHeard: recordWall}); err != nil {
				return err
			}
		}
		for _, src := range []string{leaf.MAC.Name(), leaf.MAC.String()} {
			link := motion.Link{NetworkID: network.ID, Name: motion.LinkName("A", src), DstName: "A", SrcName: src, Src: leaf.ID}
			if err := tx.PutLink(link); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), db, engine.Options{Now: func() time.Time { return recordWall.Std() }})
	if err != nil {
		t.Fatal(err)
	}
	status, err := e.Inventory.Status(1)
	if err != nil || !bytes.Contains(status, []byte(`"ap":{"A":0}`)) {
		t.Errorf("status %s, %v", status, err)
	}
}

// sameAsReference compares the records and reports of networks with the reference.
func sameAsReference(t *testing.T, e *engine.Engine, ids []motion.NetworkID) {
	t.Helper()
	found, err := e.Inventory.NetworkStates(ids)
	if err != nil || found.Len() != len(ids) {
		t.Fatal(found.Len(), err)
	}
	for i, id := range ids {
		for _, expand := range []bool{false, true} {
			var w jsonwriter.Writer
			var wanted func(motion.Node) bool
			if expand {
				wanted = func(motion.Node) bool { return true }
			}
			found.Write(&w, i, wanted)
			want := referenceOf(t, e, id, expand)
			sameText(t, w.Out, jsonwritertest.ByEncodingJSON(t, want, false))
			if status, err := e.Inventory.Status(id); err == nil {
				sameText(t, status, want.LastStatus)
			} else if string(want.LastStatus) != "null" {
				t.Fatal(err)
			}
		}
	}
}

// sameText compares two texts, and shows where they part.
func sameText(t *testing.T, got, want []byte) {
	t.Helper()
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	if at < max(len(got), len(want)) {
		t.Fatalf("at byte %d:\n%q\nwant\n%q", at, got[max(0, at-60):min(len(got), at+60)], want[max(0, at-60):min(len(want), at+60)])
	}
}
