package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/broker"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/zigbee2mqtt"
	"sensegate/store"
)

// The Zigbee network of the tests.
const (
	zigbeeHub     = "HUB_00124B00120144AE"
	zigbeeMotion  = "SENSOR_00158D0001B79111"
	zigbeeClimate = "SENSOR_00158D00018255DF"

	coordinatorEntry = `{"ieee_address":"0x00124b00120144ae","type":"Coordinator","network_address":0,"supported":false,"friendly_name":"Coordinator","definition":null,"interviewing":false,"interview_completed":true}`
	motionEntry      = `{"ieee_address":"0x00158d0001b79111","type":"EndDevice","supported":true,"friendly_name":"hall_motion","definition":{"model":"RTCGQ01LM","vendor":"Xiaomi","exposes":[{"type":"binary","name":"occupancy","property":"occupancy","value_on":true,"value_off":false,"access":1},{"type":"numeric","name":"battery","property":"battery","unit":"%","access":1}]},"power_source":"Battery","interviewing":false,"interview_completed":true}`
	climateEntry     = `{"ieee_address":"0x00158d00018255df","type":"EndDevice","supported":true,"friendly_name":"bath","definition":{"model":"WSDCGQ01LM","exposes":[{"type":"numeric","name":"temperature","property":"temperature","access":1},{"type":"numeric","name":"humidity","property":"humidity","access":1}]},"interview_completed":true}`
)

// bridge plays Zigbee2MQTT over TCP: it publishes what that documents, retained where
// that retains, and answers requests.
type bridge struct {
	t      *testing.T
	client mqtt.Client
	conn   net.Conn
	busy   sync.WaitGroup // with requests

	mu       sync.Mutex
	entries  []string // of bridge/devices
	requests []string
}

// newBridgeFixture is a running service with a broker that a bridge can connect to.
func newBridgeFixture(t *testing.T) (f *fixture, connect func() *bridge) {
	f, connect, _ = newNamedBridgeFixture(t)
	return f, connect
}

// newNamedBridgeFixture is newBridgeFixture where restart starts the service anew, with the
// network that the administrator has named; 0: none.
func newNamedBridgeFixture(t *testing.T) (f *fixture, connect func() *bridge, restart func(motion.NetworkID)) {
	t.Helper()
	f = newFixture(t, nil)
	config := broker.Defaults()
	config.Listen = "127.0.0.1:0"
	server, err := broker.New(config, broker.Intake{Engine: f.engine}, slog.New(slog.DiscardHandler))
	if err == nil {
		err = server.Listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	f.broker = server
	start := func(network motion.NetworkID) {
		config := zigbee2mqtt.Defaults()
		config.Network = network
		f.Service = New(f.db, f.engine, Options{Providers: map[string]sensor.Provider{
			zigbee2mqtt.Name: zigbee2mqtt.New(config, server, slog.New(slog.DiscardHandler)),
		}})
		f.stop = background(t, f.Run)
	}
	start(0)
	background(t, server.Run)
	var secret string
	f.update(func(tx *store.Tx) (err error) {
		_, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: "zigbee2mqtt", TopicPrefix: "zigbee2mqtt"})
		return err
	})
	return f, func() *bridge { return newBridge(t, server.Addr().String(), secret) }, func(network motion.NetworkID) {
		f.stop()
		start(network)
	}
}

