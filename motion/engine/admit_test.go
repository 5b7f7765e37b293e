package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

func closed(o *engine.Options) { o.FirstWindow = 0 }

func TestFirstDayAdoptsByItself(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		time.Sleep(23 * time.Hour)
		a := b.post(master(), "")
		if a.TryAgain != "" || a.Network == 0 || a.GuardianID != location || a.DeviceID != masterID {
			t.Fatalf("answer %+v", a)
		}
		if a.GuardianToken == "" || a.RadarToken == "" || a.GuardianToken == a.RadarToken {
			t.Error("master did not get two tokens")
		}
		if p := b.post(peer(), ""); p.Network != a.Network || p.GuardianToken != "" || p.RadarToken == "" {
			t.Errorf("peer: %+v", p)
		}
		time.Sleep(2 * time.Hour)
		late := peer()
		late.Radar.DeviceID, late.Radar.NodeName = "csi-late", "EXA9"
		if got := b.post(late, ""); got.TryAgain != "waiting for adoption" || got.RadarToken != "" {
			t.Errorf("after the first day: %+v", got)
		}
	})
}

func TestWaitingDeviceIsListedWithItsReason(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		time.Sleep(time.Minute)
		b.post(master(), "")
		list, _, err := b.Devices.DeviceList(context.Background())
		if err != nil || len(list) != 1 || list[0].State != "pending" || list[0].Why != "waiting for adoption" || list[0].Address != address.String() {
			t.Fatalf("list %+v, %v", list, err)
		}
		if p := b.Devices.Pending()[0]; p.Posts != 2 || p.LastSeen.Since(p.FirstSeen) != 60 || p.RootMode != 2 || list[0].Entry.ID != p.ID || len(p.ID) != 8 {
			t.Errorf("pending %+v, listed as %+v", p, list[0].Entry)
		}
	}, closed)
}

func TestAtMost256DevicesWait(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		for i := range 260 {
			p := peer()
			p.Radar.DeviceID = fmt.Sprint("stranger-", i)
			b.post(p, "")
			time.Sleep(time.Second)
		}
		if list := b.Devices.Pending(); len(list) != 256 || list[255].DeviceID != "stranger-4" {
			t.Errorf("%d wait, the oldest is %s", len(list), list[len(list)-1].DeviceID)
		}
	}, closed)
}

func TestPreSharedTokenAdopts(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		for _, token := range []string{"", "wrong", "factory-secret "} {
			if a := b.post(master(), token); a.TryAgain == "" {
				t.Errorf("token %q adopts", token)
			}
		}
		if a := b.post(master(), "factory-secret"); a.TryAgain != "" {
			t.Errorf("the pre-shared token: %+v", a)
		}
		if list := b.Devices.Pending(); len(list) != 0 {
			t.Errorf("adopted device still waits: %+v", list)
		}
	}, closed, func(o *engine.Options) { o.AccessToken = "factory-secret" })
}

func TestApprovedDeviceIsLetInWithItsNextPost(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		if _, err := b.Devices.Adopt(context.Background(), masterID, 0); fault.KindOf(err) != fault.NotFound {
			t.Errorf("approve a device that never asked: %v", err)
		}
		b.post(master(), "")
		if _, err := b.Devices.Adopt(context.Background(), masterID, 0); err != nil {
			t.Fatal(err)
		}
		list, _, err := b.Devices.DeviceList(context.Background())
		if err != nil || list[0].Why != "approved: it is let in with its next post" {
			t.Errorf("list %+v, %v", list, err)
		}
		if a := b.post(master(), ""); a.RadarToken == "" {
			t.Errorf("approved device: %+v", a)
		}
		if a := b.postFrom(elsewhere, master(), ""); a.RadarToken != "" {
			t.Error("one approval let a second, unknown sender in")
		}
	}, closed)
}

