package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/api/server"
	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/sensing"
	"sensegate/store"
	"sensegate/store/storetest"
)

// How many random days the appliance is held against the reference, and which is the first.
var (
	modelDays = flag.Int("days", 3, "random days of TestAnswersAreThoseOfTheReference")
	modelSeed = flag.Int("seed", 1, "the first of them")
)

// TestAnswersAreThoseOfTheReference lets guardians tell of random days, live, afterwards and
// both, with gaps and clocks that are wrong, and holds what the interface answers against
// the reference.
func TestAnswersAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	for day := range *modelDays {
		t.Run(fmt.Sprint(*modelSeed+day), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { newTrial(t, dir, uint64(*modelSeed+day)).run() })
		})
	}
}

// trial is one random day of one network.
type trial struct {
	t       *testing.T
	random  *rand.Rand
	engine  *engine.Engine
	server  *server.Server
	key     string
	network motion.NetworkID
	live    *sensing.Subscription

	skew    float64 // of the guardian's clock
	raises  bool    // the guardian raises motion events itself
	tripped int     // as it says then
	model   reference
	raised  []raised // by the guardian
	alerts  []alertRule
	armed   float64 // when the alerts were made
	until   float64
}

// alertRule is an alert of the day: every hour at a second of the hour.
type alertRule struct {
	name               string
	second             int64
	duration, inactive int64 // s
}

const (
	kitchenLink = "GWA1000133.02bb00000031"
	hallLink    = "GWA1000133.02bb00000032"
)

// The home: a master and two leafs.
const (
	guardianID = "a41f00c2d97b4e5580136c2e"
	masterID   = "csi-a-02aa00000110"
	kitchen    = "02:bb:00:00:00:31"
	hall       = "02:bb:00:00:00:32"
)

// macs are the places of the links, and places what people call them.
var (
	macs   = []string{kitchen, hall}
	places = []string{"Kitchen", "Hall"}
)

// silent is devices that are told nothing.
type silent struct{}

func (silent) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (silent) Disconnect(motion.DeviceKey, string)               {}
func (silent) DisconnectUser(string, string)                     {}

