package homeassistant_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sensegate/motion/uplink"
	"sensegate/motion/uplink/homeassistant"
)

// What Home Assistant accepts, written from its schemas (homeassistant/components/mqtt of the core:
// schemas.py, discovery.py and the file of each platform, as of 2026). It leaves out keys that it does not
// know, so that a slip would go unnoticed there.
var (
	commonKeys = words("availability availability_mode default_entity_id enabled_by_default entity_category icon json_attributes_topic json_attributes_template name unique_id qos platform")
	platforms  = map[string]struct{ required, optional, classes []string }{
		"binary_sensor": {words("state_topic"), words("device_class expire_after off_delay payload_on payload_off value_template"),
			words("motion occupancy problem connectivity")},
		"sensor": {words("state_topic"), words("device_class expire_after options state_class suggested_display_precision unit_of_measurement value_template"),
			words("timestamp signal_strength data_size enum")},
		"event":               {words("state_topic event_types"), words("device_class value_template"), words("motion doorbell button")},
		"select":              {words("command_topic options"), words("state_topic value_template"), nil},
		"switch":              {words("command_topic"), words("state_topic payload_on payload_off device_class"), words("outlet switch")},
		"button":              {words("command_topic"), words("payload_press device_class"), words("identify restart update")},
		"alarm_control_panel": {words("state_topic command_topic"), words("supported_features code_arm_required code_disarm_required code_trigger_required payload_arm_away payload_disarm"), nil},
		"device_tracker":      {nil, words("state_topic payload_home payload_not_home source_type"), nil},
	}
	deviceKeys = words("identifiers connections name manufacturer model sw_version hw_version serial_number via_device suggested_area configuration_url")
	originKeys = words("name sw_version support_url")
	units      = map[string]string{"signal_strength": "dBm", "data_size": "MiB"}
	objectID   = regexp.MustCompile(`^homeassistant/\w+/([a-zA-Z0-9_-]+/)?[a-zA-Z0-9_-]+/config$`)
	slug       = regexp.MustCompile(`^[a-z_]+\.[a-z0-9_]+$`)
)

func words(text string) []string { return strings.Fields(text) }

// desk is a Peer that keeps what is published.
type desk struct {
	mu     sync.Mutex
	topics map[string]string
	done   func()
}

func (d *desk) Publish(_ context.Context, m uplink.Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.topics[m.Topic] = string(m.Payload)
	if strings.HasSuffix(m.Topic, "/1/availability") { // it comes last
		d.done()
	}
	return nil
}
func (*desk) Offer(uplink.Message)                                          {}
func (*desk) Subscribe(context.Context, string, func(uplink.Message)) error { return nil }

// published returns what a Part publishes at first.
func published(t *testing.T, change func(*homeassistant.Options)) map[string]string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := &desk{topics: map[string]string{}, done: cancel}
	o := homeassistant.Options{Box: "1a2b3c4d", Base: "sensegate/1a2b3c4d", Alarm: true, House: newHouse(), Kept: &memory{}, Log: slog.New(slog.DiscardHandler)}
	change(&o)
	if err := homeassistant.New(o).Introduce(ctx, d); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return d.topics
}

func TestDiscoveryFitsTheSchemas(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*homeassistant.Options){
		"as it is": func(*homeassistant.Options) {}, "read only": func(o *homeassistant.Options) { o.ReadOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topics := published(t, change)
			ids, devices, via := map[string]string{}, map[string]bool{}, map[string]string{}
			for topic, payload := range topics {
				if !strings.HasSuffix(topic, "/config") {
					continue
				}
				var v struct {
					Device, Origin map[string]any
					Components     map[string]map[string]any
				}
				if err := json.Unmarshal([]byte(payload), &v); err != nil || !objectID.MatchString(topic) {
					t.Fatalf("%s: %v", topic, err)
				}
				checkKeys(t, topic+" device", v.Device, deviceKeys)
				checkKeys(t, topic+" origin", v.Origin, originKeys)
				if at, err := url.Parse(v.Device["configuration_url"].(string)); err != nil || at.Host == "" || v.Origin["name"] == "" || len(v.Components) == 0 {
					t.Errorf("%s: %v, %d components", topic, at, len(v.Components))
				}
				devices[v.Device["identifiers"].([]any)[0].(string)] = true
				if to, ok := v.Device["via_device"].(string); ok {
					via[topic] = to
				}
				for key, entity := range v.Components {
					checkEntity(t, topic+" "+key, entity, topics)
					id := entity["unique_id"].(string)
					if ids[id] != "" {
						t.Errorf("%s has the id of %s", topic, ids[id])
					}
					ids[id] = topic
				}
			}
			for topic, to := range via {
				if !devices[to] {
					t.Errorf("%s is reached through %s, which is not there", topic, to)
				}
			}
			if len(ids) < 20 {
				t.Errorf("there are %d entities", len(ids))
			}
		})
	}
}

