package house_test

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/uplink/homeassistant"
	"sensegate/motion/uplink/house"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noDevices stands for the broker.
type noDevices struct{}

func (noDevices) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (noDevices) Disconnect(motion.DeviceKey, string)               {}
func (noDevices) DisconnectUser(string, string)                     {}

var (
	kitchen  = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	hallway  = motion.MAC{2, 0xbb, 0, 0, 0, 0x32}
	guardian = motion.DeviceKey{Kind: motion.Guardian, ID: "a41f00c2"}
)

// place is an appliance without its doors, whose one home is followed.
type place struct {
	*house.House
	homeassistant.Follower
	t         *testing.T
	db        *store.DB
	engine    *engine.Engine
	household *household.Household
	network   motion.NetworkID
	home      home.ID
	owner     home.UserID
	restarted bool

	mu   sync.Mutex
	told []homeassistant.Change
}

// follow calls test in a bubble of virtual time with a claimed home of two rooms.
func follow(t *testing.T, test func(*testing.T, *place)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t}
		var err error
		if p.db, err = store.Open(store.Options{Path: filepath.Join(t.TempDir(), "sensegate.db")}); err != nil {
			t.Fatal(err)
		}
		defer storetest.Close(t, p.db)
		if p.engine, err = engine.New(t.Context(), p.db, engine.Options{FirstWindow: time.Hour}); err != nil {
			t.Fatal(err)
		}
		p.engine.Introduce(noDevices{})
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- p.engine.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		p.household = household.New(p.db, p.engine, household.Options{})
		p.settle()
		p.House = house.New(house.Options{
			Uplink: "house", Members: true, Engine: p.engine, Household: p.household, DB: p.db, Log: slog.New(slog.DiscardHandler),
			Restart: func() error { p.restarted = true; return nil },
		})
		following, stop := context.WithCancel(t.Context())
		wait := p.Watch(following)
		p.Follower = p.Follow(following, func(c homeassistant.Change) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.told = append(p.told, c)
		})
		defer func() { stop(); wait() }()
		test(t, p)
	})
}

// settle makes the home.
func (p *place) settle() {
	p.t.Helper()
	post := motion.Bootstrap{LocationID: guardian.ID, Radar: motion.Radar{
		DeviceID: "csi-a", NodeName: "GWA1", RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12},
	}}
	a, err := p.engine.Devices.Admit(p.t.Context(), post, motion.Credentials{Address: netip.MustParseAddr("192.168.10.13")})
	if err != nil {
		p.t.Fatal(err)
	}
	p.network = a.Network
	if _, err := p.engine.Login(p.t.Context(), guardian.ID, a.GuardianToken); err != nil {
		p.t.Fatal(err)
	}
	p.engine.Connected(guardian, netip.MustParseAddr("192.168.10.13"))
	for mac, room := range map[motion.MAC]string{kitchen: "Kitchen", hallway: "Hallway"} {
		if err := p.engine.Inventory.PlaceLeaf(p.t.Context(), p.network, mac, room, ""); err != nil {
			p.t.Fatal(err)
		}
	}
	p.update(func(tx *store.Tx) error {
		h, err := tx.CreateHome(home.New(p.network))
		if err != nil {
			return err
		}
		now := tx.Now().Stamp()
		u, err := tx.CreateUser(home.User{Email: "jdoe@example.com", FirstName: "J", Sub: "sub", ConfirmedAt: &now})
		if err != nil {
			return err
		}
		p.home, p.owner = h.ID, u.ID
		h.ClaimedAt, h.Name = tx.Now(), "Home"
		if err := tx.PutHome(h); err != nil {
			return err
		}
		_, err = tx.CreateMembership(home.Membership{Home: h.ID, User: u.ID, Role: home.OwnerRole, IsPresent: true, PresenceAt: tx.Now()})
		return err
	})
}

func (p *place) update(change func(*store.Tx) error) {
	p.t.Helper()
	if err := p.db.Update(p.t.Context(), change); err != nil {
		p.t.Fatal(err)
	}
}

