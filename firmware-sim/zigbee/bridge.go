// Package zigbee plays a Zigbee2MQTT bridge with a door sensor, over real MQTT: what the bridge
// publishes, retained where it retains, and its answers to requests (zigbee2mqtt.io, "MQTT topics
// and messages"). It must not know how the appliance works.
package zigbee

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sensegate/firmware-sim/mqtt"
)

// Base is the first level of the bridge's topics, and Door the name that an appliance gives its
// door sensor.
const (
	Base = "zigbee2mqtt"
	Door = "SENSOR_02CC00FFFE000001"
)

const (
	keepAlive = time.Minute
	openFor   = 6 * time.Second  // how long somebody needs to come in
	interval  = 10 * time.Minute // after which the door opens by itself
	name      = "front_door"     // of the door sensor, at the bridge
	battery   = 87               // percent
)

const (
	info    = `{"version":"2.7.2","coordinator":{"ieee_address":"0x02cc00fffe0000aa","type":"EmberZNet"},"permit_join":false}`
	devices = `[{"ieee_address":"0x02cc00fffe0000aa","type":"Coordinator","friendly_name":"Coordinator","definition":null,"interview_completed":true},
{"ieee_address":"0x02cc00fffe000001","type":"EndDevice","supported":true,"friendly_name":"` + name + `","definition":{"model":"MCCGQ11LM","vendor":"Aqara","exposes":[
{"type":"binary","name":"contact","property":"contact","value_on":false,"value_off":true,"access":1},
{"type":"numeric","name":"battery","property":"battery","unit":"%","access":1}]},"power_source":"Battery","interview_completed":true}]`
)

// Bridge is the bridge, made by New. Open may be called at any time, also concurrently.
type Bridge struct {
	server, user, password string

	opens chan struct{} // holds at most one
	ready chan struct{}
}

// New returns a bridge that connects to a broker, host:port, as a user.
func New(server, user, password string) *Bridge {
	return &Bridge{server: server, user: user, password: password, opens: make(chan struct{}, 1), ready: make(chan struct{})}
}

// Open lets somebody come in through the door, unless it is about to be opened.
func (b *Bridge) Open() {
	select {
	case b.opens <- struct{}{}:
	default:
	}
}

// Ready is closed when the broker has taken what devices there are.
func (b *Bridge) Ready() <-chan struct{} { return b.ready }

// Run connects, and opens and closes the door until ctx ends.
func (b *Bridge) Run(ctx context.Context) error {
	up := make(chan struct{}, 1)
	requests := make(chan mqtt.Message, 16)
	link := mqtt.Open(mqtt.Options{
		Server: b.server, ClientID: "mqttjs_demo", User: b.user, Password: b.password, KeepAlive: keepAlive,
		Will:  &mqtt.Message{Topic: Base + "/bridge/state", Payload: []byte(`{"state":"offline"}`), QoS: 1, Retain: true},
		Pause: func(attempt int) time.Duration { return min(time.Duration(attempt)*time.Second, 10*time.Second) },
		Up: func() {
			select {
			case up <- struct{}{}:
			default:
			}
		},
		Received: func(m mqtt.Message) {
			select {
			case requests <- m:
			default: // whoever floods it hears nothing
			}
		},
	})
	defer link.Close()
	b.play(ctx, speaker{link}, up, requests)
	return nil
}

// play answers, and opens and closes the door, until ctx ends. It introduces the bridge with each
// connection.
func (b *Bridge) play(ctx context.Context, to speaker, up <-chan struct{}, requests <-chan mqtt.Message) {
	byItself := time.NewTicker(interval)
	defer byItself.Stop()
	closing := time.NewTimer(0)
	closing.Stop()
	defer closing.Stop()
	open, introduced := false, false
	turn := func(way bool) {
		open = way
		to.says(ctx, name, state(open), true)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-up:
			if to.introduces(ctx, open) && !introduced {
				introduced = true
				close(b.ready)
			}
		case r := <-requests:
			to.answers(ctx, r)
		case <-byItself.C:
			b.Open()
		case <-b.opens:
			turn(true)
			closing.Reset(openFor)
		case <-closing.C:
			turn(false)
		}
	}
}

// state is what the door sensor says.
func state(open bool) string { return fmt.Sprintf(`{"contact":%t,"battery":%d}`, !open, battery) }

// speaker is a connection of the bridge.
type speaker struct{ link *mqtt.Client }

// introduces tells of the bridge and its devices, and reports whether the broker took it.
func (s speaker) introduces(ctx context.Context, open bool) bool {
	err := s.link.Subscribe(ctx, Base+"/bridge/request/#", 0)
	for _, m := range []struct{ topic, payload string }{
		{"bridge/state", `{"state":"online"}`}, {"bridge/info", info}, {"bridge/devices", devices}, {"bridge/groups", "[]"}, {name, state(open)},
	} {
		if err == nil {
			err = s.says(ctx, m.topic, m.payload, true)
		}
	}
	return err == nil
}

// says publishes a message and waits until the broker has taken it.
func (s speaker) says(ctx context.Context, topic, payload string, retained bool) error {
	return s.link.Publish(ctx, mqtt.Message{QoS: 1, Topic: Base + "/" + topic, Payload: []byte(payload), Retain: retained})
}

// answers says yes to a request; what it asks for is not kept.
func (s speaker) answers(ctx context.Context, r mqtt.Message) {
	path, found := strings.CutPrefix(r.Topic, Base+"/bridge/request/")
	var request map[string]any
	if !found || json.Unmarshal(r.Payload, &request) != nil {
		return
	}
	answer, err := json.Marshal(map[string]any{"status": "ok", "data": request, "transaction": request["transaction"]})
	if err == nil {
		_ = s.says(ctx, "bridge/response/"+path, string(answer), false) // whoever asked asks again
	}
}