// TestLegacyDiscoverySaysTheSame: one topic for each entity, with the device in each.
func TestLegacyDiscoverySaysTheSame(t *testing.T) {
	t.Parallel()
	whole := published(t, func(*homeassistant.Options) {})
	single := published(t, func(o *homeassistant.Options) { o.Legacy = true })
	for topic, payload := range whole {
		if !strings.HasSuffix(topic, "/config") {
			if single[topic] != payload {
				t.Errorf("%s holds %q, and %q with legacy discovery", topic, payload, single[topic])
			}
			continue
		}
		var v struct {
			Device     map[string]any
			Components map[string]map[string]any
		}
		if err := json.Unmarshal([]byte(payload), &v); err != nil {
			t.Fatal(err)
		}
		id := strings.Split(topic, "/")[2]
		for key, entity := range v.Components {
			var got map[string]any
			at := "homeassistant/" + entity["platform"].(string) + "/" + id + "/" + key + "/config"
			if err := json.Unmarshal([]byte(single[at]), &got); err != nil || !objectID.MatchString(at) || got["unique_id"] != entity["unique_id"] || got["state_topic"] != entity["state_topic"] ||
				got["device"].(map[string]any)["name"] != v.Device["name"] {
				t.Errorf("%s: %v, %v", at, got, err)
			}
		}
	}
}

func checkKeys(t *testing.T, what string, of map[string]any, allowed []string) {
	t.Helper()
	for key := range of {
		if !slices.Contains(allowed, key) {
			t.Errorf("%s has %q", what, key)
		}
	}
}

// checkEntity holds an entity against the schema of its platform.
func checkEntity(t *testing.T, what string, entity map[string]any, topics map[string]string) {
	t.Helper()
	platform, _ := entity["platform"].(string)
	schema, known := platforms[platform]
	if !known {
		t.Fatalf("%s has the platform %q", what, platform)
	}
	checkKeys(t, what, entity, slices.Concat(commonKeys, schema.required, schema.optional))
	for _, key := range append(schema.required, "unique_id", "name") {
		if _, ok := entity[key]; !ok {
			t.Errorf("%s lacks %s", what, key)
		}
	}
	class, classed := entity["device_class"].(string)
	if classed && !slices.Contains(schema.classes, class) {
		t.Errorf("%s has the class %s", what, class)
	}
	category, categorised := entity["entity_category"].(string)
	if categorised && category != "diagnostic" && (category != "config" || slices.Contains(words("sensor binary_sensor"), platform)) {
		t.Errorf("%s has the category %s", what, category)
	}
	for key, value := range entity {
		text, _ := value.(string)
		switch {
		case strings.HasSuffix(key, "_topic") && (text == "" || strings.ContainsAny(text, "+#\x00") || !strings.HasPrefix(text, "sensegate/1a2b3c4d/")):
			t.Errorf("%s: %s is %q", what, key, text)
		case key == "icon" && !strings.HasPrefix(text, "mdi:"), key == "default_entity_id" && (!slug.MatchString(text) || !strings.HasPrefix(text, platform+".")):
			t.Errorf("%s: %s is %q", what, key, text)
		case key == "command_topic" && !strings.HasSuffix(text, "/set"):
			t.Errorf("%s is commanded by %s", what, text)
		}
	}
	if platform == "sensor" {
		options, hasOptions := entity["options"].([]any)
		switch unit := entity["unit_of_measurement"]; {
		case (class == "enum") != hasOptions || hasOptions && (len(options) == 0 || unit != nil || entity["state_class"] != nil):
			t.Errorf("%s: class %q with the options %v", what, class, options)
		case units[class] != "" && unit != units[class], class == "timestamp" && (unit != nil || entity["state_class"] != nil):
			t.Errorf("%s: class %q with the unit %v", what, class, unit)
		}
	}
	if list, ok := entity["availability"].([]any); ok {
		for _, one := range list {
			topic, _ := one.(map[string]any)["topic"].(string)
			if len(one.(map[string]any)) != 1 || topics[topic] == "" && !strings.HasSuffix(topic, "1a2b3c4d/availability") { // that is the connection's own
				t.Errorf("%s is available as %v says, which holds nothing", what, maps.Clone(one.(map[string]any)))
			}
		}
	}
	checkState(t, what, entity, topics)
}

// checkState checks that the state that a topic holds is one that the entity takes.
func checkState(t *testing.T, what string, entity map[string]any, topics map[string]string) {
	t.Helper()
	topic, _ := entity["state_topic"].(string)
	state := topics[topic]
	if state == "" || entity["value_template"] != nil {
		return
	}
	var takes []string
	for _, key := range words("payload_on payload_off payload_home payload_not_home") {
		if text, ok := entity[key].(string); ok {
			takes = append(takes, text)
		}
	}
	if options, ok := entity["options"].([]any); ok {
		for _, option := range options {
			takes = append(takes, option.(string))
		}
	}
	if entity["platform"] == "alarm_control_panel" {
		takes = words("disarmed armed_away triggered")
	}
	if takes != nil && !slices.Contains(takes, state) {
		t.Errorf("%s takes %v, and its topic holds %q", what, takes, state)
	}
}
