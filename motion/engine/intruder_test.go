package engine_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// stranger is what the master of a network of its own posts.
func stranger(location string) motion.Bootstrap {
	return motion.Bootstrap{LocationID: location, Radar: motion.Radar{DeviceID: "csi-" + location, NodeName: "N" + location, RootMode: motion.RootModeMaster}}
}

// tokens has the home's master post again and log in with the new tokens, which it returns.
func (b *box) tokens() (guardian, radar string) {
	b.t.Helper()
	a := b.post(master(), "")
	b.State.Disconnected(guardianKey, "taken over")
	b.State.Disconnected(masterKey, "taken over")
	b.connect(location, a.GuardianToken)
	b.connect(masterID, a.RadarToken)
	return a.GuardianToken, a.RadarToken
}

// own gives a claimed network an owner, a new user unless there is one of that name.
func (b *box) own(id motion.NetworkID, name string) {
	b.t.Helper()
	err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		one, _, err := tx.HomeOfNetwork(id)
		if err != nil {
			return err
		}
		members, err := tx.MembershipsOfHome(one.ID)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := tx.DeleteMembership(m.ID); err != nil {
				return err
			}
		}
		user, known, err := tx.UserByEmail(name + "@example.com")
		if err == nil && !known {
			user, err = tx.CreateUser(home.User{Email: name + "@example.com", Sub: "sub-" + name})
		}
		if err != nil {
			return err
		}
		_, err = tx.CreateMembership(home.Membership{Role: home.OwnerRole, User: user.ID, Home: one.ID})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestBSSIDIsNoClaimToAPlace has a guardian tell of a node with the BSSIDs of another home
// before that home is there, and another stranger post with them.
func TestBSSIDIsNoClaimToAPlace(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		evil := b.post(stranger("evil"), "")
		b.claim(evil.Network)
		key := b.connect("evil", evil.GuardianToken)
		ghost := motion.Radar{DeviceID: "csi-ghost", NodeName: "GHOST", RootMode: 1, MeshBSSID: masterBH, APBSSID2GHz: masterAP}
		b.report(key, motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: map[string]motion.Radar{"GHOST": ghost}})
		own := b.postFrom(elsewhere, master(), "").Network
		byMesh := newcomer("unknown", 1)
		byMesh.Radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: motion.PeerMesh}}
		if a := b.postFrom(elsewhere, byMesh, ""); a.Network != own {
			t.Errorf("an extender that hears its master is put into network %d, want %d", a.Network, own)
		}
		twin := stranger("twin")
		twin.Radar.MeshBSSID = masterBH
		b.postFrom(netip.MustParseAddr("192.168.10.98"), twin, "")
		late := newcomer("unknown2", 1)
		late.Radar.DeviceID, late.Radar.NodeName, late.Radar.Links = "csi-late", "LATE", byMesh.Radar.Links
		b.wantWaiting(elsewhere, late, "", several)
	})
}

const several = "devices of several networks say that they have the BSSID it hears: open an adoption window of its own network alone, or approve it there"

