package engine_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/devices"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// claim gives a network an owner.
func (b *box) claim(id motion.NetworkID) {
	b.t.Helper()
	err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		_, err := tx.CreateHome(home.Home{ExternalID: id, Name: "Home", ClaimedAt: tx.Now()})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// newcomer is what a device that nobody knows posts.
func newcomer(location string, rootMode int) motion.Bootstrap {
	return motion.Bootstrap{LocationID: location, Radar: motion.Radar{DeviceID: "csi-new", NodeName: "NEW1", RootMode: rootMode}}
}

// extender is a new device that wants to join the home as a node of its own name.
func extender(name string) motion.Bootstrap {
	p := newcomer(location, 1)
	p.Radar.DeviceID, p.Radar.NodeName = name, name
	return p
}

// wantWaiting posts from an address and wants to be told to wait for the reason.
func (b *box) wantWaiting(from netip.Addr, p motion.Bootstrap, token, reason string) {
	b.t.Helper()
	if a := b.postFrom(from, p, token); a.TryAgain != reason || a.RadarToken != "" || a.GuardianToken != "" {
		b.t.Errorf("%s of %s is answered %+v, want %q", p.Radar.DeviceID, p.LocationID, a, reason)
	}
}

// told returns what the events of devices at the gatekeeper say, oldest first.
func (b *box) told() (list []string) {
	b.t.Helper()
	for _, e := range b.events(gatekeeperKinds...) {
		d := e.Detail
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(e.Event, "Device"), "Event")+" "+strings.Join(strings.Fields(fmt.Sprint(
			e.DeviceID, " ", d.Text("role"), " ", d.Text("how"), " ", d.Text("replaced"), " ", d.Text("reason"))), " "))
	}
	return list
}

func TestWindowOfANetworkOpensNoOther(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.claim(id)
		time.Sleep(25 * time.Hour)
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "second", "csi-other", "GWB2"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID, other.Radar.Interfaces = motion.MAC{2, 1}, motion.MAC{2, 2}, nil
		if _, err := b.Devices.OpenAdoption(context.Background(), 0, 60); err != nil {
			t.Fatal(err)
		}
		second := b.postFrom(elsewhere, other, "").Network
		b.claim(second)
		time.Sleep(time.Minute)
		if _, err := b.Devices.OpenAdoption(context.Background(), second, 600); err != nil {
			t.Fatal(err)
		}
		byMesh := newcomer("unknown", 1)
		byMesh.Radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: motion.PeerMesh}}
		for _, p := range []motion.Bootstrap{newcomer(location, 1), newcomer(location, 2), byMesh, newcomer("third", 2)} {
			b.wantWaiting(elsewhere, p, "", "waiting for adoption")
		}
		if a := b.postFrom(elsewhere, newcomer("second", 1), ""); a.Network != second {
			t.Errorf("into the network whose window is open: %+v", a)
		}
		b.wantWaiting(elsewhere, newcomer(location, 1), "", "adopted in another network: open an adoption window to move it")
	})
}

func TestFirstDayOfAClaimedNetworkLastsUntilItsOwnerClosesIt(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		installed := now()
		id := b.post(master(), "").Network
		b.claim(id)
		time.Sleep(time.Hour)
		if until, err := b.Devices.AdoptionUntil(context.Background(), id); err != nil || until != installed+24*3600 {
			t.Errorf("open until %v, %v", until, err)
		}
		if until, err := b.Devices.OpenAdoption(context.Background(), id, 600); err != nil || until != installed+24*3600 {
			t.Errorf("opened until %v, %v: shorter than it was", until, err)
		}
		if err := b.Devices.CloseAdoption(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		b.wantWaiting(elsewhere, peer(), "", "waiting for adoption")
		if a := b.postFrom(elsewhere, newcomer("second", 2), ""); a.Network == 0 {
			t.Errorf("a new network: %+v", a)
		}
		if list, err := b.Devices.Windows(context.Background()); err != nil || len(list) != 0 {
			t.Errorf("windows %v, %v", list, err)
		}
		b.stop()
		b.start()
		b.wantWaiting(elsewhere, peer(), "", "waiting for adoption")
		until, err := b.Devices.OpenAdoption(context.Background(), id, 600)
		if list, err2 := b.Devices.Windows(context.Background()); err != nil || err2 != nil || len(list) != 1 || list[0] != (devices.Window{NetworkID: id, Until: until}) {
			t.Errorf("windows %v, %v, %v", list, err, err2)
		}
		if a := b.postFrom(elsewhere, peer(), ""); a.Network != id {
			t.Errorf("in the owner's window: %+v", a)
		}
		b.deleteNetwork(id)
		if until, err := b.Devices.AdoptionUntil(context.Background(), id); err != nil || until > installed+24*3600 {
			t.Errorf("the window of the deleted network: %v, %v", until, err)
		}
		if _, err := b.Devices.OpenAdoption(context.Background(), 99, 600); fault.KindOf(err) != fault.NotFound {
			t.Errorf("window of no network: %v", err)
		}
	})
}

