package homeassistant_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/uplink/homeassistant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config returns the discovery of a device.
func config(t *testing.T, topics map[string]string, id string) (v struct {
	Device     map[string]any
	Components map[string]map[string]any
}) {
	t.Helper()
	if err := json.Unmarshal([]byte(topics["homeassistant/device/"+id+"/config"]), &v); err != nil {
		t.Fatalf("discovery of %s: %v", id, err)
	}
	return v
}

func TestEntitiesAppear(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	b := runBox(t, broker, "1a2b3c4d", newHouse(), &memory{}, nil)
	b.shown(w)
	topics := retained(t, broker)
	for id, keys := range map[string][]string{
		"sensegate_1a2b3c4d_bridge":     {"connection", "db_size", "problem", "restart", "version"},
		"sensegate_1a2b3c4d_1":          {"alarm", "density", "events", "intensity", "last_motion", "link_problem", "motion", "occupied", "paused", "scene", "sensitivity"},
		"sensegate_1a2b3c4d_1_l3":       {"density", "last_motion", "motion"},
		"sensegate_1a2b3c4d_1_l4":       {"density", "last_motion", "motion"},
		"sensegate_1a2b3c4d_node_55":    {"last_seen", "online", "rssi"},
		"sensegate_1a2b3c4d_1_member_7": {"presence"},
	} {
		if got := slices.Sorted(maps.Keys(config(t, topics, id).Components)); !slices.Equal(got, keys) {
			t.Errorf("%s has %v, want %v", id, got, keys)
		}
	}
	for topic, want := range map[string]string{
		"availability": "online", "1/availability": "online", "1/motion": "OFF", "1/occupied": "OFF", "1/density": "12",
		"1/last_motion": "2025-11-24T16:00:00+00:00", "1/scene": "home", "1/alarm": "disarmed", "1/paused": "OFF", "1/sensitivity": "medium",
		"1/status":                  `{"leafs":3,"links_down":0,"links_slow":0,"nodes_online":2}`,
		"1/location/l3/motion":      "OFF",
		"1/location/l3/density":     "3",
		"1/node/55/availability":    "online",
		"1/node/55/state":           `{"firmware":"2.0","last_seen":"2025-11-24T16:00:00+00:00","rssi":-51,"uptime_s":5}`,
		"1/member/7/presence":       "home",
		"1/member/7/attributes":     `{"in_zones":["zone.home"],"source":"geofence","updated":"2025-11-24T16:00:00+00:00"}`,
		"1/location/l4/density":     "", // no data: nothing is told
		"1/events":                  "",
		"1/intensity":               "",
		"1/location/l4/last_motion": "",
	} {
		if got := topics[b.base+"/"+topic]; got != want {
			t.Errorf("%s holds %q, want %q", topic, got, want)
		}
	}
}

func TestMotionTogglesAndNothingIsRepeated(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	mark := w.mark()
	h.change(1, func(n *homeassistant.Network) {
		n.Motion, n.Occupied = true, true
		n.Detection = homeassistant.Detection{Since: 1764000100, Place: "Kitchen", Links: []string{"tv.guardian"}, Intensity: 0.341}
		n.Rooms[0].Motion = true
	})
	w.holds(b.base+"/1/location/l3/motion", "ON")
	w.holds(b.base+"/1/motion/attributes", `{"event_id":"","intensity":0.34,"links":["tv.guardian"],"location":"Kitchen","since":"2025-11-24T16:01:40+00:00"}`)
	for range 3 { // told again, and the same
		h.change(1, func(*homeassistant.Network) {})
	}
	h.change(1, func(n *homeassistant.Network) { n.Motion, n.Rooms[0].Motion = false, false })
	w.holds(b.base+"/1/location/l3/motion", "OFF")
	for topic, want := range map[string][]string{"1/motion": {"ON", "OFF"}, "1/occupied": {"ON"}, "1/availability": nil, "1/scene": nil, "1/location/l4/motion": nil} {
		if got := w.since(mark, b.base+"/"+topic); !slices.Equal(got, want) {
			t.Errorf("%s was told %q, want %q", topic, got, want)
		}
	}
}