// TestOwnerGetsTheExtenderWhoseMeshSeveralNetworksClaim has another home's master say that
// the BSSIDs of the home are its own.
func TestOwnerGetsTheExtenderWhoseMeshSeveralNetworksClaim(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		ctx := context.Background()
		evil := b.postFrom(elsewhere, stranger("evil"), "")
		id, third := b.home(), b.postFrom(elsewhere, stranger("third"), "").Network
		for network, name := range map[motion.NetworkID]string{id: "olga", evil.Network: "eve", third: "tom"} {
			b.claim(network)
			b.own(network, name)
		}
		time.Sleep(25 * time.Hour)
		twin := stranger("evil")
		twin.Radar.MeshBSSID = masterBH
		evil = b.postFrom(elsewhere, twin, evil.RadarToken)
		extender := func(name string) motion.Bootstrap {
			p := newcomer("unknown", 1)
			p.Radar.DeviceID, p.Radar.NodeName = name, name
			p.Radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: motion.PeerMesh}}
			return p
		}
		wantTold := func(network motion.NetworkID, want ...string) {
			t.Helper()
			synctest.Wait()
			b.view(func(tx *store.Tx) error {
				list, err := tx.Events(store.EventQuery{Network: network, Last: 100, Kinds: []string{motion.DeviceRefusedEvent}, Ascending: true})
				var got []string
				for _, e := range list {
					got = append(got, e.DeviceID+" "+e.Detail.Text("reason"))
				}
				if !slices.Equal(got, want) {
					t.Errorf("network %d is told %q, want %q", network, got, want)
				}
				return err
			})
		}
		const elsewhereIn = "devices of several networks say that they have the BSSID it hears: another one has let it in"

		ghost := motion.Radar{DeviceID: "ext1", NodeName: "GHOST", RootMode: 1}
		b.report(b.connect("evil", evil.GuardianToken), motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: map[string]motion.Radar{"GHOST": ghost}})
		for range 2 {
			b.wantWaiting(address, extender("ext1"), "", several)
		}
		wantTold(id, "ext1 "+several)
		wantTold(evil.Network, "ext1 "+several)
		if _, err := b.Devices.OpenAdoption(ctx, id, 600); err != nil {
			t.Fatal(err)
		}
		if a := b.post(extender("ext1"), ""); a.Network != id {
			t.Errorf("in the only open window: %+v", a)
		}
		wantTold(evil.Network, "ext1 "+several, "ext1 "+elsewhereIn)
		if _, err := b.Devices.OpenAdoption(ctx, evil.Network, 600); err != nil {
			t.Fatal(err)
		}
		b.wantWaiting(address, extender("ext2"), "", several) // both are open
		for _, by := range []motion.NetworkID{third, 0} {
			if _, err := b.Devices.Adopt(ctx, "ext2", by); err != nil {
				t.Fatal(err)
			}
			b.wantWaiting(address, extender("ext2"), "", several)
		}
		if _, err := b.Devices.Adopt(ctx, "ext2", id); err != nil {
			t.Fatal(err)
		}
		if a := b.post(extender("ext2"), ""); a.Network != id {
			t.Errorf("approved by the owner: %+v", a)
		}
		if a := b.post(extender("ext2"), ""); a.Network != id {
			t.Errorf("when it starts again: %+v", a)
		}
		wantTold(id, "ext1 "+several, "ext2 "+several)
	})
}

func TestMasterThatMovesAwayLeadsItsFormerNetworkNoMore(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.claim(id)
		time.Sleep(25 * time.Hour)
		if _, err := b.Devices.OpenAdoption(context.Background(), 0, 60); err != nil {
			t.Fatal(err)
		}
		other := b.postFrom(elsewhere, stranger("other"), "").Network
		b.claim(other)
		if _, err := b.Devices.OpenAdoption(context.Background(), other, 600); err != nil {
			t.Fatal(err)
		}
		guardian, radar := b.tokens()
		moved := master()
		moved.LocationID, moved.Radar.LocationID, moved.Radar.RootMode = "other", "other", 1
		if a := b.post(moved, radar); a.Network != other {
			t.Fatalf("%+v", a)
		}
		if _, err := b.login(location, guardian); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the guardian of the network that it left: %v", err)
		}
		b.view(func(tx *store.Tx) error {
			list, err := tx.Events(store.EventQuery{Network: id, Kinds: []string{motion.DeviceMovedEvent}})
			if len(list) != 1 || list[0].DeviceID != masterID {
				t.Errorf("told %+v", list)
			}
			return err
		})
		if _, err := b.Devices.OpenAdoption(context.Background(), id, 600); err != nil {
			t.Fatal(err)
		}
		next := newcomer(location, 2)
		if a := b.postFrom(elsewhere, next, ""); a.Network != id || a.GuardianToken == "" {
			t.Errorf("the next master: %+v", a)
		}
	})
}