func newTrial(t *testing.T, dir string, seed uint64) *trial {
	d := &trial{t: t, random: rand.New(rand.NewPCG(seed, 11)), until: now() + 26*3600}
	db, err := store.Open(store.Options{Path: filepath.Join(dir, "sensegate.db"), Retention: store.DefaultRetention()})
	if err != nil {
		t.Fatal(err)
	}
	d.engine, err = engine.New(t.Context(), db, engine.Options{FirstWindow: time.Hour, FlushInterval: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	d.engine.Introduce(silent{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.engine.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		storetest.Close(t, db)
	})
	keys := auth.NewKeys(db)
	err = db.Update(t.Context(), func(tx *store.Tx) (err error) {
		_, d.key, err = tx.CreateAPIKey(store.APIKey{Name: "model", Scopes: auth.Scopes()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	config := server.Defaults()
	config.Rate, config.Burst = 1e6, 1e6
	d.server = server.New(config, slog.New(slog.NewTextHandler(apitest.TroubleLog{TB: t}, &slog.HandlerOptions{Level: slog.LevelError})))
	d.server.Mount(core.New(d.engine, db, keys).Interface())
	d.settle()
	return d
}

// settle makes the home of the day: its devices, its settings, its alerts.
func (d *trial) settle() {
	d.t.Helper()
	address := netip.MustParseAddr("127.0.0.1")
	post := motion.Bootstrap{LocationID: guardianID, Radar: motion.Radar{
		DeviceID: masterID, NodeName: "GWA1000133", LocationID: guardianID, RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12},
	}}
	admission, err := d.engine.Devices.Admit(d.t.Context(), post, motion.Credentials{Address: address})
	if err != nil {
		d.t.Fatal(err)
	}
	key, err := d.engine.Devices.Login(d.t.Context(), guardianID, admission.GuardianToken)
	if err != nil {
		d.t.Fatal(err)
	}
	d.engine.State.Connected(key, address)
	d.network = admission.Network
	d.skew = pick(d, 0, 0, 0, 0, -45, -200, 120.5, 1000, -90000)
	d.raises = d.random.IntN(6) == 0
	d.model.machine = machine{window: pick(d, 4, 8, 12), threshold: pick(d, 0.25, 0.5, 1), cooldown: float64(pick(d, 10, 30, 120))}
	d.ask(http.MethodPatch, fmt.Sprintf("/network/%d/config/guardian", d.network), fmt.Sprintf(
		`{"motion_events":{"density_window":%d,"density_threshold":%v,"cooldown":%v}}`, d.model.machine.window, d.model.machine.threshold, d.model.machine.cooldown), nil)
	d.ask(http.MethodPatch, fmt.Sprintf("/network/%d/config/radar", d.network), `{"sounding":{"warmup_s":0}}`, nil)
	d.report(wire.EventStatus, map[string]any{
		"ts": d.skewed(), "guardian_id": guardianID, "network_id": d.network, "motion_tripped": 0, "motion_enabled": 1,
		"radars": map[string]any{"GWA1000133": map[string]any{
			"deviceId": masterID, "node_id": "GWA1000133", "root_mode": 2, "location_id": guardianID, "ap_bssid_2ghz": "02:aa:00:00:01:12",
			"links": []any{map[string]any{"mac": macs[0], "peer_type": "2"}, map[string]any{"mac": macs[1], "peer_type": "2"}},
		}},
	})
	for i, address := range macs {
		mac, err := motion.ParseMAC(address)
		if err == nil {
			err = d.engine.Inventory.PlaceLeaf(d.t.Context(), d.network, mac, places[i], "")
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
	simple := int64(d.random.IntN(20) + 1)
	long := int64(d.random.IntN(20) + 10)
	d.alerts = []alertRule{
		{"simple", int64(d.random.IntN(3600)), 60 * simple, 60 * simple},
		{"inactivity", int64(d.random.IntN(3600)), 60 * long, 60 * int64(d.random.IntN(8)+1)},
	}
	d.armed = now()
	for _, rule := range d.alerts {
		monitor := fmt.Sprintf(`{"monitor_mode":"SIMPLE","duration_minutes":%d}`, rule.duration/60)
		if rule.name == "inactivity" {
			monitor = fmt.Sprintf(`{"monitor_mode":"INACTIVITY","duration_minutes":%d,"inactive_minutes":%d,"repeat_monitoring":false}`, rule.duration/60, rule.inactive/60)
		}
		start := time.Unix(down(int64(now()), 3600)+rule.second, 0).UTC().Format("20060102T150405Z")
		action := fmt.Sprintf(`[{"action":"event","payload":{"_consumer":%q}}]`, rule.name)
		d.ask(http.MethodPost, fmt.Sprintf("/api/v1/universal-alert?network_id=%d", d.network), fmt.Sprintf(
			`{"rrule":"DTSTART:%s\nRRULE:FREQ=HOURLY","monitor":%s,"no_motion_actions":%[3]s,"motion_actions":%[3]s,"no_history_actions":%[3]s}`, start, monitor, action), nil)
	}
	d.live, err = d.engine.Sensing.Live(d.network)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(d.live.Close)
}

// now returns the time in the bubble in seconds.
func now() float64 { return float64(motion.TimeOf(time.Now())) }

// pick returns one of a list.
func pick[V any](d *trial, list ...V) V { return list[d.random.IntN(len(list))] }

// pass lets so many seconds pass.
func (d *trial) pass(seconds float64) {
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	synctest.Wait()
}

// run plays the day and asks in between and at the end.
func (d *trial) run() {
	d.pass(1 - math.Mod(now(), 1) + pick(d, 0, 0.5))
	if d.raises {
		d.raise()
	}
	defer func() {
		if d.t.Failed() {
			d.t.Logf("clock %v s ahead, raises events: %t, alerts %+v", d.skew, d.raises, d.alerts)
		}
	}()
	for next := now() + 3600; now() < d.until && !d.t.Failed(); {
		switch kind := d.random.IntN(20); {
		case kind < 8:
			d.watched(float64(5 + d.random.IntN(100)))
		case kind < 11:
			d.pass(pick(d, 7.0, 30, 300, 650, 2400))
		case kind < 16:
			d.unwatched(1+d.random.IntN(4), pick(d, true, false))
		case kind < 18: // and all of it is told again
			begin := now()
			d.watched(float64(60 + d.random.IntN(120)))
			d.pass(float64(d.random.IntN(30)))
			d.afterwards(begin+d.skewed()-begin-float64(d.random.IntN(12)), 60)
		case d.raises:
			d.raise()
		default:
			d.heartbeat()
		}
		if now() > next {
			d.examine(1)
			next = now() + float64(3600*(1+d.random.IntN(8)))
		}
	}
	d.pass(700)
	d.examine(6)
	d.examineEvents()
	d.examineAlerts()
}

// ask calls the interface and decodes the answer into out.
func (d *trial) ask(method, path, body string, out any) (bucket string) {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), method, "/core"+path, bytes.NewBufferString(body))
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", d.key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.server.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		d.t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			d.t.Fatalf("%s: %v in %s", path, err, w.Body)
		}
	}
	return w.Header().Get("X-Bucket-Seconds")
}