func TestWhoIsConnectedIsNotReplaced(t *testing.T) {
	const live, elsewhereLive, name = "the network's master is connected: switch it off or remove it first",
		"the device is connected from another address: switch it off or remove it first",
		"another device of that node_id is connected: switch it off or remove it first"
	run(t, func(t *testing.T, b *box) {
		b.home() // the first day is open
		b.wantWaiting(elsewhere, newcomer(location, 2), "", live)
		b.wantWaiting(address, newcomer(location, 2), "", live)
		b.wantWaiting(elsewhere, newcomer(location, 2), "factory-secret", live)
		b.wantWaiting(elsewhere, master(), "", elsewhereLive)
		b.wantWaiting(elsewhere, master(), "factory-secret", elsewhereLive)
		b.wantWaiting(elsewhere, peer(), "", elsewhereLive)
		twin := newcomer(location, 1)
		twin.Radar.NodeName = peerName
		b.wantWaiting(elsewhere, twin, "", name)
		entry := b.Devices.Pending()[slices.IndexFunc(b.Devices.Pending(), func(p motion.PendingDevice) bool {
			return p.DeviceID == "csi-new" && p.RootMode == 2 && p.Address == elsewhere.String()
		})]
		if _, err := b.Devices.Adopt(context.Background(), entry.ID, 0); err != nil {
			t.Fatal(err)
		}
		b.wantWaiting(elsewhere, newcomer(location, 2), "", live)

		token := b.post(peer(), "").RadarToken
		if a := b.postFrom(elsewhere, peer(), token); a.RadarToken == "" {
			t.Errorf("its own token from another address: %+v", a)
		}
		b.State.Disconnected(guardianKey, "gone")
		b.wantWaiting(elsewhere, newcomer(location, 2), "", live) // its radar is there
		b.State.Disconnected(masterKey, "gone")
		if a := b.postFrom(elsewhere, newcomer(location, 2), ""); a.GuardianToken == "" {
			t.Errorf("once the master is gone: %+v", a)
		}
		if told := b.told(); !slices.Contains(told, "Replaced csi-new master approval "+masterID) {
			t.Errorf("told %q", told)
		}
	}, func(o *engine.Options) { o.AccessToken = "factory-secret" })
}

func TestDeviceThatTakesANodeEndsTheOneBefore(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		token := b.post(peer(), "").RadarToken
		b.State.Disconnected(peerKey, "gone")
		twin := newcomer(location, 1)
		twin.Radar.NodeName = peerName
		if a := b.postFrom(elsewhere, twin, ""); a.RadarToken == "" {
			t.Fatalf("answer %+v", a)
		}
		if _, err := b.login(peerID, token); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the token of the one before: %v", err)
		}
		if told := b.told(); told[len(told)-1] != "Replaced csi-new peer window "+peerID {
			t.Errorf("told %q", told)
		}
	})
}