func TestMasterThatStepsDownIsItsGuardianNoMore(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		guardian, radar := b.tokens()
		down := master()
		down.Radar.RootMode = 1
		if a := b.post(down, radar); a.Network != id || a.GuardianToken != "" {
			t.Fatalf("%+v", a)
		}
		if _, err := b.login(location, guardian); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("its guardian token: %v", err)
		}
		if a := b.postFrom(elsewhere, newcomer(location, 2), ""); a.Network != id || a.GuardianToken == "" {
			t.Errorf("the next master: %+v", a)
		}
	})
}

func TestReplacedMasterIsItsGuardianNoMore(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		guardian, _ := b.tokens()
		b.State.Disconnected(guardianKey, "gone")
		b.State.Disconnected(masterKey, "gone")
		if a := b.postFrom(elsewhere, newcomer(location, 2), ""); a.Network != id || a.GuardianToken == "" {
			t.Fatalf("%+v", a)
		}
		if _, err := b.login(location, guardian); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the guardian token of the master before: %v", err)
		}
	})
}

func TestRemovalOfARadarLeavesTheGuardianOfThatNameAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		guardian, _ := b.tokens()
		twin := newcomer("other", 2)
		twin.Radar.DeviceID = location
		b.postFrom(elsewhere, twin, "")
		if err := b.Devices.RemoveDevice(context.Background(), location); err != nil {
			t.Fatal(err)
		}
		if _, err := b.login(location, guardian); err != nil {
			t.Errorf("the guardian: %v", err)
		}
	})
}

func TestNodesOfANetworkAreBounded(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		for round := range 3 {
			radars := map[string]motion.Radar{}
			for i := range 100 {
				name := fmt.Sprintf("G%d-%d", round, i)
				radars[name] = motion.Radar{DeviceID: name, NodeName: name, RootMode: 1}
			}
			err := b.Report(context.Background(), guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: radars})
			if want := round > 0; (fault.KindOf(err) == fault.TooLarge) != want {
				t.Errorf("round %d: %v", round, err)
			}
		}
		for round := range 4 { // each would give up its name to a new one
			radars := map[string]motion.Radar{}
			for i := range 60 {
				name := fmt.Sprintf("G0-%d", i)
				taken := fmt.Sprintf("R%d-%d", round, i)
				radars["a"+name] = motion.Radar{DeviceID: name, NodeName: taken, RootMode: 1}
				radars["b"+name] = motion.Radar{DeviceID: "x" + taken, NodeName: name, RootMode: 1}
			}
			_ = b.Report(context.Background(), guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: radars})
		}
		nodes, err := b.Inventory.Nodes(id)
		if len(nodes) > 128 || err != nil {
			t.Errorf("%d nodes, %v", len(nodes), err)
		}
		b.report(guardianKey, status()) // what it has is told further
	})
}

