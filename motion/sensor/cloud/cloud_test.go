package cloud_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/firmware-sim/sensorcloud"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	key     = "0123456789abcdef"
	user    = "USER_1"
	hubName = "HUB_02CC00FFFE0000AA"
	door    = "SENSOR_02CC00FFFE000001"
)

// patience bounds every wait.
const patience = time.Minute

var account = sensor.Account{UserThingName: user}

// serve serves a cloud and returns a provider for it.
func serve(t *testing.T, handler http.Handler) *cloud.Cloud {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return cloud.New(cloud.Config{URL: server.URL + "/", Key: key}, slog.New(slog.DiscardHandler))
}

// furnished returns a cloud with an account that has a hub and a door.
func furnished(t *testing.T) (*sensorcloud.Server, *cloud.Cloud) {
	t.Helper()
	s := sensorcloud.New(key)
	c := serve(t, s)
	if made, err := c.CreateAccount(t.Context(), user); err != nil || made != account {
		t.Fatalf("%+v %v", made, err)
	}
	s.Add(user, cloud.Thing{DeviceType: sensor.Hub, Told: cloud.Told{ThingName: hubName, TS: 1764000000}})
	s.Add(user, cloud.Thing{DeviceType: sensor.Door, HubThingName: hubName, FriendlyName: "Door", Told: cloud.Told{ThingName: door, TS: 1764000000, Status: sensor.Closed}})
	return s, c
}

func TestThingsAreListed(t *testing.T) {
	t.Parallel()
	s, c := furnished(t)
	for _, unusable := range []cloud.Thing{
		{DeviceType: "Toaster", HubThingName: hubName, Told: cloud.Told{ThingName: "SENSOR_2"}},
		{DeviceType: sensor.Door, Told: cloud.Told{ThingName: "SENSOR_3"}},
		{DeviceType: sensor.Door, HubThingName: hubName, Told: cloud.Told{ThingName: "no name"}},
		{DeviceType: sensor.Hub, HubThingName: hubName, Told: cloud.Told{ThingName: "HUB_2"}},
	} {
		s.Add(user, unusable)
	}
	found, err := c.ListDevices(t.Context(), account)
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v %v", found, err)
	}
	if f := found[1]; f.Type != sensor.Door || f.Hub != hubName || f.Name != "Door" || f.Reading.Status != sensor.Closed || f.Reading.Account != user {
		t.Errorf("%+v", f)
	}
}

func TestCallsReachTheCloud(t *testing.T) {
	t.Parallel()
	s, c := furnished(t)
	if err := c.Pair(t.Context(), account, hubName, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := c.Pair(t.Context(), account, hubName, time.Minute+500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(s.PairingUntil(user, hubName)); left <= 0 || left > 61*time.Second {
		t.Errorf("pairing for %s more", left)
	}
	after := sensor.Device{ThingName: door, Purpose: sensor.DoorSensor, Config: sensor.Config{Notify: true, Location: "Hall", HumidityDelta: 5}}
	if err := c.UpdateConfig(t.Context(), account, sensor.Device{}, after); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Settings(user, door); !got.Notify || got.Location != "Hall" || got.Purpose != sensor.DoorSensor {
		t.Errorf("%+v", got)
	}
	if err := c.Pair(t.Context(), account, "HUB_0", time.Minute); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown hub: %v", err)
	}
	hub := sensor.Device{ThingName: hubName, Type: sensor.Hub}
	for range 2 {
		if err := c.Remove(t.Context(), account, hub); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := c.ListDevices(t.Context(), account); err != nil || len(found) != 0 {
		t.Errorf("of a removed hub remains %+v, %v", found, err)
	}
	for range 2 {
		if err := c.DeleteAccount(t.Context(), account); err != nil || len(s.Accounts()) != 0 {
			t.Errorf("%v, %v", s.Accounts(), err)
		}
	}
}

func TestUnreachableCloudSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	s, c := furnished(t)
	s.SetDown(true)
	err := c.Pair(t.Context(), account, hubName, time.Minute)
	if fault.KindOf(err) != fault.Unavailable || err.(*fault.Error).RetryAfter < 7*time.Second {
		t.Errorf("%v", err)
	}
	other := cloud.New(cloud.Config{URL: "http://127.0.0.1:1", Key: key}, slog.New(slog.DiscardHandler))
	if _, err := other.CreateAccount(t.Context(), user); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("nobody there: %v", err)
	}
}