func TestApprovalHoldsWhatWasShown(t *testing.T) {
	for name, change := range map[string]func(p *motion.Bootstrap, from *netip.Addr){
		"another network": func(p *motion.Bootstrap, _ *netip.Addr) { p.LocationID = location },
		"another role":    func(p *motion.Bootstrap, _ *netip.Addr) { p.Radar.RootMode = 1 },
		"another address": func(_ *motion.Bootstrap, from *netip.Addr) { *from = address },
		"another name":    func(p *motion.Bootstrap, _ *netip.Addr) { p.Radar.NodeName = masterName },
		"a mesh link": func(p *motion.Bootstrap, _ *netip.Addr) {
			p.Radar.RootMode = 1
			p.Radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: motion.PeerMesh}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.State.Disconnected(guardianKey, "gone")
				b.State.Disconnected(masterKey, "gone")
				time.Sleep(25 * time.Hour)
				p, from := newcomer("new", 2), elsewhere
				if name == "a mesh link" {
					p.Radar.RootMode = 1
				}
				b.wantWaiting(from, p, "", "waiting for adoption")
				if _, err := b.Devices.Adopt(context.Background(), "csi-new", 0); err != nil {
					t.Fatal(err)
				}
				other := p
				change(&other, &from)
				b.wantWaiting(from, other, "", "waiting for adoption")
				_, err := b.Devices.Adopt(context.Background(), "csi-new", 0)
				if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), b.Devices.Pending()[0].ID) || !strings.Contains(err.Error(), b.Devices.Pending()[1].ID) {
					t.Errorf("which of two entries: %v", err)
				}
				want := "waiting for its master"
				if p.Radar.RootMode == motion.RootModeMaster {
					want = ""
				}
				if a := b.postFrom(elsewhere, p, ""); a.TryAgain != want {
					t.Errorf("what was approved: %+v", a)
				}
			})
		})
	}
}

func TestApprovedPeerMayWaitForItsMaster(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(peer(), "")
		b.post(master(), "")
		for _, id := range []string{peerID, masterID} {
			if _, err := b.Devices.Adopt(context.Background(), id, 0); err != nil {
				t.Fatal(err)
			}
		}
		b.wantWaiting(address, peer(), "", "waiting for its master")
		b.crash() // an approval is on the disk
		b.start()
		m := b.post(master(), "")
		if p := b.post(peer(), ""); m.Network == 0 || p.Network != m.Network {
			t.Errorf("master %+v, peer %+v", m, p)
		}
		b.crash()
		b.start()
		if list := b.Devices.Pending(); len(list) != 0 {
			t.Errorf("an approval that was used is still there: %+v", list)
		}
	}, closed)
}

const held = "adopted in another household's network, or another's master: remove it there first"

func TestDeviceOfAnotherHouseholdNeedsItsToken(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		first := b.home()
		token := b.post(peer(), "").RadarToken
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "second", "csi-other", "GWB2"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID, other.Radar.Interfaces = motion.MAC{2, 1}, motion.MAC{2, 2}, nil
		second := b.post(other, "").Network
		b.claim(first)
		b.claim(second)
		b.State.Disconnected(peerKey, "gone")
		moved := peer()
		moved.LocationID = "second"
		b.wantWaiting(address, moved, "", held)
		if a := b.post(moved, token); a.Network != second {
			t.Errorf("with its token: %+v", a)
		}
	})
}

func TestDeviceMovesBetweenNetworksOfOneOwner(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		first := b.home()
		b.report(guardianKey, status())
		second := b.postFrom(elsewhere, stranger("second"), "").Network
		for _, id := range []motion.NetworkID{first, second} {
			b.claim(id)
			b.own(id, "olga")
		}
		time.Sleep(25 * time.Hour)
		moved := peer()
		moved.LocationID = "second"
		b.wantWaiting(address, moved, "", "adopted in another network: open an adoption window to move it")
		if _, err := b.Devices.OpenAdoption(context.Background(), second, 600); err != nil {
			t.Fatal(err)
		}
		b.wantWaiting(elsewhere, moved, "", "the device is connected from another address: switch it off or remove it first")
		b.wantWaiting(address, moved, "", "adopted in another network: open an adoption window to move it")
		b.State.Disconnected(peerKey, "gone")
		b.own(second, "eve")
		b.wantWaiting(elsewhere, moved, "", held)
		b.own(second, "olga")
		if a := b.postFrom(elsewhere, moved, ""); a.Network != second {
			t.Fatalf("between networks of one owner: %+v", a)
		}
		leader := master()
		leader.LocationID, leader.Radar.RootMode = "second", 1
		b.State.Disconnected(masterKey, "gone")
		b.State.Disconnected(guardianKey, "gone")
		b.wantWaiting(elsewhere, leader, "", held)
		b.view(func(tx *store.Tx) error {
			list, err := tx.Events(store.EventQuery{Network: first, Kinds: []string{motion.DeviceMovedEvent}})
			if len(list) != 1 || list[0].DeviceID != peerID {
				t.Errorf("told where it was: %+v", list)
			}
			return err
		})
	})
}