func TestWindowAdoptsForItsTime(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		for _, length := range []float64{0, -1, 24*3600 + 1} {
			if _, err := b.Devices.OpenAdoption(context.Background(), 0, length); fault.KindOf(err) != fault.Invalid {
				t.Errorf("window of %v s: %v", length, err)
			}
		}
		until, err := b.Devices.OpenAdoption(context.Background(), 0, 600)
		if err != nil || until != now().Add(600) {
			t.Fatalf("open until %v, %v", until, err)
		}
		time.Sleep(599 * time.Second)
		if a := b.post(master(), ""); a.RadarToken == "" {
			t.Errorf("inside the window: %+v", a)
		}
		time.Sleep(time.Second)
		if a := b.post(peer(), ""); a.RadarToken != "" {
			t.Error("adopted after the window")
		}
	}, closed)
}

func TestStrangerCannotTakeOverAnAdoptedDevice(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.home()
		time.Sleep(25 * time.Hour) // no window any more
		for name, c := range map[string]struct {
			token string
			reset bool
		}{
			"without a token": {}, "with a wrong token": {token: "guess"}, "after a factory reset": {reset: true},
		} {
			p := master()
			p.FactoryReset = c.reset
			got := b.postFrom(elsewhere, p, c.token)
			if got.RadarToken != "" || got.GuardianToken != "" || got.TryAgain != "adopted, but without its token: open an adoption window or remove the device" {
				t.Errorf("stranger %s: %+v", name, got)
			}
		}
		if n := b.network(); n != a {
			t.Errorf("network %d became %d", a, n)
		}
	})
}

func TestReturningDeviceIsKnownByItsAddress(t *testing.T) {
	for name, c := range map[string]struct {
		readopt, connected, sameAddress, in bool
	}{
		"same address":               {readopt: true, sameAddress: true, in: true},
		"another address":            {readopt: true},
		"while it is connected":      {readopt: true, sameAddress: true, connected: true, in: true},
		"connected elsewhere":        {readopt: true, connected: true},
		"switched off by the strict": {sameAddress: true},
		"connected, by the strict":   {sameAddress: true, connected: true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				time.Sleep(25 * time.Hour)
				if !c.connected {
					b.State.Disconnected(masterKey, "gone")
				}
				from := elsewhere
				if c.sameAddress {
					from = address
				}
				if got := b.postFrom(from, master(), ""); (got.RadarToken != "") != c.in {
					t.Errorf("answer %+v", got)
				}
			}, func(o *engine.Options) { o.Readopt = c.readopt })
		})
	}
}

func TestPostingAgainKeepsIdsAndRenewsTokens(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		first := b.post(master(), "")
		if _, err := b.login(masterID, first.RadarToken); err != nil {
			t.Fatal(err)
		}
		second := b.post(master(), first.RadarToken)
		if second.Network != first.Network || second.RadarToken == first.RadarToken || second.GuardianToken == first.GuardianToken {
			t.Fatalf("second answer %+v", second)
		}
		if _, err := b.login(masterID, first.RadarToken); err != nil {
			t.Errorf("old token before the new one is used: %v", err)
		}
		if _, err := b.login(masterID, second.RadarToken); err != nil {
			t.Errorf("new token: %v", err)
		}
		if _, err := b.login(masterID, first.RadarToken); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("old token after the new one was used: %v", err)
		}
		if _, err := b.login(location, second.RadarToken); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the radar's token opens the guardian's session: %v", err)
		}
		b.view(func(tx *store.Tx) error {
			nodes, err := tx.Nodes(first.Network)
			if len(nodes) != 1 {
				t.Errorf("%d nodes after two posts", len(nodes))
			}
			return err
		})
	})
}

func TestRefreshedRecordBringsNewAddresses(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		again := master()
		again.Radar.Interfaces = append(again.Radar.Interfaces, motion.Interface{Name: "csi0", Type: "WIFI_AP", MAC: motion.MAC{2, 0xaa, 0, 0, 1, 0x77}})
		b.post(again, "")
		b.report(masterKey, batch(kitchen, motion.MAC{2, 0xaa, 0, 0, 1, 0x77}, now(), nil))
	})
}