func newBridge(t *testing.T, address, secret string) *bridge {
	t.Helper()
	b := &bridge{t: t, entries: []string{coordinatorEntry, motionEntry, climateEntry}}
	options := mqtt.NewClientOptions().AddBroker("tcp://"+address).SetClientID("mqttjs_1").SetUsername("zigbee2mqtt").SetPassword(secret).
		SetAutoReconnect(false).SetConnectionLostHandler(func(mqtt.Client, error) {}).
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (conn net.Conn, err error) {
			b.conn, err = net.Dial("tcp", address)
			return b.conn, err
		}).
		SetWill("zigbee2mqtt/bridge/state", `{"state":"offline"}`, 1, true)
	b.client = mqtt.NewClient(options)
	b.wait(b.client.Connect())
	t.Cleanup(func() {
		b.busy.Wait()
		b.client.Disconnect(0)
	})
	b.wait(b.client.Subscribe("zigbee2mqtt/#", 0, func(_ mqtt.Client, m mqtt.Message) {
		if path, ok := strings.CutPrefix(m.Topic(), "zigbee2mqtt/bridge/request/"); ok {
			b.busy.Go(func() { b.answer(path, m.Payload()) })
		}
	}))
	b.says("bridge/state", `{"state":"online"}`, true)
	b.info(false)
	b.list()
	b.says("bridge/groups", `[]`, true)
	return b
}

func (b *bridge) wait(token mqtt.Token) {
	b.t.Helper()
	if !token.WaitTimeout(patience) || token.Error() != nil {
		b.t.Fatalf("mqtt: %v", token.Error())
	}
}

func (b *bridge) says(topic, payload string, retained bool) {
	b.wait(b.client.Publish("zigbee2mqtt/"+topic, 1, retained, payload))
}

func (b *bridge) info(joining bool) {
	b.says("bridge/info", fmt.Sprintf(`{"version":"2.7.2","commit":"772f6c0","coordinator":{"ieee_address":"0x00124b00120144ae","type":"EmberZNet","meta":{"revision":"8.0.2"}},"network":{"channel":15},"log_level":"info","permit_join":%t,"config":{},"restart_required":false}`, joining), true)
}

func (b *bridge) list() {
	b.mu.Lock()
	list := "[" + strings.Join(b.entries, ",") + "]"
	b.mu.Unlock()
	b.says("bridge/devices", list, true)
}

// answer does what a request asks for.
func (b *bridge) answer(path string, payload []byte) {
	var request map[string]any
	if json.Unmarshal(payload, &request) != nil {
		return
	}
	b.mu.Lock()
	text, _ := json.Marshal(map[string]any{"id": request["id"], "time": request["time"], "to": request["to"]}) // came from JSON
	b.requests = append(b.requests, path+" "+string(text))
	if path == "device/remove" {
		b.entries = slices.DeleteFunc(b.entries, func(e string) bool { return strings.Contains(e, fmt.Sprint(request["id"])) })
	}
	b.mu.Unlock()
	if path == "permit_join" {
		b.info(true)
	}
	response, _ := json.Marshal(map[string]any{"data": request, "status": "ok", "transaction": request["transaction"]}) // came from JSON
	b.says("bridge/response/"+path, string(response), false)
	if path == "device/remove" {
		b.list()
	}
}