// TestDeafIsUnavailableAndNeverOff: no data is not no motion.
func TestDeafIsUnavailableAndNeverOff(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	h.change(1, func(n *homeassistant.Network) { n.Motion, n.Rooms[0].Motion = true, true })
	w.holds(b.base+"/1/location/l3/motion", "ON")
	mark := w.mark()
	h.change(1, func(n *homeassistant.Network) { n.Rooms[0].Known, n.Rooms[0].Motion = false, false })
	w.holds(b.base+"/1/location/l3/availability", "offline")
	h.change(1, func(n *homeassistant.Network) { n.Known, n.Motion, n.Density = false, false, nil })
	w.holds(b.base+"/1/location/l4/availability", "offline")
	if got := w.since(mark, b.base+"/1/availability"); !slices.Equal(got, []string{"offline"}) {
		t.Errorf("availability was told %q", got)
	}
	w.settled()
	for _, topic := range []string{"1/motion", "1/location/l3/motion", "1/density"} {
		if got := w.since(mark, b.base+"/"+topic); got != nil {
			t.Errorf("%s of a deaf network was told %q", topic, got)
		}
	}
	mark = w.mark()
	h.change(1, func(n *homeassistant.Network) { n.Known = true })
	w.holds(b.base+"/1/availability", "online")
	w.mu.Lock()
	defer w.mu.Unlock()
	order := []string{}
	for _, m := range w.log[mark:] {
		order = append(order, strings.TrimPrefix(m.Topic(), b.base+"/"))
	}
	if slices.Index(order, "1/motion") < 0 || slices.Index(order, "1/motion") > slices.Index(order, "1/availability") {
		t.Errorf("told in the order %v: the state that was left is shown until the new one comes", order)
	}
}

func TestUnpluggedIsUnavailable(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	b := runBox(t, broker, "1a2b3c4d", newHouse(), &memory{}, nil)
	b.shown(w)
	b.cut()
	w.holds(b.base+"/availability", "offline")
	for id := range map[string]bool{"sensegate_1a2b3c4d_1": true, "sensegate_1a2b3c4d_1_l3": true} {
		for key, entity := range config(t, retained(t, broker), id).Components {
			if list, ok := entity["availability"].([]any); ok && list[0].(map[string]any)["topic"] != b.base+"/availability" {
				t.Errorf("%s %s does not list the last will: %v", id, key, list)
			}
		}
	}
}