func TestPeerJoinsItsMaster(t *testing.T) {
	for name, post := range map[string]func() motion.Bootstrap{
		"by location id": peer,
		"by a mesh link": func() motion.Bootstrap {
			p := peer()
			p.LocationID = "another"
			p.Radar.Links = []motion.RadarLink{{MAC: motion.MAC{2, 0xdd, 0, 0, 0, 1}, PeerType: "7"}, {MAC: masterBH, PeerType: "7"}}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				if a := b.post(post(), ""); a.TryAgain != "waiting for its master" {
					t.Errorf("before its master: %+v", a)
				}
				m := b.post(master(), "")
				a := b.post(post(), "")
				if a.Network != m.Network || a.GuardianToken != "" {
					t.Errorf("after its master: %+v", a)
				}
				again := peer()
				again.LocationID = "not-known-yet"
				if got := b.post(again, a.RadarToken); got.Network != m.Network {
					t.Errorf("the same device without its links: %+v", got)
				}
			})
		})
	}
}

func TestClientLinkIsNoMeshLink(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		p := peer()
		p.LocationID = "another"
		p.Radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: "2"}}
		if a := b.post(p, ""); a.TryAgain != "waiting for its master" {
			t.Errorf("answer %+v", a)
		}
	})
}

func TestReturningDeviceStaysInItsPlace(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		first := b.post(master(), "")
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "second", "csi-other", "GWB2"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID, other.Radar.Interfaces = motion.MAC{2, 1}, motion.MAC{2, 2}, nil
		second := b.post(other, "")
		p := b.post(peer(), "")
		b.login(peerID, p.RadarToken)
		time.Sleep(25 * time.Hour)

		moved := peer()
		moved.LocationID = "second"
		if got := b.post(moved, p.RadarToken); got.TryAgain != "adopted in another network: open an adoption window to move it" {
			t.Errorf("uninvited move: %+v", got)
		}
		crowned := peer()
		crowned.Radar.RootMode = motion.RootModeMaster
		if got := b.post(crowned, p.RadarToken); got.TryAgain != "the network has another master: open an adoption window to replace it" {
			t.Errorf("uninvited master: %+v", got)
		}
		b.connect(peerID, p.RadarToken)
		if _, err := b.Devices.OpenAdoption(context.Background(), 0, 60); err != nil {
			t.Fatal(err)
		}
		if got := b.post(moved, p.RadarToken); got.Network != second.Network {
			t.Errorf("invited move: %+v", got)
		}
		for network, want := range map[motion.NetworkID]int{first.Network: 1, second.Network: 2} {
			nodes, err := b.Inventory.Topology(network, true)
			if err != nil || len(nodes.Devices) != want {
				t.Errorf("network %d has %d devices, %v, want %d", network, len(nodes.Devices), err, want)
			}
		}
		key := motion.DeviceKey{Kind: motion.RadarKind, ID: peerID}
		b.report(key, batch(kitchen, peerAP, now(), nil)) // its live session has moved with it
		if links, err := b.Inventory.Topology(second.Network, true); err != nil || len(links.Links) != 1 {
			t.Errorf("links %+v, %v", links.Links, err)
		}
	})
}

func TestRedirectAnswersNothingElse(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.configure(func(n *motion.Network) {
			n.Meta = motion.Document{"gatekeeper_redirect": "http://192.168.10.7:8080/gatekeeper"}
		})
		got := b.post(master(), a.RadarToken)
		want := motion.Admission{Redirect: "http://192.168.10.7:8080/gatekeeper"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("answer %+v", got)
		}
	})
}

func TestSecurePortOfTheNetworkIsAnswered(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		if a := b.post(master(), ""); a.SecurePort != nil {
			t.Errorf("port %d", *a.SecurePort)
		}
		b.configure(func(n *motion.Network) { n.Meta = motion.Document{"mqSecureRadarPort": 9993} })
		if a := b.post(master(), ""); a.SecurePort == nil || *a.SecurePort != 9993 {
			t.Errorf("answer %+v", a)
		}
	})
}

func TestBadPostIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*motion.Bootstrap){
		"no device id":         func(p *motion.Bootstrap) { p.Radar.DeviceID = "" },
		"device id with slash": func(p *motion.Bootstrap) { p.Radar.DeviceID = "a/b" },
		"device id wildcard":   func(p *motion.Bootstrap) { p.Radar.DeviceID = "+" },
		"long device id":       func(p *motion.Bootstrap) { p.Radar.DeviceID = string(slices.Repeat([]byte("a"), 65)) },
		"node name with dot":   func(p *motion.Bootstrap) { p.Radar.NodeName = "A.B" },
		"no location":          func(p *motion.Bootstrap) { p.LocationID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				p := master()
				edit(&p)
				_, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Address: address})
				if fault.KindOf(err) != fault.Invalid {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func TestRemovedDeviceIsOutAtOnce(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(masterID, a.RadarToken)
		b.connect(location, a.GuardianToken)
		if err := b.Devices.RemoveDevice(context.Background(), masterID); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(b.devices.disconnected, masterKey) || !slices.Contains(b.devices.disconnected, guardianKey) {
			t.Errorf("ended were %v, want both of its sessions", b.devices.disconnected)
		}
		if _, err := b.login(location, a.GuardianToken); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("login of its guardian: %v", err)
		}
		if _, err := b.login(masterID, a.RadarToken); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("login: %v", err)
		}
		if err := b.Report(context.Background(), masterKey, motion.RawCSI("CSI1")); err == nil || fault.KindOf(err) != 0 {
			t.Errorf("report of a removed device: %v, want one that ends the connection", err)
		}
		if err := b.Devices.RemoveDevice(context.Background(), masterID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("remove twice: %v", err)
		}
		synctest.Wait()
	})
}

func TestClientsNamedAtTheGatekeeperAreKnown(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		post := master()
		post.Radar.Links = []motion.RadarLink{
			{MAC: motion.MAC{2, 0xbb, 0, 0, 0, 0x77}, PeerType: motion.PeerClient, Hostname: "kitchen-speaker", IP: "192.168.11.14"},
			{MAC: motion.MAC{2, 0xbb, 0, 0, 0, 0x78}, PeerType: motion.PeerMesh},
		}
		for i := range 300 {
			post.Radar.Links = append(post.Radar.Links, motion.RadarLink{MAC: motion.MAC{2, 0xcc, 0, 0, byte(i >> 8), byte(i)}, PeerType: motion.PeerClient})
		}
		id := b.post(post, "").Network
		var leafs []motion.Leaf
		b.view(func(tx *store.Tx) (err error) {
			leafs, err = tx.Leafs(id)
			return err
		})
		if len(leafs) != 120 || leafs[0].Hostname != "kitchen-speaker" || leafs[0].IP != "192.168.11.14" {
			t.Fatalf("%d leafs, the first %+v; want 120, the first with its host name", len(leafs), leafs[0])
		}
		if events := b.kinds(); len(events) != 0 {
			t.Errorf("events without data: %v", events)
		}
		topology, err := b.Inventory.Topology(id, true)
		if err != nil || len(topology.Links) != 0 || len(topology.Devices) != 121 {
			t.Errorf("topology with %d devices and %d links, %v", len(topology.Devices), len(topology.Links), err)
		}
	})
}

func TestMasterShowsTheTokenOfItsGuardianToo(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		p := b.post(peer(), "")
		time.Sleep(25 * time.Hour) // no window any more
		if again := b.postFrom(elsewhere, master(), a.GuardianToken); again.RadarToken == "" {
			t.Errorf("the master: %+v", again)
		}
		if again := b.postFrom(elsewhere, peer(), a.GuardianToken); again.RadarToken != "" || p.RadarToken == "" {
			t.Errorf("a peer with it: %+v", again)
		}
	}, func(o *engine.Options) { o.Readopt = false })
}
