package homeassistant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sensegate/motion"
)

// object is a JSON object.
type object = map[string]any

// device is a device with its entities, as Home Assistant discovers it.
type device struct {
	id        string // in topics; letters, digits, - and _
	body      object // about the device, with identifiers
	available []string
	entities  map[string]object // by key
}

// message is what a topic is to hold, or is to be told.
type message struct {
	topic   string
	payload []byte // nil: whatever it holds stays
	qos     byte
	repeat  bool              // also when it has not changed, once a minute
	slow    bool              // once a minute at most
	parts   map[string]string // of a discovery topic: platforms by key
}

// describer writes discovery.
type describer struct {
	Options
	box Box
}

// id returns an id that no other appliance on the broker has.
func (d *describer) id(parts ...any) string {
	text := "sensegate_" + d.Options.Box
	for _, part := range parts {
		text += fmt.Sprint("_", part)
	}
	return text
}

// topic returns a topic below the base.
func (d *describer) topic(parts ...any) string {
	text := d.Base
	for _, part := range parts {
		text += fmt.Sprint("/", part)
	}
	return text
}

// device begins the description of a device that is reached through another one, "" for none.
func (d *describer) device(id, name, model, via string) device {
	body := object{"identifiers": []string{id}, "name": name, "manufacturer": "sensegate", "model": model}
	if via != "" {
		body["via_device"] = via
	}
	if d.box.URL != "" {
		body["configuration_url"] = d.box.URL
	}
	return device{id: id, body: body, available: []string{d.topic("availability")}, entities: map[string]object{}}
}

// add adds an entity. A name of "" makes it the device's main entity, which is called like the device.
func (v *device) add(key, platform, name string, options object) {
	options["platform"], options["unique_id"], options["name"] = platform, v.id+"_"+key, name
	if name == "" {
		options["name"] = nil
	}
	v.entities[key] = options
}

// lists returns availability as Home Assistant wants it: an entity is available while all topics say
// so.
func lists(topics []string) []object {
	list := make([]object, len(topics))
	for i, topic := range topics {
		list[i] = object{"topic": topic}
	}
	return list
}

// render returns the messages that make a device known.
func (d *describer) render(v device) []message {
	origin := object{"name": "sensegate"}
	if d.box.Version != "" {
		origin["sw_version"] = d.box.Version
	}
	shared := object{"device": v.body, "origin": origin, "qos": 1}
	if len(v.available) > 0 {
		shared["availability"], shared["availability_mode"] = lists(v.available), "all"
	}
	if !d.Legacy {
		parts := map[string]string{}
		for key, entity := range v.entities {
			parts[key] = entity["platform"].(string)
		}
		shared["components"] = v.entities
		return []message{{topic: d.Discovery + "/device/" + v.id + "/config", payload: encode(shared), qos: 1, parts: parts}}
	}
	var list []message
	for _, key := range slices.Sorted(maps.Keys(v.entities)) {
		entity := maps.Clone(shared)
		maps.Copy(entity, v.entities[key])
		platform := entity["platform"].(string)
		delete(entity, "platform")
		list = append(list, message{topic: d.Discovery + "/" + platform + "/" + v.id + "/" + key + "/config", payload: encode(entity), qos: 1})
	}
	return list
}

// encode returns JSON; what it is called with can be encoded.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// entityID returns the id that an entity gets at first, false where the name has other letters than
// Latin ones: Home Assistant has its own way with these.
func entityID(platform, name, suffix string) (string, bool) {
	var text strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r > '~':
			return "", false
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			text.WriteRune(r)
		default:
			text.WriteByte('_')
		}
	}
	words := strings.FieldsFunc(text.String(), func(r rune) bool { return r == '_' })
	if len(words) == 0 {
		return "", false
	}
	return platform + "." + strings.Join(append(words, suffix), "_"), true
}

// when returns a time as Home Assistant reads it, nil for none: the topic stays as it is.
func when(t motion.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return []byte(t.Std().Format("2006-01-02T15:04:05+00:00"))
}

// yes returns one of two payloads.
func yes(is bool, then, otherwise string) []byte {
	if is {
		return []byte(then)
	}
	return []byte(otherwise)
}

// switched returns ON or OFF.
func switched(is bool) []byte { return yes(is, "ON", "OFF") }

// there returns online or offline.
func there(is bool) []byte { return yes(is, "online", "offline") }

// unless returns a payload, nil when it is not known.
func unless(unknown bool, payload []byte) []byte {
	if unknown {
		return nil
	}
	return payload
}

// state is a message that tells a state.
func state(topic string, payload []byte) message {
	return message{topic: topic, payload: payload, qos: 1}
}