func TestMasterHasFailedOnceItsGuardianIsSilent(t *testing.T) {
	const heard = "the network's master was heard less than 90 s ago: it has not failed"
	const another = "the network has another master: open an adoption window to replace it"
	for name, c := range map[string]struct {
		alive, token, offline bool
		silence               time.Duration
		want                  string
	}{
		"while it is connected":           {alive: true, token: true, silence: time.Hour, want: heard},
		"after 89 s":                      {token: true, silence: 89 * time.Second, want: heard},
		"after 90 s":                      {token: true, silence: 90 * time.Second},
		"from the live session's address": {silence: 90 * time.Second},
		"from there, too early":           {silence: 80 * time.Second, want: heard},
		"an offline device's address":     {offline: true, silence: 90 * time.Second, want: another},
		"a token is enough offline":       {offline: true, token: true, silence: 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				token := ""
				if c.token {
					token = b.post(peer(), "").RadarToken
				}
				time.Sleep(25 * time.Hour)
				if c.offline {
					b.State.Disconnected(peerKey, "gone")
				}
				if !c.alive {
					b.State.Disconnected(guardianKey, "gone")
					b.State.Disconnected(masterKey, "gone")
				}
				time.Sleep(c.silence)
				p := peer()
				p.Radar.RootMode, p.MasterFailed = motion.RootModeMaster, true
				if a := b.post(p, token); a.TryAgain != c.want || (a.GuardianToken != "") != (c.want == "") {
					t.Errorf("answer %+v, want %q", a, c.want)
				}
			})
		})
	}
}

func TestReturnByAddressChangesNeitherNetworkNorRole(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		time.Sleep(25 * time.Hour)
		for _, key := range []motion.DeviceKey{guardianKey, masterKey, peerKey} {
			b.State.Disconnected(key, "gone")
		}
		demoted, crowned, moved := master(), peer(), peer()
		demoted.Radar.RootMode, crowned.Radar.RootMode, moved.LocationID = 1, 2, "unknown"
		b.wantWaiting(address, demoted, "", "known by its address alone, which is not enough for another role: open an adoption window")
		b.wantWaiting(address, crowned, "", "the network has another master: open an adoption window to replace it")
		moved.Radar.Links = nil
		if a := b.post(moved, ""); a.Network != b.network() {
			t.Errorf("an unknown location id: %+v", a)
		}
	})
}

func TestReturnByAddressComparesTheMAC(t *testing.T) {
	mine, another := motion.MAC{2, 0xaa, 0, 0, 2, 0x10}, motion.MAC{2, 0xaa, 0, 0, 9, 0x10}
	for name, c := range map[string]struct {
		before, after motion.MAC
		from          netip.Addr
		live, in      bool
	}{
		"the same of both":                {mine, mine, address, false, true},
		"a reused address":                {mine, another, address, false, false},
		"a changed lease":                 {mine, mine, elsewhere, false, true},
		"a changed lease while connected": {mine, mine, elsewhere, true, false},
		"another, while connected":        {mine, another, address, true, false},
		"known before only":               {mine, motion.MAC{}, address, false, true},
		"known now only":                  {motion.MAC{}, mine, address, false, true},
		"known now only, elsewhere":       {motion.MAC{}, mine, elsewhere, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				admit := func(from netip.Addr, mac motion.MAC) motion.Admission {
					a, err := b.Devices.Admit(context.Background(), peer(), motion.Credentials{Address: from, MAC: mac})
					if err != nil {
						t.Fatal(err)
					}
					return a
				}
				admit(address, c.before)
				time.Sleep(25 * time.Hour)
				if !c.live {
					b.State.Disconnected(peerKey, "gone")
				}
				if a := admit(c.from, c.after); (a.RadarToken != "") != c.in {
					t.Errorf("answer %+v", a)
				}
			})
		})
	}
}

