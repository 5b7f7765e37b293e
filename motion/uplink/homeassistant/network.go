package homeassistant

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"sensegate/motion"
)

// sensitivities are the words of the levels 1 to 4.
var sensitivities = []string{"high", "medium", "low", "very_low"}

// network returns all messages about a network.
func (d *describer) network(n *Network) []message {
	at := func(parts ...any) string { return d.topic(append([]any{n.ID}, parts...)...) }
	list := d.render(d.networkDevice(n, at))
	for i := range n.Rooms {
		list = append(list, d.render(d.roomDevice(n, &n.Rooms[i]))...)
	}
	for i := range n.Nodes {
		list = append(list, d.render(d.nodeDevice(n, &n.Nodes[i]))...)
	}
	for i := range n.Members {
		list = append(list, d.render(d.memberDevice(n, &n.Members[i]))...)
	}
	// What is told before and after a change of availability is seen as of then: an entity that
	// becomes available has its state already.
	if !n.Known {
		list = append(list, state(at("availability"), there(false)))
	}
	list = append(list, d.networkStates(n, at)...)
	for i := range n.Rooms {
		list = append(list, d.roomStates(n, &n.Rooms[i])...)
	}
	for i := range n.Nodes {
		list = append(list, d.nodeStates(n, &n.Nodes[i])...)
	}
	for i := range n.Members {
		list = append(list, d.memberStates(n, &n.Members[i])...)
	}
	if n.Known {
		list = append(list, state(at("availability"), there(true)))
	}
	return list
}

// networkDevice describes a network.
func (d *describer) networkDevice(n *Network, at func(...any) string) device {
	name := cmp.Or(n.Name, "Home")
	v := d.device(d.id(n.ID), name+" motion", "Wi-Fi motion network", d.id("bridge"))
	v.body["serial_number"] = fmt.Sprint(n.ID)
	if n.Version != "" {
		v.body["sw_version"] = n.Version
	}
	heard := func(options object) object { return d.whileHeard(options, at("availability")) }
	main := heard(object{
		"device_class": "motion", "state_topic": at("motion"), "payload_on": "ON", "payload_off": "OFF", "json_attributes_topic": at("motion", "attributes"),
	})
	if id, ok := entityID("binary_sensor", name, "motion"); ok {
		main["default_entity_id"] = id
	}
	v.add("motion", "binary_sensor", "", main)
	v.add("occupied", "binary_sensor", "Occupied", heard(object{"device_class": "occupancy", "state_topic": at("occupied"), "payload_on": "ON", "payload_off": "OFF"}))
	v.add("density", "sensor", "Activity", heard(activity(at("density"))))
	v.add("intensity", "sensor", "Intensity", heard(object{
		"state_class": "measurement", "suggested_display_precision": 2, "icon": "mdi:pulse", "enabled_by_default": false, "state_topic": at("intensity"), "expire_after": 60,
	}))
	v.add("last_motion", "sensor", "Last motion", object{"device_class": "timestamp", "state_topic": at("last_motion")})
	v.add("events", "event", "Events", object{"device_class": "motion", "state_topic": at("events"), "event_types": eventTypes()})
	v.add("link_problem", "binary_sensor", "Link problem", object{
		"device_class": "problem", "entity_category": "diagnostic", "state_topic": at("status"), "payload_on": "ON", "payload_off": "OFF",
		"value_template":        "{{ 'ON' if value_json.links_down + value_json.links_slow > 0 else 'OFF' }}",
		"json_attributes_topic": at("status"),
	})
	d.addControls(&v, n, at)
	return v
}

// whileHeard makes an entity available while a topic says so too.
func (d *describer) whileHeard(options object, topics ...string) object {
	options["availability"] = lists(append([]string{d.topic("availability")}, topics...))
	options["availability_mode"] = "all"
	return options
}

// activity is the share of the last minute with motion.
func activity(topic string) object {
	return object{
		"state_class": "measurement", "unit_of_measurement": "%", "suggested_display_precision": 0, "icon": "mdi:waves", "state_topic": topic, "expire_after": 300,
	}
}

