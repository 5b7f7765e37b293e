package appliance

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/api/admin"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// outside is an MQTT client of the appliance's broker, or another one, that remembers what it hears.
type outside struct {
	t      *testing.T
	client mqtt.Client

	mu     sync.Mutex
	came   *sync.Cond
	topics map[string]string
}

// waitMQTT is how long anything may take.
const waitMQTT = 20 * time.Second

func newOutside(t *testing.T, address, user, password string) *outside {
	t.Helper()
	o := &outside{t: t, topics: map[string]string{}}
	o.came = sync.NewCond(&o.mu)
	o.client = mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + address).SetClientID("ha").SetUsername(user).SetPassword(password).SetAutoReconnect(false))
	o.done(o.client.Connect())
	t.Cleanup(func() { o.client.Disconnect(0) })
	return o
}

func (o *outside) done(token mqtt.Token) {
	o.t.Helper()
	if !token.WaitTimeout(waitMQTT) || token.Error() != nil {
		o.t.Fatalf("mqtt: %v", token.Error())
	}
}

// subscribe reports whether the broker allows a filter.
func (o *outside) subscribe(filter string) bool {
	o.t.Helper()
	token := o.client.Subscribe(filter, 1, func(_ mqtt.Client, m mqtt.Message) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.topics[m.Topic()] = string(m.Payload())
		o.came.Broadcast()
	})
	if !token.WaitTimeout(waitMQTT) {
		o.t.Fatalf("no answer to the subscription of %s", filter)
	}
	return token.(*mqtt.SubscribeToken).Result()[filter] < 0x80
}

// holds waits until a topic holds text.
func (o *outside) holds(topic, text string) {
	o.t.Helper()
	o.until(topic, func(held string) bool { return held == text })
}

// until waits until what a topic holds is right, and returns it.
func (o *outside) until(topic string, right func(string) bool) string {
	o.t.Helper()
	begun := time.Now()
	late := time.AfterFunc(waitMQTT, o.came.Broadcast)
	defer late.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for !right(o.topics[topic]) {
		if time.Since(begun) >= waitMQTT {
			o.t.Fatalf("%s holds %q; there are %v", topic, o.topics[topic], slices.Sorted(maps.Keys(o.topics)))
		}
		o.came.Wait()
	}
	return o.topics[topic]
}