func TestOwnerSeesWhoCameAndWhoWasRefused(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		token := ""
		for range 3 {
			token = b.post(peer(), "").RadarToken
		}
		time.Sleep(25 * time.Hour)
		b.post(peer(), token)
		for range 5 {
			b.postFrom(elsewhere, newcomer(location, 1), "")
			b.postFrom(elsewhere, newcomer("unknown", 1), "")
			b.postFrom(elsewhere, peer(), "")
			time.Sleep(time.Minute)
		}
		want := []string{
			"Adopted " + masterID + " master window", "Adopted " + peerID + " peer window", "Returned " + peerID + " peer window",
			"Returned " + peerID + " peer token", "Refused csi-new peer waiting for adoption",
			"Refused " + peerID + " peer adopted, but without its token: open an adoption window or remove the device",
		}
		if told := b.told(); !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if len(b.Devices.Pending()) != 3 {
			t.Errorf("pending %+v", b.Devices.Pending())
		}
		event := b.events(motion.DeviceRefusedEvent)[0]
		if event.Category != motion.CategorySystem || event.Detail.Text("category") != "Device" || event.Detail.Text("address") != elsewhere.String() ||
			event.DeviceID != "csi-new" || event.NodeName != "NEW1" || event.GuardianID != location {
			t.Errorf("event %+v", event)
		}
	})
}

func TestFloodOfRefusalsIsTenEventsAnHourAndACount(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		time.Sleep(25 * time.Hour)
		for i := range 100 {
			p := newcomer(location, 1)
			p.Radar.DeviceID = fmt.Sprint("stranger-", i)
			b.postFrom(elsewhere, p, "")
			b.postFrom(elsewhere, p, "")
		}
		if n := len(b.events(motion.DeviceRefusedEvent)); n != 10 {
			t.Errorf("%d events", n)
		}
		time.Sleep(62 * time.Minute)
		synctest.Wait()
		list := b.events(motion.DeviceRefusedEvent)
		if last := list[len(list)-1]; len(list) != 11 || last.Detail.Int("more") != 180 || last.DeviceID != "" {
			t.Errorf("%d events, the last %+v", len(list), last)
		}
		b.postFrom(elsewhere, newcomer(location, 1), "")
		if list := b.events(motion.DeviceRefusedEvent); len(list) != 12 {
			t.Errorf("%d events: a new hour has not begun", len(list))
		}
	})
}

// TestRefusedPostsWriteLittle counts the bytes of 2,000 refused posts, half of them with
// new deviceIds: at most ten events, and the waiting list once.
func TestRefusedPostsWriteLittle(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		time.Sleep(25 * time.Hour)
		written := func() int64 {
			t.Helper()
			stats, err := b.db.Stats(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return stats.Bytes
		}
		synctest.Wait()
		before := written()
		for i := range 1000 {
			p := newcomer(location, 1)
			p.Radar.DeviceID = fmt.Sprint("stranger-", i)
			b.postFrom(elsewhere, p, "")
			b.postFrom(elsewhere, newcomer("unknown", 2), "")
		}
		synctest.Wait()
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		bytes := written() - before
		t.Logf("%d bytes written", bytes)
		if bytes > 1e6 {
			t.Errorf("%d bytes written, want 1 MB at most", bytes)
		}
	})
}

// TestPostThatSaysNothingNewWritesItsTokensAlone has a device post again, twice as it did
// before and once after a sign of life of it was stored.
func TestPostThatSaysNothingNewWritesItsTokensAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		for i := range 60 { // their records fill several pages
			b.postFrom(elsewhere, stranger(fmt.Sprint("s", i)), "")
		}
		b.home()
		written := func() int64 {
			t.Helper()
			synctest.Wait()
			before, err1 := b.db.Stats(context.Background())
			b.post(master(), "")
			after, err2 := b.db.Stats(context.Background())
			if err1 != nil || err2 != nil || after.Commits != before.Commits+1 {
				t.Fatalf("%d commits, %v, %v", after.Commits-before.Commits, err1, err2)
			}
			return after.Bytes - before.Bytes
		}
		written()
		quiet := written()
		time.Sleep(11*time.Minute + 30*time.Second)
		b.report(guardianKey, status())
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if heard := written(); heard > quiet+int64(os.Getpagesize()) {
			t.Errorf("%d bytes after a sign of life, %d without one", heard, quiet)
		}
	})
}