// now returns the network as it is shown.
func (p *place) now() homeassistant.Network {
	p.t.Helper()
	n, ok, err := p.Network(p.t.Context(), p.network)
	if err != nil || !ok {
		p.t.Fatalf("the network is not shown: %v", err)
	}
	return n
}

// send reports so many seconds of two links, two samples a second.
func (p *place) send(length int, kitchenMotion, hallwayMotion float64) {
	p.t.Helper()
	for range 2 * length {
		time.Sleep(500 * time.Millisecond)
		column := func(a, b float64) [][]float64 { return [][]float64{{a}, {b}} }
		err := p.engine.Report(p.t.Context(), guardian, &motion.Matrix{
			TS: motion.TimeOf(time.Now()), Interval: 500, Count: 1, Links: []string{"GWA1." + kitchen.Name(), "GWA1." + hallway.Name()}, MotionEnabled: 1,
			Values: motion.Figures{
				motion.MKAI: column(kitchenMotion, hallwayMotion), motion.LRaw: column(kitchenMotion, hallwayMotion), motion.Throughput: column(1, 1),
				motion.MSAD: column(130*kitchenMotion, 130*hallwayMotion), motion.MConf: column(84, 84),
			},
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	synctest.Wait()
}

// rooms returns what is shown of the rooms, by name.
func rooms(n homeassistant.Network) map[string]homeassistant.Room {
	list := map[string]homeassistant.Room{}
	for _, r := range n.Rooms {
		list[r.Name] = r
	}
	return list
}

// changes returns what was told since the last call.
func (p *place) changes() []homeassistant.Change {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.told
	p.told = nil
	return told
}

// wasTold reports whether the network was told to have changed since the last call.
func (p *place) wasTold() bool {
	return slices.ContainsFunc(p.changes(), func(c homeassistant.Change) bool { return c.Network == p.network && c.Event == nil })
}

func TestMotionIsShownWhereItIs(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		if n := p.now(); n.Known || n.Occupied || n.Density != nil {
			t.Errorf("before any data: %+v", n)
		}
		p.send(20, 0, 0)
		if n := p.now(); !n.Known || n.Motion || n.Occupied || !rooms(n)["Kitchen"].Known || rooms(n)["Kitchen"].Motion {
			t.Errorf("quiet: %+v", n)
		}
		if !p.wasTold() {
			t.Error("that there is data was not told")
		}
		p.send(20, 0.8, 0)
		n := p.now()
		if !n.Motion || !n.Occupied || !rooms(n)["Kitchen"].Motion || rooms(n)["Hallway"].Motion || !rooms(n)["Hallway"].Known {
			t.Errorf("motion in the kitchen: %+v", n)
		}
		if d := n.Detection; d.Place != "Kitchen" || d.EventID == "" || !slices.Equal(d.Links, []string{"GWA1." + kitchen.Name()}) || d.Since.IsZero() {
			t.Errorf("detection: %+v", d)
		}
		if v, known := p.Intensity(p.network); !known || v != 0.8 {
			t.Errorf("intensity %g, %t", v, known)
		}
		p.send(600, 0, 0)
		if n := p.now(); n.Motion || !n.Occupied || rooms(n)["Kitchen"].Motion || rooms(n)["Kitchen"].LastMotion.IsZero() || *n.Density != 0 {
			t.Errorf("ten minutes later: %+v, density %v", n, n.Density)
		}
		p.send(300, 0, 0)
		if n := p.now(); n.Occupied {
			t.Error("after a quarter of an hour somebody is there still")
		}
		if p.engine.State.LiveMotion.Readers(p.network) > 0 {
			t.Error("entities count as readers of live motion, which the guardian is asked for")
		}
	})
}

// TestSilentIsUnknown: no data is not no motion.
func TestSilentIsUnknown(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		p.send(10, 0, 0)
		p.wasTold()
		time.Sleep(2 * time.Minute)
		if !p.wasTold() {
			t.Error("that it is silent was not told")
		}
		if n := p.now(); n.Known || rooms(n)["Kitchen"].Known {
			t.Errorf("a silent network: %+v", n)
		}
		if _, known := p.Intensity(p.network); known {
			t.Error("a silent network has an intensity")
		}
	})
}