func TestRenamedRoomKeepsItsIDs(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	before, mark := config(t, retained(t, broker), "sensegate_1a2b3c4d_1_l3"), w.mark()
	h.change(1, func(n *homeassistant.Network) { n.Rooms[0].Name = "Pantry" })
	topic := "homeassistant/device/sensegate_1a2b3c4d_1_l3/config"
	w.until("the new name", func(log []mqtt.Message) bool { return strings.Contains(now(log)[topic], `"Pantry"`) })
	w.settled()
	after := config(t, retained(t, broker), "sensegate_1a2b3c4d_1_l3")
	for key, entity := range before.Components {
		if after.Components[key]["unique_id"] != entity["unique_id"] || after.Components[key]["state_topic"] != entity["state_topic"] {
			t.Errorf("%s was %v, is %v", key, entity, after.Components[key])
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.log[mark:] {
		if len(m.Payload()) == 0 {
			t.Errorf("%s was cleared", m.Topic())
		}
	}
}

func TestWhatIsGoneIsCleared(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		gone string // what has to be gone, as part of a topic
		end  func(*box, *witness)
	}{
		"a room": {"l4", func(b *box, w *witness) {
			b.house.change(1, func(n *homeassistant.Network) { n.Rooms = n.Rooms[:1] })
			w.holds(b.base+"/1/location/l4/motion", "")
		}},
		"a node": {"node", func(b *box, w *witness) {
			b.house.change(1, func(n *homeassistant.Network) { n.Nodes = nil })
			w.holds(b.base+"/1/node/55/state", "")
		}},
		"a member who no longer agrees": {"member", func(b *box, w *witness) {
			b.house.change(1, func(n *homeassistant.Network) { n.Members = nil })
			w.holds(b.base+"/1/member/7/presence", "")
		}},
		"a network": {"1a2b3c4d_1", func(b *box, w *witness) {
			b.house.remove(1)
			w.holds(b.base+"/1/status", "")
		}},
		"a network, while the appliance is off": {"1a2b3c4d_1", func(b *box, w *witness) {
			b.stop()
			b.house.remove(1)
			again := runBox(b.t, w.broker, "1a2b3c4d", b.house, b.kept, nil)
			w.holds(again.base+"/1/status", "")
		}},
		"the uplink": {"1a2b3c4d", func(b *box, w *witness) {
			b.stop()
			client, _ := connect(b.t, w.broker, "leaving", "")
			part := homeassistant.New(homeassistant.Options{Box: "1a2b3c4d", Base: b.base, Kept: b.kept})
			if err := part.Leave(b.t.Context(), peer{client}); err != nil {
				b.t.Error(err)
			}
			w.holds(b.base+"/1/status", "")
			wait(b.t, client.Publish(b.base+"/availability", 1, true, ""))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := mosquitto(t)
			w := newWitness(t, broker)
			b := runBox(t, broker, "1a2b3c4d", newHouse(), &memory{}, nil)
			other := runBox(t, broker, "ffffffff", newHouse(), &memory{}, nil)
			b.shown(w)
			other.shown(w)
			theirs := 0
			for topic := range retained(t, broker) {
				if strings.Contains(topic, "ffffffff") {
					theirs++
				}
			}
			end.end(b, w)
			w.settled()
			for topic := range retained(t, broker) {
				if strings.Contains(topic, "ffffffff") {
					theirs--
				} else if strings.Contains(topic, end.gone) || end.gone == "1a2b3c4d_1" && strings.Contains(topic, "/1/") {
					t.Errorf("%s is still there", topic)
				}
			}
			if theirs != 0 {
				t.Errorf("of another appliance %d topics are gone", theirs)
			}
		})
	}
}

// TestRemovedEntityIsForgotten: a device that stays loses an entity, or one has another platform.
func TestRemovedEntityIsForgotten(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h, kept := newHouse(), &memory{}
	b := runBox(t, broker, "1a2b3c4d", h, kept, nil)
	b.shown(w)
	b.stop()
	mark := w.mark()
	b = runBox(t, broker, "1a2b3c4d", h, kept, func(o *homeassistant.Options) { o.ReadOnly = true })
	w.until("all of it", func(log []mqtt.Message) bool {
		for _, m := range log[mark:] {
			if m.Topic() == b.base+"/1/availability" {
				return true
			}
		}
		return false
	})
	told := w.since(mark, "homeassistant/device/sensegate_1a2b3c4d_1/config")
	if len(told) != 2 {
		t.Fatalf("discovery was told %d times, want twice", len(told))
	}
	first := config(t, map[string]string{"homeassistant/device/x/config": told[0]}, "x").Components
	for key, platform := range map[string]string{"alarm": "alarm_control_panel", "scene": "select", "sensitivity": "select", "paused": "switch"} {
		if len(first[key]) != 1 || first[key]["platform"] != platform {
			t.Errorf("to remove %s it was told %v, want its platform alone", key, first[key])
		}
	}
	last := config(t, map[string]string{"homeassistant/device/x/config": told[1]}, "x").Components
	if last["alarm"] != nil || last["scene"]["platform"] != "sensor" {
		t.Errorf("in the end there are %v", last)
	}
	for _, device := range []string{"1a2b3c4d_1", "1a2b3c4d_bridge"} {
		for key, entity := range config(t, retained(t, broker), "sensegate_"+device).Components {
			if entity["command_topic"] != nil {
				t.Errorf("%s can be commanded although all is to be read only", key)
			}
		}
	}
}

func TestTwoAppliancesOnOneBroker(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	one, other := newHouse(), newHouse()
	a := runBox(t, broker, "1a2b3c4d", one, &memory{}, nil)
	b := runBox(t, broker, "00ff00ff", other, &memory{}, nil)
	a.shown(w)
	b.shown(w)
	seen := map[string]string{}
	for topic, payload := range retained(t, broker) {
		if !strings.HasSuffix(topic, "/config") {
			continue
		}
		var v struct {
			Components map[string]struct {
				UniqueID string `json:"unique_id"`
			}
		}
		if err := json.Unmarshal([]byte(payload), &v); err != nil {
			t.Fatal(err)
		}
		for _, entity := range v.Components {
			if before := seen[entity.UniqueID]; before != "" {
				t.Errorf("%s is in %s and %s", entity.UniqueID, before, topic)
			}
			seen[entity.UniqueID] = topic
		}
	}
	mark := w.mark()
	a.cut()
	w.holds(a.base+"/availability", "offline")
	w.say(b.base+"/1/scene/set", "away", false)
	w.holds(b.base+"/1/scene", "away")
	if got := w.since(mark, b.base+"/availability"); got != nil {
		t.Errorf("the other appliance was told to be %q", got)
	}
	if len(one.commands()) != 0 || len(other.commands()) != 1 {
		t.Errorf("asked were %v and %v", one.commands(), other.commands())
	}
}

func TestHomeAssistantStartsAnew(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	b := runBox(t, broker, "1a2b3c4d", newHouse(), &memory{}, nil)
	b.shown(w)
	mark := w.mark()
	w.say("homeassistant/status", "offline", false)
	w.say("homeassistant/status", "online", false)
	w.until("availability again", func(log []mqtt.Message) bool {
		return slices.ContainsFunc(log[mark:], func(m mqtt.Message) bool { return m.Topic() == b.base+"/1/availability" })
	})
	for _, topic := range []string{"homeassistant/device/sensegate_1a2b3c4d_1/config", b.base + "/1/motion", b.base + "/1/scene"} {
		if got := w.since(mark, topic); len(got) != 1 {
			t.Errorf("%s was told %d times after the start", topic, len(got))
		}
	}
}

func TestEventsAreNotKept(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	armed := 1
	h.notify(homeassistant.Change{Network: 1, Event: &motion.Event{
		ID: "0198", Event: motion.MotionDetectedEvent, Category: motion.CategoryMotion, NetworkID: 1, TS: 1764000000.5, LocName: "Kitchen", LinkID: "tv.guardian", Armed: &armed,
		Data: motion.Document{"user": "nobody else's business"},
	}})
	w.holds(b.base+"/1/events", `{"armed":1,"category":"Motion","event":"MotionDetectedEvent","event_type":"motion_detected","id":"0198","link_id":"tv.guardian","location":"Kitchen","ts":1764000000.5}`)
	h.notify(homeassistant.Change{Network: 1, Event: &motion.Event{ID: "2", Event: "SomethingOfADevice", NetworkID: 1}})
	w.until("an unknown event", func(log []mqtt.Message) bool {
		return strings.Contains(now(log)[b.base+"/1/events"], `"event_type":"other"`)
	})
	if kept := retained(t, broker)[b.base+"/1/events"]; kept != "" {
		t.Errorf("the broker keeps %s", kept)
	}
}

func TestLegacyDiscovery(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h, kept := newHouse(), &memory{}
	b := runBox(t, broker, "1a2b3c4d", h, kept, nil)
	b.shown(w)
	b.stop()
	runBox(t, broker, "1a2b3c4d", h, kept, func(o *homeassistant.Options) { o.Legacy = true })
	w.holds("homeassistant/device/sensegate_1a2b3c4d_1/config", "")
	w.until("the motion of the network", func(log []mqtt.Message) bool {
		return now(log)["homeassistant/binary_sensor/sensegate_1a2b3c4d_1/motion/config"] != ""
	})
	var v map[string]any
	if err := json.Unmarshal([]byte(retained(t, broker)["homeassistant/binary_sensor/sensegate_1a2b3c4d_1/motion/config"]), &v); err != nil {
		t.Fatal(err)
	}
	if v["unique_id"] != "sensegate_1a2b3c4d_1_motion" || v["device"] == nil || v["platform"] != nil || v["components"] != nil {
		t.Errorf("discovery of one entity: %v", v)
	}
}