func TestBridgeOverMQTT(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	b := connect()
	f.eventually("the hub and its sensors are there", func() bool { d, _ := f.device(zigbeeMotion); return d.Config.Online })
	list, err := f.Devices(t.Context(), f.home)
	if err != nil || len(list) != 3 || list[0].ThingName != zigbeeHub || list[0].Config.Status != sensor.Ready || list[2].Config.FriendlyName != "hall_motion" {
		t.Fatalf("%+v %v", list, err)
	}
	f.notify(zigbeeMotion)
	b.says("hall_motion", `{"battery":88,"occupancy":true,"illuminance_lux":12,"linkquality":105}`, false)
	b.says("hall_motion", `{"battery":88,"occupancy":true,"linkquality":99}`, false)
	b.says("hall_motion", `{"battery":87,"occupancy":false,"linkquality":99}`, false)
	// Each was acknowledged after it was stored.
	found, err := f.History(t.Context(), f.home, zigbeeMotion, 0, 0, 0)
	if err != nil || len(found) != 2 || found[1].Value.Status != sensor.Moving || *found[1].Value.BatteryLevel != 88 || found[0].Value.Status != sensor.Clear {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := f.Pair(t.Context(), f.home, zigbeeHub, 60); err != nil {
		t.Fatal(err)
	}
	f.eventually("the hub is pairing", func() bool { d, _ := f.device(zigbeeHub); return d.Config.Status == sensor.Pairing })
	if err := f.RemoveDevice(t.Context(), f.home, zigbeeMotion); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.device(zigbeeMotion); ok {
		t.Error("the removed sensor is there")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	want := []string{`permit_join {"id":null,"time":60,"to":null}`, `device/remove {"id":"0x00158d0001b79111","time":null,"to":null}`}
	if !slices.Equal(b.requests, want) {
		t.Errorf("asked %q", b.requests)
	}
}

// TestBridgeThatIsLostComesBack cuts the connection, so that the broker sends the will.
func TestBridgeThatIsLostComesBack(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	if list, err := f.Devices(t.Context(), f.home); err != nil || len(list) != 0 {
		t.Errorf("before the bridge has come: %+v %v", list, err)
	}
	b := connect()
	f.eventually("the sensor is online", func() bool { d, _ := f.device(zigbeeMotion); return d.Config.Online })
	f.notify(zigbeeMotion)
	b.says("hall_motion", `{"occupancy":true}`, false)
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}
	f.eventually("all is offline", func() bool { d, _ := f.device(zigbeeMotion); return !d.Config.Online })
	if _, err := f.Pair(t.Context(), f.home, zigbeeHub, 60); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("paired with a bridge that is away: %v", err)
	}
	if d, err := f.Device(t.Context(), f.home, zigbeeMotion); err != nil || d.Config.Status != sensor.Moving {
		t.Errorf("what is known: %+v %v", d.Config, err)
	}
	again := connect()
	again.says("hall_motion", `{"occupancy":true}`, false)
	again.says("hall_motion", `{"occupancy":false}`, false)
	if got := f.statuses(zigbeeMotion); !slices.Equal(got, []string{sensor.Moving, sensor.Clear}) {
		t.Errorf("%v", got)
	}
}

func TestRemovedCoordinatorComesBackWithTheNextSetUp(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	b := connect()
	f.eventually("the sensor is there", func() bool { _, ok := f.device(zigbeeClimate); return ok })
	if err := f.RemoveDevice(t.Context(), f.home, zigbeeHub); err != nil {
		t.Fatal(err)
	}
	b.list()
	if list, err := f.Devices(t.Context(), f.home); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := f.Change(t.Context(), f.home, sensor.Edit{OOBPhase: to("started")}); err != nil {
		t.Fatal(err)
	}
	if list, err := f.Devices(t.Context(), f.home); err != nil || len(list) != 1 || list[0].ThingName != zigbeeHub {
		t.Errorf("%+v %v", list, err)
	}
	removed := 0
	for _, e := range f.events() {
		if e.Event == motion.DeviceRemoved {
			removed++
		}
	}
	if removed != 2 {
		t.Errorf("%d events", removed)
	}
}

func TestSensorThatTheBridgeForgetsStaysUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	b := connect()
	f.eventually("the sensor is online", func() bool { d, _ := f.device(zigbeeMotion); return d.Config.Online })
	f.notify(zigbeeMotion)
	b.says("hall_motion", `{"occupancy":true}`, false)
	b.mu.Lock()
	b.entries = []string{coordinatorEntry, climateEntry}
	b.mu.Unlock()
	b.list()
	d, ok := f.device(zigbeeMotion)
	if !ok || d.Config.Online || len(f.statuses(zigbeeMotion)) != 1 {
		t.Errorf("%+v, %v", d, f.statuses(zigbeeMotion))
	}
	b.mu.Lock()
	b.entries = append(b.entries, motionEntry)
	b.mu.Unlock()
	b.list()
	if d, _ = f.device(zigbeeMotion); !d.Config.Online || !d.Config.Notify {
		t.Errorf("paired again: %+v", d)
	}
	if err := f.RemoveDevice(t.Context(), f.home, zigbeeMotion); err != nil {
		t.Fatal(err)
	}
}

