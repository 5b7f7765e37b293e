package homeassistant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Limits of an announcement.
const (
	maxComponents = 256 // of a device
	maxTopic      = 512 // bytes
	maxText       = 256 // bytes of a unique id or a payload
	longestWait   = 7 * 24 * time.Hour
)

// entity is a sensor as its maker announces it.
type entity struct {
	key          string // its unique id, or the topic of its announcement
	name         string // may be ""
	kind         sensor.Type
	topic        string // of its state
	value        template
	on, off      string
	offDelay     time.Duration // from on to off by itself; 0: never
	expireAfter  time.Duration // from a state until nothing is known; 0: never
	availability []availability
	mode         string // all, any or latest: which topics of availability count
}

// availability is a topic that says whether a sensor is online.
type availability struct {
	topic       string
	value       template
	online, off string
}

// classes are the device classes that are sensors here, and their types.
var classes = map[string]sensor.Type{
	"motion": sensor.Motion, "occupancy": sensor.Motion, "presence": sensor.Motion, "moving": sensor.Motion,
	"door": sensor.Door, "garage_door": sensor.Door, "opening": sensor.Door, "window": sensor.Door,
	"vibration": sensor.Vibration,
}

// abbreviations are the short forms of the keys that are read.
var abbreviations = map[string]string{
	"availability": "avty", "availability_mode": "avty_mode", "availability_topic": "avty_t", "availability_template": "avty_tpl",
	"components": "cmps", "device": "dev", "device_class": "dev_cla", "expire_after": "exp_aft", "off_delay": "off_dly", "origin": "o",
	"payload_available": "pl_avail", "payload_not_available": "pl_not_avail", "payload_on": "pl_on", "payload_off": "pl_off", "platform": "p",
	"state_topic": "stat_t", "topic": "t", "unique_id": "uniq_id", "value_template": "val_tpl",
	"identifiers": "ids", "manufacturer": "mf", "model": "mdl",
}

// object is a JSON object whose keys may be abbreviated.
type object map[string]any

func (o object) get(key string) any {
	if v, ok := o[key]; ok {
		return v
	}
	return o[abbreviations[key]]
}

// text returns a value that is text, "" for another.
func (o object) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

// payload returns a value as it is compared with what a template makes.
func (o object) payload(key, otherwise string) string {
	v := o.get(key)
	if v == nil {
		return otherwise
	}
	return textOf(v)
}

// object returns a value that is an object, nil for another.
func (o object) object(key string) object {
	m, _ := o.get(key).(map[string]any)
	return m
}

// seconds returns a duration; 0 for none.
func (o object) seconds(key string) time.Duration {
	n, err := strconv.ParseFloat(textOf(o.get(key)), 64)
	if err != nil || math.IsNaN(n) || n <= 0 {
		return 0
	}
	return time.Duration(min(n, longestWait.Seconds()) * float64(time.Second))
}

// announced is what a topic of discovery announces: nothing after an empty message.
type announced struct {
	entities []entity
	wrong    []error // of sensors that cannot be used, as faults
}