// TestNodesOfWhichNothingIsHeardGiveWay fills a home with strangers' nodes, that never
// connect or once did, and has its own extender come then.
func TestNodesOfWhichNothingIsHeardGiveWay(t *testing.T) {
	for name, c := range map[string]struct {
		connect, stay bool
		after         time.Duration
	}{
		"never connected": {false, false, 3 * time.Minute}, "connected once": {true, false, 62 * time.Minute},
		"connected": {true, true, 62 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				a := b.post(master(), "") // its guardian alone connects, and tells of both
				id := a.Network
				b.connect(location, a.GuardianToken)
				b.post(peer(), "")
				if a := b.post(extender("asleep"), ""); a.Network != id {
					t.Fatalf("%+v", a)
				}
				for i := range 125 {
					name := fmt.Sprint("s", i)
					a := b.postFrom(elsewhere, extender(name), "")
					if a.Network != id {
						t.Fatalf("%s: %+v", name, a)
					}
					if !c.connect {
						continue
					}
					if key := b.connect(name, a.RadarToken); !c.stay {
						b.State.Disconnected(key, "gone")
					}
				}
				b.wantWaiting(address, extender("own"), "", "the network has 128 nodes already: remove some first")
				spare := extender("spare")
				spare.Radar.NodeName = "s0"
				if a := b.post(spare, ""); (a.Network == id) == c.stay {
					t.Errorf("one that takes the place of another: %+v", a)
				}
				time.Sleep(c.after)
				b.report(guardianKey, status())
				if a := b.post(extender("own"), ""); a.Network != id {
					t.Errorf("%+v", a)
				}
				own := []string{masterID, peerID, "own"}
				if c.stay { // where all others are connected
					b.wantWaiting(elsewhere, extender("more"), "", "the network has 128 nodes already: remove some first")
				} else {
					own = append(own, "asleep")
				}
				if !c.stay {
					usurper := newcomer(location, 2)
					usurper.Radar.DeviceID, usurper.Radar.NodeName = "usurper", "usurper"
					b.wantWaiting(elsewhere, usurper, "", "the network's master is connected: switch it off or remove it first")
				}
				for _, device := range own {
					if _, err := b.Inventory.NodeByDevice(context.Background(), device); err != nil {
						t.Errorf("a node of the home: %v", err)
					}
				}
			})
		})
	}
}

// TestNodeThatTheGuardianTellsOfStaysWhileTheGuardianIsAway fills a home, has it restart, and
// a stranger come before its guardian is back.
func TestNodeThatTheGuardianTellsOfStaysWhileTheGuardianIsAway(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(location, a.GuardianToken)
		for i := range 126 {
			b.postFrom(elsewhere, extender(fmt.Sprint("s", i)), "")
			time.Sleep(time.Second)
		}
		b.post(peer(), "")
		b.report(guardianKey, status())
		b.stop()
		b.start()
		time.Sleep(3 * time.Minute)
		if a := b.postFrom(elsewhere, extender("more"), ""); a.TryAgain != "" {
			t.Errorf("while others were never heard: %+v", a)
		}
		if _, err := b.Inventory.NodeByDevice(context.Background(), peerID); err != nil {
			t.Errorf("the node that the guardian tells of: %v", err)
		}
	})
}

func TestWhatANodeSaysOfItselfIsBounded(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for name, change := range map[string]func(*motion.Radar){
			"version":    func(r *motion.Radar) { r.Version = motion.Document{"x": strings.Repeat("x", 5000)} },
			"firmware":   func(r *motion.Radar) { r.FWVersion = strings.Repeat("x", 5000) },
			"interfaces": func(r *motion.Radar) { r.Interfaces = make([]motion.Interface, 1000) },
		} {
			p := peer()
			change(&p.Radar)
			if _, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Address: address}); fault.KindOf(err) != fault.TooLarge {
				t.Errorf("%s at the gatekeeper: %v", name, err)
			}
			r := motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: map[string]motion.Radar{peerName: p.Radar}}
			if err := b.Report(context.Background(), guardianKey, r); fault.KindOf(err) != fault.TooLarge {
				t.Errorf("%s in a report: %v", name, err)
			}
		}
		b.report(guardianKey, status())
	})
}