func TestBridgeServesOneHome(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	connect()
	f.enabled()
	if _, err := f.Create(t.Context(), f.other, 9, true, ""); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), f.other, 9, true, ""); err != nil {
		t.Error(err)
	}
	if list, err := f.Devices(t.Context(), f.other); err != nil || len(list) != 3 {
		t.Errorf("%+v %v", list, err)
	}
}

// TestBridgeIsNotForWhoeverAsksFirst has two households ask for a bridge that the
// administrator has connected, before and after they say whose it is, and has it handed over.
func TestBridgeIsNotForWhoeverAsksFirst(t *testing.T) {
	t.Parallel()
	f, connect, restart := newNamedBridgeFixture(t)
	enable := func(h home.ID) error {
		_, err := f.Create(t.Context(), h, 9, true, "")
		return err
	}
	for _, id := range []home.ID{f.home, f.other} {
		f.update(func(tx *store.Tx) error {
			house, err := tx.Home(id)
			house.OwnedBefore = true
			return errors.Join(err, tx.PutHome(house))
		})
	}
	for _, id := range []home.ID{f.home, f.other} {
		if err := enable(id); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "sensors.zigbee2mqtt.network") {
			t.Errorf("home %d, while nobody says whose it is: %v", id, err)
		}
	}
	restart(f.network)
	if err := enable(f.other); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another than the named one: %v", err)
	}
	if err := enable(f.home); err != nil {
		t.Fatal(err)
	}
	connect()
	f.eventually("the sensor is online", func() bool { d, _ := f.device(zigbeeMotion); return d.Config.Online })
	restart(0) // it keeps what it has
	if err := enable(f.home); err != nil {
		t.Error(err)
	}

	var second motion.NetworkID
	f.update(func(tx *store.Tx) error {
		house, err := tx.Home(f.other)
		second = house.ExternalID
		return err
	})
	restart(second)
	b := connect()
	if d, _ := f.device(zigbeeMotion); d.Config.Online {
		t.Error("the former household hears of the sensor")
	}
	if _, err := f.Pair(t.Context(), f.home, zigbeeHub, 60); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the former household pairs: %v", err)
	}
	if err := f.RemoveDevice(t.Context(), f.home, zigbeeMotion); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the former household removes a sensor: %v", err)
	}
	if err := enable(f.other); err != nil {
		t.Fatal(err)
	}
	b.list()
	if list, err := f.Devices(t.Context(), f.other); err != nil || len(list) != 3 || !list[0].Config.Online {
		t.Errorf("the new household has %+v, %v", list, err)
	}
	if i, err := f.Integration(t.Context(), f.home); err != nil || i.Enabled || i.Account.UserThingName != "" {
		t.Errorf("the former household has %+v, %v", i, err)
	}
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Errorf("the former household ends its integration: %v", err)
	}
}

// TestReadingsEachSecondDoNotWearTheFlash has a thermometer report 900 times, slowly
// warming by two degrees, and a motion sensor bounce.
func TestReadingsEachSecondDoNotWearTheFlash(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	b := connect()
	f.eventually("the sensors are there", func() bool { d, _ := f.device(zigbeeClimate); return d.Config.Online })
	f.notify(zigbeeClimate)
	f.notify(zigbeeMotion)
	for i := range 900 {
		b.client.Publish("zigbee2mqtt/bath", 0, false, fmt.Sprintf(`{"temperature":%.2f,"humidity":50.3,"battery":97,"linkquality":%d}`, 20+2.05*float64(i)/900, i%255))
	}
	b.says("bath", `{"linkquality":1}`, false)
	if got := len(f.statuses(zigbeeClimate)); got != 3 { // the first, and one a degree
		t.Errorf("%d detections of temperature", got)
	}
	for i := range 500 {
		b.client.Publish("zigbee2mqtt/hall_motion", 0, false, fmt.Sprintf(`{"occupancy":%t}`, i%2 == 0))
	}
	b.says("hall_motion", `{"linkquality":1}`, false)
	if got := len(f.statuses(zigbeeMotion)); got == 0 || got > 60+60 {
		t.Errorf("%d detections of a bouncing sensor", got)
	}
}