// TestSilenceEndsNoMotion: whoever is in a room that goes deaf is not told to have left it.
func TestSilenceEndsNoMotion(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		p.send(20, 0.8, 0)
		for range 120 {
			time.Sleep(time.Second)
			if n := p.now(); n.Known && !n.Motion || rooms(n)["Kitchen"].Known && !rooms(n)["Kitchen"].Motion {
				t.Fatalf("silent, it is told that motion has ended: %+v", n)
			}
		}
		if n := p.now(); rooms(n)["Kitchen"].Known {
			t.Error("a silent room is known")
		}
	})
}

// TestWhatWasBeforeAConnectionIsKnown: motion and an alarm of while no broker was connected, or of before
// a restart, are shown as they were.
func TestWhatWasBeforeAConnectionIsKnown(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		p.send(20, 0, 0)
		if err := p.Do(t.Context(), homeassistant.Command{Network: p.network, Do: homeassistant.SetAway}); err != nil {
			t.Fatal(err)
		}
		p.send(20, 0.8, 0)
		first := p.now()
		if !first.Triggered || !first.Motion || first.Detection.EventID == "" || !rooms(first)["Kitchen"].Motion {
			t.Fatalf("while away: %+v", first)
		}
		p.Follower = p.Follow(t.Context(), func(homeassistant.Change) {}) // another connection
		again := p.now()
		if !again.Triggered || again.LastMotion != first.LastMotion || again.Detection.EventID != first.Detection.EventID || again.Detection.Since != first.Detection.Since || !rooms(again)["Kitchen"].Motion {
			t.Errorf("after another connection: %+v, before %+v", again, first)
		}
		anew := house.New(p.Options) // another start
		watching, stop := context.WithCancel(t.Context())
		defer anew.Watch(watching)()
		defer stop()
		n, ok, err := anew.Follow(watching, func(homeassistant.Change) {}).Network(t.Context(), p.network)
		if err != nil || !ok {
			t.Fatal(err)
		}
		if early := n.Detection.Since.Since(first.Detection.Since); !n.Triggered || n.Detection.EventID != first.Detection.EventID || early < -eventDelay || early > eventDelay || n.LastMotion != n.Detection.Since {
			t.Errorf("after another start: %+v, before %+v", n, first)
		}
	})
}

// eventDelay is how far a detection and its event may be apart, in seconds.
const eventDelay = 10

func TestRenamedRoomKeepsItsID(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		before := rooms(p.now())
		p.wasTold()
		if err := p.household.RenameRoom(t.Context(), p.home, "Kitchen", "Pantry"); err != nil {
			t.Fatal(err)
		}
		if !p.wasTold() {
			t.Error("the new name was not told")
		}
		after := rooms(p.now())
		if after["Pantry"].ID != before["Kitchen"].ID || after["Hallway"].ID != before["Hallway"].ID || len(after) != 2 || before["Kitchen"].ID == 0 {
			t.Errorf("rooms were %v, are %v", before, after)
		}
	})
}