// decode reads an announcement, of one sensor or of a device. own reports whether a topic belongs to a
// sensegate. Malformed: it is no announcement. What is announced by sensegate itself and what is no sensor here
// is left out without a word.
func decode(topic string, payload []byte, own func(topic string) bool) (a announced, err error) {
	if len(bytes.TrimSpace(payload)) == 0 {
		return a, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var root object
	if err := decoder.Decode(&root); err != nil || root == nil {
		return a, fault.New(fault.Malformed, "announcement: want a JSON object")
	}
	if ours(root) {
		return a, nil
	}
	components := map[string]object{"": root}
	if list := root.object("components"); list != nil {
		if len(list) > maxComponents {
			return a, fault.New(fault.TooLarge, "announcement: more than %d components", maxComponents)
		}
		components = map[string]object{}
		for key := range list {
			if component := list.object(key); component != nil && component.text("platform") == "binary_sensor" {
				components[key] = inherit(component, root)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(components)) {
		e, err := components[key].entity(own)
		switch {
		case err != nil:
			a.wrong = append(a.wrong, err)
		case e != nil:
			e.key = cmp.Or(e.key, topic+" "+key)
			a.entities = append(a.entities, *e)
		}
	}
	return a, nil
}

// shared are the keys of a device's announcement that hold for its components.
var shared = []string{"device", "origin", "state_topic", "availability", "availability_mode", "availability_topic", "availability_template", "payload_available", "payload_not_available"}

// inherit returns a component with what its device says for all.
func inherit(component, device object) object {
	whole := maps.Clone(component)
	for _, key := range shared {
		if whole.get(key) == nil {
			whole[key] = device.get(key)
		}
	}
	if _, has := whole["~"]; !has {
		whole["~"] = device["~"]
	}
	return whole
}

// sensegate is how this product names itself to Home Assistant.
const sensegate = "sensegate"

// ours reports whether sensegate has made an announcement: of this box, or of another.
func ours(o object) bool {
	device := o.object("device")
	for _, id := range list(device.get("identifiers")) {
		if text, _ := id.(string); strings.HasPrefix(text, sensegate+"_") {
			return true
		}
	}
	return strings.EqualFold(o.object("origin").text("name"), sensegate) || strings.EqualFold(device.text("manufacturer"), sensegate) ||
		strings.HasPrefix(o.text("unique_id"), sensegate+"_")
}

// list returns a value as a list.
func list(v any) []any {
	if many, ok := v.([]any); ok {
		return many
	}
	return []any{v}
}

// radio reports whether a device is one that senses by radio and announces itself as a sensor: ESPHome names the
// author and the name of the project as manufacturer and model.
func (o object) radio() bool {
	device := o.object("device")
	for _, of := range []string{device.text("manufacturer"), device.text("model"), o.object("origin").text("name")} {
		if strings.Contains(strings.ToLower(of), "espectre") || strings.EqualFold(of, "francescopace") {
			return true
		}
	}
	return false
}

// entity returns the sensor that an object announces, nil if it is none here.
func (o object) entity(own func(string) bool) (*entity, error) {
	kind, ok := classes[o.text("device_class")]
	if !ok || ours(o) || o.radio() {
		return nil, nil
	}
	base := o.text("~")
	e := &entity{
		key: o.text("unique_id"), name: o.name(), kind: kind, topic: whole(base, o.text("state_topic")),
		on: o.payload("payload_on", "ON"), off: o.payload("payload_off", "OFF"),
		offDelay: o.seconds("off_delay"), expireAfter: o.seconds("expire_after"), mode: o.text("availability_mode"),
	}
	switch {
	case own(e.topic):
		return nil, nil
	case len(e.key) > maxText || len(e.on) > maxText || len(e.off) > maxText:
		return nil, fault.New(fault.TooLarge, "unique_id, payload_on and payload_off: at most %d bytes", maxText)
	case e.on == e.off:
		return nil, fault.New(fault.Invalid, "payload_on: is payload_off too")
	}
	var err, err2 error
	e.value, err = newTemplate(o.text("value_template"))
	e.availability, err2 = o.availability(base)
	return e, cmp.Or(checkTopic("state_topic", e.topic), err, err2)
}

// availability returns the topics that say whether a sensor is online.
func (o object) availability(base string) (all []availability, err error) {
	var topics []object
	for _, entry := range list(o.get("availability")) {
		if m, ok := entry.(map[string]any); ok {
			topics = append(topics, m)
		}
	}
	if topic := o.text("availability_topic"); topic != "" {
		topics = append(topics, object{"topic": topic, "value_template": o.get("availability_template"),
			"payload_available": o.get("payload_available"), "payload_not_available": o.get("payload_not_available")})
	}
	if len(topics) > maxDepth {
		return nil, fault.New(fault.TooLarge, "availability: more than %d topics", maxDepth)
	}
	for _, entry := range topics {
		a := availability{topic: whole(base, entry.text("topic")), online: entry.payload("payload_available", "online"), off: entry.payload("payload_not_available", "offline")}
		if err := checkTopic("availability", a.topic); err != nil {
			return nil, err
		}
		if a.value, err = newTemplate(entry.text("value_template")); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// whole returns a topic with the base that ~ stands for at its beginning or end.
func whole(base, topic string) string {
	if rest, ok := strings.CutPrefix(topic, "~"); ok {
		return base + rest
	}
	if rest, ok := strings.CutSuffix(topic, "~"); ok {
		return rest + base
	}
	return topic
}

// checkTopic returns a fault unless messages can be asked for at a topic. It may have + levels, beside others: one
// thing may be heard by several gateways.
func checkTopic(key, topic string) error {
	switch {
	case topic == "":
		return fault.New(fault.Invalid, "%s: is missing", key)
	case len(topic) > maxTopic:
		return fault.New(fault.TooLarge, "%s: longer than %d bytes", key, maxTopic)
	case strings.ContainsAny(topic, "#\x00") || topic[0] == '$' || strings.Trim(topic, "+/") == "":
		return fault.New(fault.Invalid, "%s: want a topic without # and $ that is not + alone", key)
	}
	return nil
}

// name returns the name of a sensor with that of its device.
func (o object) name() string {
	device, name := o.object("device").text("name"), o.text("name")
	if device == "" || name == "" || strings.HasPrefix(strings.ToLower(name), strings.ToLower(device)) {
		return cmp.Or(name, device)
	}
	return device + " " + name
}

// baseOfBox matches the levels below which a sensegate publishes, after its prefix.
var baseOfBox = regexp.MustCompile(`^[0-9a-f]{8}(/|$)`)

// ownTopics returns what reports whether a topic is a sensegate's, whose topics begin with a prefix and the id of
// a box.
func ownTopics(prefix string) func(string) bool {
	return func(topic string) bool {
		for _, prefix := range []string{prefix, sensegate} {
			if rest, ok := strings.CutPrefix(topic, prefix+"/"); ok && baseOfBox.MatchString(rest) {
				return true
			}
		}
		return false
	}
}