// TestTroubleIsTriedAgain answers twice with trouble and then as it should.
func TestTroubleIsTriedAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	tries := 0
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if tries++; tries < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	if _, err := c.CreateAccount(t.Context(), user); err != nil || tries != 3 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestAnswersThatMakeNoSenseAreTheCloudsTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		kind   fault.Kind
	}{
		"no JSON":       {200, "<html>", fault.Unavailable},
		"too much":      {200, `{"things":[]}` + strings.Repeat(" ", 1<<20), fault.Unavailable},
		"wrong key":     {401, "", fault.Unavailable},
		"redirect":      {307, "", fault.Conflict},
		"refused":       {422, "", fault.Conflict},
		"not there":     {404, "", fault.NotFound},
		"wrong types":   {200, `{"things":{}}`, fault.Unavailable},
		"nothing known": {200, `{}`, 0},
	} {
		p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}))
		if _, err := p.ListDevices(t.Context(), account); fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// host keeps what is delivered.
type host struct {
	accounts []sensor.Account
	batches  chan sensor.Batch
	fail     chan error // one for each delivery that is to fail
	cursor   string
}

func (h *host) Accounts(context.Context) ([]sensor.Account, error) { return h.accounts, nil }
func (h *host) Cursor(context.Context) (string, error)             { return h.cursor, nil }
func (h *host) BadInput(string, []byte)                            {}

func (h *host) Deliver(_ context.Context, b sensor.Batch) error {
	select {
	case err := <-h.fail:
		return err
	default:
	}
	if len(b.Readings)+len(b.Changed) > 0 {
		h.batches <- b
	}
	return nil
}

// run runs a provider until the test ends or stop is called.
func run(t *testing.T, c *cloud.Cloud, h *host) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, h) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func next(t *testing.T, h *host) sensor.Batch {
	t.Helper()
	select {
	case b := <-h.batches:
		return b
	case <-time.After(patience):
		t.Fatal("nothing was delivered")
	}
	panic("unreachable")
}

func newHost(cursor string) *host {
	return &host{accounts: []sensor.Account{account}, batches: make(chan sensor.Batch, 100), fail: make(chan error, 1), cursor: cursor}
}

func TestFeedIsFollowedFromTheCursor(t *testing.T) {
	t.Parallel()
	s, c := furnished(t)
	h := newHost("1") // the first entry has been taken before
	h.fail <- fault.New(fault.Unavailable, "the disk is full")
	stop := run(t, c, h)
	first := next(t, h)
	if first.Cursor != "2" || len(first.Changed) != 1 || first.Changed[0] != user {
		t.Errorf("what could not be stored came as %+v", first)
	}
	s.Tell(user, cloud.Told{ThingName: door, TS: 1764000001, Status: sensor.Open})
	told := next(t, h)
	if len(told.Readings) != 1 || told.Readings[0].Status != sensor.Open || told.Readings[0].TS != 1764000001 || told.Cursor != "3" {
		t.Errorf("%+v", told)
	}
	stop()
	s.Tell(user, cloud.Told{ThingName: door, TS: 1764000002, Status: sensor.Closed})
	h.cursor = told.Cursor
	run(t, c, h)
	if missed := next(t, h); len(missed.Readings) != 1 || missed.Readings[0].Status != sensor.Closed {
		t.Errorf("missed while away: %+v", missed)
	}
}

func TestForgottenCursorListsEverythingAgain(t *testing.T) {
	t.Parallel()
	s, c := furnished(t)
	s.Forget()
	h := newHost("2")
	run(t, c, h)
	if b := next(t, h); len(b.Changed) != 1 || b.Cursor == "" || b.Cursor == "2" {
		t.Errorf("%+v", b)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config cloud.Config
		wrong  int
	}{
		"nothing":             {cloud.Config{}, 0},
		"right":               {cloud.Config{URL: "https://sensors.example.com/a", Key: key}, 0},
		"no key":              {cloud.Config{URL: "https://sensors.example.com"}, 1},
		"short key, no url":   {cloud.Config{Key: "short"}, 1},
		"both wrong":          {cloud.Config{URL: "ftp://x", Key: "short"}, 2},
		"password in the url": {cloud.Config{URL: "https://u:p@x", Key: key}, 1},
	} {
		lines := 0
		if err := c.config.Validate(); err != nil {
			lines = strings.Count(err.Error(), "\n") + 1
		}
		if lines != c.wrong {
			t.Errorf("%s: %v", name, c.config.Validate())
		}
	}
}