func TestRepeatedRefusalWritesNothing(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		before, err := b.db.Stats(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			b.post(master(), "")
		}
		after, err := b.db.Stats(context.Background())
		if err != nil || after.Commits != before.Commits {
			t.Errorf("%d commits, %v", after.Commits-before.Commits, err)
		}
		b.stop()
		b.start()
		if list := b.Devices.Pending(); len(list) != 1 {
			t.Errorf("after a restart %+v", list)
		}
	}, closed)
}

// TestMasterWithItsGuardianAloneConnectedIsNotReplaced has a master whose radar session is
// not connected: its guardian's is enough to keep its node, its network and its role.
func TestMasterWithItsGuardianAloneConnectedIsNotReplaced(t *testing.T) {
	const elsewhereLive = "the device is connected from another address: switch it off or remove it first"
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "") // the first day is open
		b.connect(location, a.GuardianToken)
		twin := newcomer(location, 1)
		twin.Radar.NodeName = master().Radar.NodeName
		b.wantWaiting(elsewhere, twin, "", "another device of that node_id is connected: switch it off or remove it first")
		demoted := master()
		demoted.Radar.RootMode = 1
		b.wantWaiting(elsewhere, demoted, "", elsewhereLive)
		b.wantWaiting(address, demoted, "", "known by its address alone, which is not enough for another role: open an adoption window")
		moved := master()
		moved.LocationID = "b52f00c2d97b4e5580136c2e"
		b.wantWaiting(elsewhere, moved, "", elsewhereLive)
		b.wantWaiting(address, moved, "", "adopted in another network: open an adoption window to move it")
		if again := b.post(master(), ""); again.Network != a.Network || again.GuardianToken == "" {
			t.Errorf("the master itself: %+v", again)
		}
	})
}

func TestKnownDeviceThatShowsTheNameOfAnotherHasToTryAgain(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		peer := newcomer(location, 0)
		b.post(peer, "") // the first day is open
		b.State.Disconnected(guardianKey, "gone")
		b.State.Disconnected(masterKey, "gone")
		renamed := peer
		renamed.Radar.NodeName = masterName
		b.wantWaiting(address, renamed, "", "another device has that node_id: remove that one first, or give this one another node_id")
		renamed.Radar.NodeName = "GWA1000999"
		if a := b.post(renamed, ""); a.TryAgain != "" {
			t.Errorf("a name that nobody has: %+v", a)
		}
	})
}

// TestOwnerApprovesForTheirNetworkAlone has the owner of one network approve a peer whose
// network is formed and claimed by somebody else afterwards.
func TestOwnerApprovesForTheirNetworkAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		other := b.home()
		b.claim(other)
		time.Sleep(25 * time.Hour)
		late := newcomer("b52f00c2d97b4e5580136c2e", 1)
		b.wantWaiting(elsewhere, late, "", "waiting for adoption")
		if _, err := b.Devices.Adopt(context.Background(), "csi-new", other); err != nil {
			t.Fatal(err)
		}
		leads := master()
		leads.LocationID, leads.Radar.DeviceID, leads.Radar.NodeName = late.LocationID, "csi-b", "GWB"
		leads.Radar.APBSSID2GHz, leads.Radar.MeshBSSID = motion.MAC{2, 0xdd, 1}, motion.MAC{2, 0xdd, 2}
		if _, err := b.Devices.OpenAdoption(context.Background(), 0, 60); err != nil {
			t.Fatal(err)
		}
		formed := b.post(leads, "").Network
		b.claim(formed)
		time.Sleep(2 * time.Minute)
		b.wantWaiting(elsewhere, late, "", "waiting for adoption")
		if _, err := b.Devices.Adopt(context.Background(), "csi-new", formed); err != nil {
			t.Fatal(err)
		}
		if a := b.postFrom(elsewhere, late, ""); a.Network != formed {
			t.Errorf("approved by the network's owner: %+v", a)
		}
	})
}
