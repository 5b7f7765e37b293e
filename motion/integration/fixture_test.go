package integration

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/broker"
	"sensegate/firmware-sim/sensorcloud"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	key1    = "0123456789abcdef"
	hubName = "HUB_02CC00FFFE0000AA"
	door    = "SENSOR_02CC00FFFE000001"
	climate = "SENSOR_02CC00FFFE000002"
)

// patience bounds every wait.
const patience = time.Minute

// noDevices stands for the devices of the engine; MQTT users are of the broker, if there is one.
type noDevices struct{ of *fixture }

func (noDevices) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (noDevices) Disconnect(motion.DeviceKey, string)               {}
func (d noDevices) DisconnectUser(name, reason string) {
	if d.of.broker != nil {
		d.of.broker.DisconnectUser(name, reason)
	}
}

// fixture is a service with two homes, on a clock that a test can move on.
type fixture struct {
	*Service
	t       testing.TB
	db      *store.DB
	engine  *engine.Engine
	broker  *broker.Server // of a bridge; nil: none
	ahead   atomic.Int64   // seconds
	stop    func()
	home    home.ID
	network motion.NetworkID
	other   home.ID

	pushing sync.Mutex
	pushes  []motion.Event
}

// push stands for the pusher; what is rolled back was not pushed.
func (f *fixture) push(tx *store.Tx, e motion.Event) error {
	tx.OnCommit(func() {
		f.pushing.Lock()
		defer f.pushing.Unlock()
		f.pushes = append(f.pushes, e)
	})
	return nil
}

// newFixture makes a service; it runs when start is called.
func newFixture(t testing.TB, providers map[string]sensor.Provider) *fixture {
	t.Helper()
	f := &fixture{t: t}
	now := func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load()) * time.Second) }
	f.db = storetest.Open(t, func(o *store.Options) { o.Now, o.Retention = now, store.DefaultRetention() })
	f.home, f.network = f.newHome("a41f00c2d97b4e5580136c2e")
	f.other, _ = f.newHome("b52f00c2d97b4e5580136c2e")
	var err error
	if f.engine, err = engine.New(t.Context(), f.db, engine.Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	f.engine.Introduce(noDevices{f})
	background(t, f.engine.Run)
	f.Service = New(f.db, f.engine, Options{Providers: providers, Log: slog.New(slog.DiscardHandler), Push: f.push})
	return f
}

// newCloudFixture is a running service with a cloud.
func newCloudFixture(t testing.TB) (*fixture, *sensorcloud.Server) {
	t.Helper()
	played := sensorcloud.New(key1)
	server := httptest.NewServer(played)
	t.Cleanup(server.Close)
	f := newFixture(t, map[string]sensor.Provider{
		cloud.Name: cloud.New(cloud.Config{URL: server.URL, Key: key1}, slog.New(slog.DiscardHandler)),
	})
	f.stop = background(t, f.Run)
	return f, played
}

// background runs a part until the test ends or stop is called.
func background(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (f *fixture) update(change func(*store.Tx) error) {
	f.t.Helper()
	if err := f.db.Update(f.t.Context(), change); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) newHome(guardian string) (id home.ID, network motion.NetworkID) {
	f.t.Helper()
	f.update(func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: guardian})
		if err != nil {
			return err
		}
		h, err := tx.CreateHome(home.Home{ExternalID: n.ID})
		id, network = h.ID, n.ID
		return err
	})
	return id, network
}

// enabled initializes the integration of the first home.
func (f *fixture) enabled() sensor.Integration {
	f.t.Helper()
	i, err := f.Create(f.t.Context(), f.home, 9, true, "")
	if err != nil {
		f.t.Fatal(err)
	}
	return i
}

// eventually waits until something holds, which goroutines of others bring about.
func (f *fixture) eventually(what string, holds func() bool) {
	f.t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-limit:
			f.t.Fatalf("never: %s", what)
		}
	}
}

// device returns a device as it is known, without asking the provider.
func (f *fixture) device(thing string) (d sensor.Device, ok bool) {
	f.t.Helper()
	d, _, err := f.find(f.t.Context(), f.home, thing)
	return f.known(d), err == nil
}

// notify has the detections of a sensor kept.
func (f *fixture) notify(thing string) {
	f.t.Helper()
	yes := true
	if _, err := f.ChangeDevice(f.t.Context(), f.home, thing, sensor.DeviceEdit{Notify: &yes}); err != nil {
		f.t.Fatal(err)
	}
}

// statuses returns what the detections of a sensor said, oldest first.
func (f *fixture) statuses(thing string) (list []string) {
	f.t.Helper()
	found, err := f.History(f.t.Context(), f.home, thing, 0, 0, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := range found {
		list = append(list, found[len(found)-1-i].Value.Status)
	}
	return list
}

// events returns the events of the first network, oldest first.
func (f *fixture) events() (list []motion.Event) {
	f.t.Helper()
	err := f.db.View(f.t.Context(), func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: f.network, Last: 100, Ascending: true})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// pendingDeletions returns the accounts that are to be deleted.
func (f *fixture) pendingDeletions() (list []sensor.PendingDeletion) {
	f.t.Helper()
	err := f.db.View(f.t.Context(), func(tx *store.Tx) (err error) {
		list, err = tx.PendingDeletions()
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// furnish gives an account a hub, a door and a thermometer.
func furnish(s *sensorcloud.Server, user string) {
	s.Add(user, cloud.Thing{DeviceType: sensor.Hub, Told: cloud.Told{ThingName: hubName, Online: yes()}})
	s.Add(user, cloud.Thing{DeviceType: sensor.Door, HubThingName: hubName, FriendlyName: "Door", Told: cloud.Told{ThingName: door, Online: yes(), Status: sensor.Closed}})
	s.Add(user, cloud.Thing{DeviceType: sensor.Climate, HubThingName: hubName, Told: cloud.Told{ThingName: climate, Online: yes()}})
}

func yes() *bool { v := true; return &v }

// shelf is a provider that lists the same things for ever.
type shelf []sensor.Found

func (shelf) CreateAccount(_ context.Context, name string) (sensor.Account, error) {
	return sensor.Account{UserThingName: name}, nil
}
func (shelf) DeleteAccount(context.Context, sensor.Account) error { return nil }
func (s shelf) ListDevices(context.Context, sensor.Account) ([]sensor.Found, error) {
	return s, nil
}
func (shelf) Pair(context.Context, sensor.Account, string, time.Duration) error { return nil }
func (shelf) UpdateConfig(context.Context, sensor.Account, sensor.Device, sensor.Device) error {
	return nil
}
func (shelf) Remove(context.Context, sensor.Account, sensor.Device) error { return nil }
func (shelf) Single() (motion.NetworkID, bool)                            { return 0, false }
func (shelf) Run(ctx context.Context, _ sensor.Host) error                { <-ctx.Done(); return nil }