// addControls adds what Home Assistant may change, or what it may see of that.
func (d *describer) addControls(v *device, n *Network, at func(...any) string) {
	choice := func(key, name, category string, options []string, icon string) {
		entity, platform := object{"options": options, "icon": icon, "state_topic": at(key)}, "select"
		if d.ReadOnly {
			platform, entity["device_class"] = "sensor", "enum"
			category = strings.Replace(category, "config", "diagnostic", 1)
		} else {
			entity["command_topic"] = at(key, "set")
		}
		if category != "" {
			entity["entity_category"] = category
		}
		v.add(key, platform, name, entity)
	}
	if n.Home {
		choice("scene", "Scene", "", []string{"home", "away"}, "mdi:home-account")
	}
	choice("sensitivity", "Sensitivity", "config", sensitivities, "mdi:tune")
	paused := object{"icon": "mdi:pause-circle-outline", "state_topic": at("paused"), "payload_on": "ON", "payload_off": "OFF"}
	if d.ReadOnly {
		paused["entity_category"] = "diagnostic"
		v.add("paused", "binary_sensor", "Sensing paused", paused)
		return
	}
	paused["entity_category"], paused["command_topic"] = "config", at("paused", "set")
	v.add("paused", "switch", "Sensing paused", paused)
	if d.Alarm && n.Home {
		v.add("alarm", "alarm_control_panel", "Alarm", object{
			"supported_features": []string{"arm_away"}, "code_arm_required": false, "code_disarm_required": false, "code_trigger_required": false,
			"state_topic": at("alarm"), "command_topic": at("alarm", "set"), "payload_arm_away": "ARM_AWAY", "payload_disarm": "DISARM",
		})
	}
}

// networkStates tells how a network is. What is not known is not told: its entities are unavailable.
func (d *describer) networkStates(n *Network, at func(...any) string) []message {
	list := []message{
		state(at("motion"), unless(!n.Known, switched(n.Motion))),
		{topic: at("motion", "attributes"), payload: unless(!n.Known, n.Detection.attributes())},
		state(at("occupied"), unless(!n.Known, switched(n.Occupied))),
		{topic: at("density"), payload: percent(n.Density), repeat: true},
		{topic: at("last_motion"), payload: when(n.LastMotion)},
		state(at("paused"), switched(n.Paused)),
		state(at("sensitivity"), []byte(sensitivities[min(max(n.Sensitivity, 1), 4)-1])),
		{topic: at("status"), payload: encode(object{"nodes_online": n.Online, "links_down": n.Down, "links_slow": n.Slow, "leafs": n.Leafs})},
	}
	if !n.Home {
		return list
	}
	list = append(list, state(at("scene"), yes(n.Away, "away", "home")))
	if d.Alarm && !d.ReadOnly {
		armed := yes(n.Away, "armed_away", "disarmed")
		list = append(list, state(at("alarm"), yes(n.Triggered, "triggered", string(armed))))
	}
	return list
}

// attributes tells of a detection.
func (t Detection) attributes() []byte {
	links := t.Links
	if links == nil {
		links = []string{}
	}
	since := any(nil)
	if at := when(t.Since); at != nil {
		since = string(at)
	}
	return encode(object{
		"location": t.Place, "since": since, "intensity": motion.Round(t.Intensity, 2), "links": links, "event_id": t.EventID,
	})
}

// percent returns a share, nil for none.
func percent(v *float64) []byte {
	if v == nil {
		return nil
	}
	return strconv.AppendFloat(nil, math.Round(min(max(*v, 0), 100)), 'f', 0, 64)
}

// otherEvent is the type of an event that the product does not know, such as one of a device's own.
const otherEvent = "other"

// eventTypes are the types of events, by which Home Assistant chooses.
func eventTypes() []string {
	var list []string
	for _, kind := range motion.EventKinds() {
		if kind.Name != motion.MotionEventPair && kind.Name != motion.SensorChangedValue {
			list = append(list, eventType(kind.Name))
		}
	}
	return append(list, otherEvent)
}

// eventType returns the type of an event's kind: MotionDetectedEvent is motion_detected.
func eventType(kind string) string {
	if _, known := motion.EventKindOf(kind); !known {
		return otherEvent
	}
	var text strings.Builder
	for i, r := range strings.TrimSuffix(kind, "Event") {
		if unicode.IsUpper(r) && i > 0 {
			text.WriteByte('_')
		}
		text.WriteRune(unicode.ToLower(r))
	}
	return text.String()
}

// event tells of an event. It names no person.
func (d *describer) event(e *motion.Event) message {
	told := object{
		"event_type": eventType(e.Event), "event": e.Event, "id": e.ID, "category": e.Category, "ts": e.TS, "location": e.LocName, "link_id": e.LinkID,
	}
	if e.Armed != nil {
		told["armed"] = *e.Armed
	}
	return message{topic: d.topic(e.NetworkID, "events"), payload: encode(told), qos: 1}
}