// TestHomeAssistantConnectsToTheAppliance: the entities are on the appliance's own broker, for a user
// who sees nothing else there and can do nothing else.
func TestHomeAssistantConnectsToTheAppliance(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) {
		c.Uplinks = []uplink.Config{{Name: "ha", URL: "own", Use: []uplink.Use{uplink.HomeAssistant}}}
	})
	word := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(word, []byte("an invented password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.command("user", "create", "jdoe@example.com", "-password-file", word)
	r.claim()
	password, _, _ := strings.Cut(r.command("mqttuser", "create", "homeassistant", "-for", "home-assistant"), "\n")
	if list := r.command("mqttuser", "list"); !strings.Contains(list, "homeassistant/# sensegate/") {
		t.Errorf("the list of users: %s", list)
	}
	base := r.uplinks.Base()
	ha := newOutside(t, r.MQTT().String(), "homeassistant", password)
	for filter, want := range map[string]bool{"homeassistant/#": true, base + "/#": true, "iot-2/#": false, "#": false, "zigbee2mqtt/#": false, "sensegate/#": false} {
		if got := ha.subscribe(filter); got != want {
			t.Errorf("subscription of %s is allowed: %t, want %t", filter, got, want)
		}
	}
	ha.holds(base+"/availability", "online")
	ha.holds(base+"/1/scene", "home")
	ha.holds(base+"/1/availability", "offline") // nothing has been heard
	var discovered struct {
		Components map[string]map[string]any
	}
	text := ha.until("homeassistant/device/"+strings.ReplaceAll(base, "/", "_")+"_1/config", func(held string) bool { return strings.Contains(held, `"scene"`) })
	err := json.Unmarshal([]byte(text), &discovered)
	if err != nil || discovered.Components["scene"]["command_topic"] != base+"/1/scene/set" {
		t.Errorf("discovered: %v, %v", discovered.Components["scene"], err)
	}
	for topic, payload := range map[string]string{base + "/1/scene": "away", base + "/availability": "offline", "homeassistant/device/x/config": "{}", base + "/core": "{}"} {
		ha.done(ha.client.Publish(topic, 1, true, payload)) // acknowledged, and dropped
	}
	ha.done(ha.client.Publish(base+"/1/scene/set", 1, false, "away"))
	ha.holds(base+"/1/scene", "away")
	ha.mu.Lock()
	if ha.topics[base+"/availability"] != "online" || ha.topics["homeassistant/device/x/config"] != "" || ha.topics[base+"/core"] != "" {
		t.Error("the user writes more than commands")
	}
	ha.mu.Unlock()
	lines := r.auditLines(t)
	if l := lines[0]; l.Action != "uplink_away" || l.Who != (store.Actor{Kind: store.ByUplink, Name: "ha"}) || l.Details["mqtt_user"] != "homeassistant" {
		t.Errorf("the audit log has %+v", l)
	}
}

// TestHomeAssistantFollowsThePrefix: the user of a Home Assistant sees the entities wherever the uplink to the
// own broker, of the app or of the configuration, shows them; no other user may have topics there.
func TestHomeAssistantFollowsThePrefix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	password := ""
	sees := func(t *testing.T, r running, base string) {
		t.Helper()
		ha := newOutside(t, r.MQTT().String(), "homeassistant", password)
		if !ha.subscribe(base + "/#") {
			t.Fatalf("no topic below %s is allowed", base)
		}
		ha.holds(base+"/availability", "online")
	}
	t.Run("app", func(t *testing.T) {
		r := serve(t, func(c *Config) { c.StateDir = dir })
		r.command("uplink", "add", "ha", "-url", "own", "-use", "home_assistant")
		refused := func(commands ...string) {
			t.Helper()
			for _, words := range commands {
				err := admin.Run(t.Context(), r.config.StateDir, nil, strings.Fields(words), io.Discard, io.Discard)
				if err == nil || !strings.Contains(err.Error(), "shares topics with") {
					t.Errorf("%s: %v", words, err)
				}
			}
		}
		refused("mqttuser create x -prefix sensegate", "mqttuser create x -prefix "+r.uplinks.Base()+"/1")
		password, _, _ = strings.Cut(r.command("mqttuser", "create", "homeassistant", "-for", "home-assistant"), "\n")
		r.command("mqttuser", "create", "zigbee", "-prefix", "zigbee2mqtt")
		former := r.uplinks.Base()
		sees(t, r, former)
		r.command("uplink", "change", "ha", "-prefix", "radar")
		base := r.uplinks.List()[0].Base
		if base == former {
			t.Fatal("the prefix is the former one")
		}
		sees(t, r, base)
		refused("uplink change ha -prefix zigbee2mqtt", "uplink change ha -prefix zigbee2mqtt/sensegate", "uplink change ha -discovery-prefix zigbee2mqtt",
			"mqttuser create x -prefix homeassistant/x")
		if err := admin.Run(t.Context(), r.config.StateDir, nil, strings.Fields("uplink change ha -discovery-prefix iot-2"), io.Discard, io.Discard); err == nil {
			t.Error("the topics of devices are taken for entities")
		}
		sees(t, r, base)
		r.command("uplink", "remove", "ha")
	})
	for key, c := range map[string]uplink.Config{
		"prefix": {Prefix: "zigbee2mqtt"}, "discovery prefix": {HomeAssistant: uplink.HomeAssistantConfig{DiscoveryPrefix: "zigbee2mqtt"}},
	} {
		t.Run("configuration, "+key+" of another user", func(t *testing.T) {
			c.Name, c.URL, c.Use = "ha", "own", []uplink.Use{uplink.HomeAssistant}
			r := serve(t, func(to *Config) { to.StateDir, to.Uplinks = dir, []uplink.Config{c} })
			for limit := time.Now().Add(waitMQTT); ; time.Sleep(10 * time.Millisecond) {
				u := r.uplinks.List()[0]
				if u.ErrorCode == "topics" && strings.Contains(u.Error, "shares topics with") {
					return
				}
				if time.Now().After(limit) {
					t.Fatalf("the uplink says %q of %s", u.Error, u.Phase)
				}
			}
		})
	}
	for _, prefix := range []string{"radar", "house"} {
		t.Run("configuration "+prefix, func(t *testing.T) {
			r := serve(t, func(c *Config) {
				c.StateDir, c.Uplinks = dir, []uplink.Config{{Name: "ha", URL: "own", Prefix: prefix, Use: []uplink.Use{uplink.HomeAssistant}}}
			})
			sees(t, r, r.uplinks.List()[0].Base)
		})
	}
}