func TestCommandsFollowTheRulesAndAreNoted(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		ask := func(c homeassistant.Command) error {
			c.Network, c.User = p.network, "ha"
			return p.Do(t.Context(), c)
		}
		for _, step := range []struct {
			do   homeassistant.Command
			want func(homeassistant.Network) bool
		}{
			{homeassistant.Command{Do: homeassistant.SetAway}, func(n homeassistant.Network) bool { return n.Away }},
			{homeassistant.Command{Do: homeassistant.SetSensitivity, Level: 3}, func(n homeassistant.Network) bool { return n.Sensitivity == 3 }},
			{homeassistant.Command{Do: homeassistant.Pause}, func(n homeassistant.Network) bool { return n.Paused && !n.Known }},
		} {
			if err := ask(step.do); err != nil {
				t.Fatalf("%s: %v", step.do.Do, err)
			}
			if n := p.now(); !step.want(n) {
				t.Errorf("after %s: %+v", step.do.Do, n)
			}
		}
		if err := ask(homeassistant.Command{Do: homeassistant.SetSensitivity, Level: 1}); err == nil {
			t.Error("a setting is changed while motion is paused")
		}
		if err := ask(homeassistant.Command{Do: homeassistant.Resume}); err != nil || p.now().Paused {
			t.Errorf("after the end of the pause: %v", err)
		}
		if err := p.Do(t.Context(), homeassistant.Command{Network: 99, Do: homeassistant.SetAway}); err == nil {
			t.Error("a network that is not there goes away")
		}
		if err := p.Do(t.Context(), homeassistant.Command{Do: homeassistant.Restart}); err != nil || !p.restarted {
			t.Errorf("restart: %v", err)
		}
		err := p.db.View(t.Context(), func(tx *store.Tx) error {
			lines, _ := tx.AuditPage(0, 100)
			var actions []string
			for _, l := range lines {
				if l.Who != (store.Actor{Kind: store.ByUplink, Name: "house"}) || l.Action != "uplink_restart" && (l.Details["mqtt_user"] != "ha" || l.About != "network 1") {
					t.Errorf("line %+v", l)
				}
				actions = append(actions, l.Action)
			}
			if want := []string{"uplink_restart", "uplink_resume", "uplink_pause", "uplink_sensitivity", "uplink_away"}; !slices.Equal(actions, want) {
				t.Errorf("the audit log has %v, want %v", actions, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestMotionWhileAwayTriggersTheAlarm(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		p.send(20, 0, 0)
		p.now()
		p.send(20, 0.8, 0)
		p.send(120, 0, 0)
		if n := p.now(); n.Triggered {
			t.Error("motion at home triggers the alarm")
		}
		if err := p.Do(t.Context(), homeassistant.Command{Network: p.network, Do: homeassistant.SetAway}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := p.now(); n.Triggered {
			t.Error("motion of before triggers the alarm")
		}
		p.send(20, 0.8, 0)
		if n := p.now(); !n.Triggered {
			t.Error("motion while away does not trigger the alarm")
		}
		p.send(400, 0, 0)
		if n := p.now(); n.Triggered {
			t.Error("the alarm goes on")
		}
	})
}

// TestMembersAreShownWhenTheyAgree: the owner of the home cannot agree for them.
func TestMembersAreShownWhenTheyAgree(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		if n := p.now(); len(n.Members) != 0 {
			t.Errorf("without their consent there are %+v", n.Members)
		}
		p.update(func(tx *store.Tx) error {
			return tx.PutUserMeta(p.owner, motion.Document{house.Agreed: true})
		})
		if n := p.now(); len(n.Members) != 1 || n.Members[0].Name != "J" || !n.Members[0].Present {
			t.Errorf("with their consent there are %+v", n.Members)
		}
		p.update(func(tx *store.Tx) error { return tx.PutUserMeta(p.owner, motion.Document{house.Agreed: "yes"}) })
		if n := p.now(); len(n.Members) != 0 {
			t.Errorf("after another value there are %+v", n.Members)
		}
	})
}

func TestDeletedNetworkIsTold(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		p.now()
		p.changes()
		if err := p.engine.Devices.DeleteNetwork(t.Context(), p.network, func(*store.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if told := p.changes(); !slices.Contains(told, homeassistant.Change{}) || len(p.Networks()) != 0 {
			t.Errorf("told %+v, networks %v", told, p.Networks())
		}
		if _, ok, err := p.Network(t.Context(), p.network); ok || err != nil {
			t.Errorf("it is shown still: %t, %v", ok, err)
		}
	})
}

func TestWhatIsPublishedIsKept(t *testing.T) {
	follow(t, func(t *testing.T, p *place) {
		kept, want := house.Kept(p.db, "house"), homeassistant.Published{"a": {"motion": "binary_sensor"}, "b": nil}
		if err := kept.Store(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err := kept.Load(t.Context()); err != nil || !maps.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