func TestNetworksThatNobodyOwnsAreBounded(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		var last motion.NetworkID
		for i := range 100 {
			last = b.postFrom(elsewhere, stranger(fmt.Sprint("s", i)), "").Network
		}
		b.wantWaiting(elsewhere, stranger("more"), "", "100 networks wait for an owner already: claim or delete some, or use a pre-shared token")
		if a := b.postFrom(elsewhere, stranger("s7"), ""); a.TryAgain != "" && !strings.Contains(a.TryAgain, "without its token") {
			t.Errorf("one that is there: %+v", a)
		}
		b.claim(last)
		if a := b.postFrom(elsewhere, stranger("more"), ""); a.Network == 0 {
			t.Errorf("room again: %+v", a)
		}
		b.wantWaiting(elsewhere, stranger("another"), "", "100 networks wait for an owner already: claim or delete some, or use a pre-shared token")
		time.Sleep(3 * time.Minute)
		a := b.post(master(), "")
		if a.Network == 0 {
			t.Errorf("networks of which nothing was heard give no way: %+v", a)
		}
		b.connect(location, a.GuardianToken)
		for i := range 100 { // each connects once
			if a := b.postFrom(elsewhere, stranger(fmt.Sprint("t", i)), ""); a.Network != 0 {
				name := fmt.Sprint("t", i)
				b.State.Disconnected(b.connect(name, a.GuardianToken), "gone")
			}
			time.Sleep(3 * time.Minute)
		}
		if a := b.postFrom(elsewhere, stranger("last"), ""); a.Network == 0 {
			t.Errorf("networks that connected once give no way: %+v", a)
		}
		if _, err := b.Inventory.NetworkState(a.Network); err != nil {
			t.Errorf("the network that is connected: %v", err)
		}
	})
}

func TestApprovalEndsWithTheOwnershipAndAfterADay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *box, id motion.NetworkID)
		in     bool
	}{
		"the same owner": {func(*box, motion.NetworkID) {}, true},
		"another owner":  {func(b *box, id motion.NetworkID) { b.own(id, "next") }, false},
		"a day later":    {func(*box, motion.NetworkID) { time.Sleep(25 * time.Hour) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				b.claim(id)
				b.own(id, "first")
				time.Sleep(25 * time.Hour)
				b.wantWaiting(elsewhere, newcomer(location, 1), "", "waiting for adoption")
				if _, err := b.Devices.Adopt(context.Background(), "csi-new", id); err != nil {
					t.Fatal(err)
				}
				c.change(b, id)
				if list := b.Devices.Pending(); list[0].Approved != c.in {
					t.Errorf("waits: %+v", list)
				}
				if a := b.postFrom(elsewhere, newcomer(location, 1), ""); (a.TryAgain == "") != c.in {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

func TestOwnerApprovesNoNetworkOfItsOwn(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.claim(id)
		time.Sleep(25 * time.Hour)
		b.wantWaiting(elsewhere, stranger("sham"), "", "waiting for adoption")
		if _, err := b.Devices.Adopt(context.Background(), "csi-sham", id); fault.KindOf(err) != fault.Conflict {
			t.Errorf("approved: %v", err)
		}
		b.wantWaiting(elsewhere, stranger("sham"), "", "waiting for adoption")
	})
}

func TestDeletionOpensNoNetworkThatWasThereBefore(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		vacated := b.postFrom(elsewhere, stranger("vacated"), "").Network
		time.Sleep(25 * time.Hour)
		b.deleteNetwork(id)
		intruder := master()
		intruder.LocationID, intruder.Radar.LocationID = "vacated", "vacated"
		if a := b.post(intruder, ""); a.Network == vacated {
			t.Errorf("%+v", a)
		}
	})
}

// TestDeletionLetsFormNoOtherNetwork has a device of one deleted network ask for another one
// that was deleted, and for one that never was.
func TestDeletionLetsFormNoOtherNetwork(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		left := b.postFrom(elsewhere, stranger("left"), "").Network
		time.Sleep(25 * time.Hour)
		b.deleteNetwork(id)
		b.deleteNetwork(left)
		for _, where := range []string{location, "anywhere"} {
			intruder := stranger("left")
			intruder.LocationID, intruder.Radar.LocationID = where, where
			b.wantWaiting(elsewhere, intruder, "", "waiting for adoption")
		}
		if a := b.post(master(), ""); a.Network == 0 {
			t.Errorf("its own device: %+v", a)
		}
		if a := b.postFrom(elsewhere, stranger("left"), ""); a.Network == 0 {
			t.Errorf("the other device in its own: %+v", a)
		}
	})
}

