package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/api/admin"
	"sensegate/api/apitest"
	"sensegate/api/appliance"
	"sensegate/api/auth"
	"sensegate/broker/wire"
	"sensegate/firmware-sim/clocktest"
	"sensegate/firmware-sim/sensorcloud"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/hook"
)

// TestWalkIsAsDocumented runs docs/app.md against the whole appliance with a simulated
// home over real MQTT, a sensor cloud, a receiver of pushes and a Zigbee bridge. With
// -update it writes the answers into it.
func TestWalkIsAsDocumented(t *testing.T) {
	t.Parallel()
	h := newProduct(t)
	h.moveIn()
	code, err := h.SetupCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	password := h.bridge()
	client := newClient(t)
	client.Address = h.HTTP().String()
	w := &apitest.Walk{
		T: t, File: "../../docs/app.md", Update: *update,
		Variables: map[string]string{"SETUP_CODE": code, "MQTT_PASSWORD": password},
		Clients:   []*apitest.Client{client}, Called: client, Received: h.pushes, Publish: h.publish,
	}
	w.Check()
}

// product is the whole appliance, and what the walk has beside it.
type product struct {
	*appliance.Appliance
	t        *testing.T
	stateDir string
	pushes   chan []byte
}

// cloudKey is the one that firmware-sim takes when it is not told another.
const cloudKey = "sensorcloud-demo-key"

// newProduct opens an appliance as the walk's reader does, on free ports.
func newProduct(t *testing.T) *product {
	t.Helper()
	h := &product{t: t, stateDir: t.TempDir(), pushes: make(chan []byte, 1000)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.pushes <- raw
	}))
	t.Cleanup(receiver.Close)
	sensors := sensorcloud.New(cloudKey)
	elsewhere := httptest.NewServer(sensors)
	t.Cleanup(elsewhere.Close)
	apitest.Background(t, func(ctx context.Context) error {
		sensors.Play(ctx, 200*time.Millisecond, func(string) {})
		return nil
	})
	c := appliance.Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen = h.stateDir, "127.0.0.1:0", "127.0.0.1:0"
	c.HTTP.TLSListen, c.MQTT.TLSListen = "off", "off"
	c.HTTP.Rate, c.HTTP.Burst, c.HTTP.BaseURL = 1e6, 1e6, "http://127.0.0.1:8080"
	c.Auth.Argon2 = auth.Argon{Memory: 7168, Passes: 1, Threads: 1}
	c.Push.Webhook = hook.Config{URL: receiver.URL, Secret: "an invented secret"}
	c.Sensors.Cloud.URL, c.Sensors.Cloud.Key = elsewhere.URL, cloudKey
	log := slog.New(slog.NewTextHandler(apitest.TroubleLog{TB: t}, &slog.HandlerOptions{Level: slog.LevelError}))
	var err error
	if h.Appliance, err = appliance.Open(t.Context(), c, log); err != nil {
		t.Fatal(err)
	}
	apitest.Background(t, h.Run)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return h
}

// moveIn starts the home of the demo. Its nodes and leafs are made known one after the
// other, so that they get the same ids each time, and it waits until it is connected.
func (h *product) moveIn() {
	const network, cooldown = 1, 5
	ctx, house := h.t.Context(), sim.NewHome(0)
	for i, node := range house.Nodes {
		radar := motion.Radar{DeviceID: node.DeviceID, NodeName: node.Name, LocationID: house.GuardianID, RootMode: 1}
		if i == 0 {
			radar.RootMode = motion.RootModeMaster
		}
		h.admit(motion.Bootstrap{Radar: radar, LocationID: house.GuardianID})
		if err := h.PlaceNode(ctx, node.DeviceID, node.Location, node.FriendlyName); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, leaf := range house.Leafs {
		if err := h.PlaceLeaf(ctx, network, leaf.MAC, leaf.Location, leaf.FriendlyName); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := h.SetCooldown(ctx, network, cooldown); err != nil {
		h.t.Fatal(err)
	}
	asleep := house
	asleep.Local = clocktest.New(h.t).Night()
	play, err := sim.New(sim.Config{Seed: 1, Home: asleep, Scene: comingAndGoing, Gatekeeper: "http://" + h.HTTP().String() + "/gatekeeper"})
	if err != nil {
		h.t.Fatal(err)
	}
	apitest.Background(h.t, play.Run)
	select {
	case <-play.Ready():
	case <-time.After(time.Minute):
		h.t.Fatal("the home is not connected")
	}
}

// admit has a device ask to join.
func (h *product) admit(b motion.Bootstrap) {
	h.t.Helper()
	answer, err := http.Post("http://"+h.HTTP().String()+"/gatekeeper", "application/json", bytes.NewReader(wire.EncodeBootstrap(b)))
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		h.t.Fatalf("%s %s, %v", answer.Status, raw, err)
	}
}

// comingAndGoing is somebody who is in the kitchen for ten of every twenty-five
// seconds.
func comingAndGoing(_ sim.Home, start motion.Time) (s sim.Scene) {
	for from := start.Add(5); from < start.Add(300); from = from.Add(25) {
		s.Walks = append(s.Walks, sim.Walk{Location: "Kitchen", From: from, To: from.Add(10), Vigour: 1})
	}
	return s
}

// bridge connects what answers the requests of the appliance as a Zigbee2MQTT bridge
// does, and returns the password of its MQTT user.
func (h *product) bridge() (password string) {
	h.t.Helper()
	var out bytes.Buffer
	if err := admin.Run(h.t.Context(), h.stateDir, nil, []string{"mqttuser", "create", "zigbee2mqtt"}, &out, io.Discard); err != nil {
		h.t.Fatal(err)
	}
	password, _, _ = strings.Cut(out.String(), "\n")
	client := h.connect("zigbee2mqtt", password)
	h.t.Cleanup(func() { client.Disconnect(0) })
	const requests = "zigbee2mqtt/bridge/request/"
	h.done(client.Subscribe(requests+"#", 1, func(c mqtt.Client, m mqtt.Message) {
		var request map[string]any
		if err := json.Unmarshal(m.Payload(), &request); err != nil {
			h.t.Error(err)
		}
		answer, _ := json.Marshal(map[string]any{"status": "ok", "data": request, "transaction": request["transaction"]}) // came from JSON
		c.Publish("zigbee2mqtt/bridge/response/"+strings.TrimPrefix(m.Topic(), requests), 1, false, answer)
	}))
	return password
}

// publish sends a message as mosquitto_pub does.
func (h *product) publish(user, password, topic, payload string) error {
	client := h.connect(user, password)
	defer client.Disconnect(100)
	token := client.Publish(topic, 1, false, payload)
	if !token.WaitTimeout(time.Minute) {
		return fmt.Errorf("no acknowledgement")
	}
	return token.Error()
}

func (h *product) connect(user, password string) mqtt.Client {
	h.t.Helper()
	options := mqtt.NewClientOptions().AddBroker("tcp://" + h.MQTT().String()).SetUsername(user).SetPassword(password).SetOrderMatters(false)
	client := mqtt.NewClient(options)
	h.done(client.Connect())
	return client
}

func (h *product) done(token mqtt.Token) {
	h.t.Helper()
	if !token.WaitTimeout(time.Minute) || token.Error() != nil {
		h.t.Fatalf("the broker: %v", token.Error())
	}
}