// TestDeletedNetworkIsFormedAnewByItsOwnDevicesAlone has windows open for everybody.
func TestDeletedNetworkIsFormedAnewByItsOwnDevicesAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.deleteNetwork(id)
		b.wantWaiting(elsewhere, newcomer(location, 2), "", "waiting for adoption")
		sham := peer()
		sham.LocationID, sham.Radar.LocationID, sham.Radar.RootMode = "another", "another", 2
		b.wantWaiting(elsewhere, sham, "", "waiting for adoption")
		formed := b.post(master(), "").Network
		if formed == 0 || b.post(peer(), "").Network != formed {
			t.Fatal("its own devices wait")
		}
		b.wantWaiting(elsewhere, newcomer(location, 1), "", "waiting for adoption")
		time.Sleep(11 * time.Minute)
		if a := b.postFrom(elsewhere, newcomer(location, 1), ""); a.Network != formed {
			t.Errorf("ten minutes later: %+v", a)
		}
	})
}

func TestDeletionLetsOnlyItsOwnDevicesFormANetwork(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		time.Sleep(25 * time.Hour)
		b.deleteNetwork(id)
		b.wantWaiting(elsewhere, stranger("evil"), "", "waiting for adoption")
		b.wantWaiting(elsewhere, master(), "", "waiting for adoption")
		formed := b.post(master(), "").Network
		if formed == 0 {
			t.Fatal("the devices form no network")
		}
		b.wantWaiting(elsewhere, newcomer(location, 1), "", "waiting for adoption")
		if a := b.post(peer(), ""); a.Network != formed {
			t.Errorf("its peer: %+v", a)
		}
		b.deleteNetwork(formed)
		time.Sleep(11 * time.Minute)
		b.wantWaiting(address, master(), "", "waiting for adoption")
	})
}

// TestGuardianCannotSilenceAnother has a guardian tell of another home's extender before
// that home does.
func TestGuardianCannotSilenceAnother(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		evil := b.postFrom(elsewhere, stranger("evil"), "")
		key := b.connect("evil", evil.GuardianToken)
		ghost := motion.Radar{DeviceID: "extA", NodeName: "GHOST", RootMode: 1}
		b.report(key, motion.StatusReport{TS: now(), MotionEnabled: 1, Radars: map[string]motion.Radar{"GHOST": ghost}})
		r := status()
		radars := maps.Clone(r.Radars)
		radars["EXTA"] = motion.Radar{DeviceID: "extA", NodeName: "EXTA", RootMode: 1}
		r.Radars = radars
		b.report(guardianKey, r)
		if links, err := b.Inventory.Topology(id, true); err != nil || len(links.Links) == 0 {
			t.Errorf("of the rest of the report: %+v, %v", links, err)
		}
		real := newcomer(location, 1)
		real.Radar.DeviceID, real.Radar.NodeName = "extA", "EXTA"
		if a := b.post(real, ""); a.Network != id {
			t.Errorf("the extender itself: %+v", a)
		}
	})
}

func TestNetworkThatGivesWayIsNotFormedAnewBeyondTheBound(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		for i := range 100 {
			b.postFrom(elsewhere, stranger(fmt.Sprint("s", i)), "")
		}
		time.Sleep(11 * time.Minute)
		for round := range 5 {
			b.postFrom(elsewhere, stranger(fmt.Sprint("more", round)), "")
			for i := range 100 {
				b.postFrom(elsewhere, stranger(fmt.Sprint("s", i)), "")
			}
		}
		b.view(func(tx *store.Tx) error {
			networks, err := tx.Networks()
			if len(networks) > 100 {
				t.Errorf("%d networks wait for an owner", len(networks))
			}
			return err
		})
	})
}
