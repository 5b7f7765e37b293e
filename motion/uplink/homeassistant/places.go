package homeassistant

import (
	"cmp"
	"fmt"

	"sensegate/motion"
)

// roomID names a room in topics and ids.
func roomID(r *Room) string { return fmt.Sprintf("l%d", r.ID) }

// roomDevice describes a room.
func (d *describer) roomDevice(n *Network, r *Room) device {
	at := func(part string) string { return d.topic(n.ID, "location", roomID(r), part) }
	v := d.device(d.id(n.ID, roomID(r)), r.Name, "Motion location", d.id(n.ID))
	v.body["suggested_area"] = r.Name
	heard := func(options object) object {
		return d.whileHeard(options, d.topic(n.ID, "availability"), at("availability"))
	}
	main := heard(object{"device_class": "motion", "state_topic": at("motion"), "payload_on": "ON", "payload_off": "OFF"})
	if id, ok := entityID("binary_sensor", r.Name, "motion"); ok {
		main["default_entity_id"] = id
	}
	v.add("motion", "binary_sensor", "", main)
	v.add("density", "sensor", "Activity", heard(activity(at("density"))))
	v.add("last_motion", "sensor", "Last motion", object{"device_class": "timestamp", "enabled_by_default": false, "state_topic": at("last_motion")})
	return v
}

// roomStates tells how a room is.
func (d *describer) roomStates(n *Network, r *Room) []message {
	at := func(part string) string { return d.topic(n.ID, "location", roomID(r), part) }
	known := n.Known && r.Known
	list := []message{
		state(at("motion"), unless(!known, switched(r.Motion))),
		{topic: at("density"), payload: percent(r.Density), repeat: true},
		{topic: at("last_motion"), payload: when(r.LastMotion)},
	}
	available := state(at("availability"), there(known))
	if known {
		return append(list, available)
	}
	return append([]message{available}, list...)
}

// nodeDevice describes an access point or extender.
func (d *describer) nodeDevice(n *Network, o *Node) device {
	at := func(part string) string { return d.topic(n.ID, "node", o.ID, part) }
	v := d.device(d.id("node", o.ID), cmp.Or(o.Name, fmt.Sprint("Node ", o.ID)), "Wi-Fi sensing node", d.id(n.ID))
	if o.Room != "" {
		v.body["suggested_area"] = o.Room
	}
	if !o.MAC.IsZero() {
		v.body["connections"] = [][]string{{"mac", o.MAC.String()}}
	}
	if o.Firmware != "" {
		v.body["sw_version"] = o.Firmware
	}
	v.add("online", "binary_sensor", "Connection", object{
		"device_class": "connectivity", "entity_category": "diagnostic", "state_topic": at("availability"), "payload_on": "online", "payload_off": "offline",
	})
	v.add("last_seen", "sensor", "Last seen", object{
		"device_class": "timestamp", "entity_category": "diagnostic", "enabled_by_default": false, "state_topic": at("state"),
		"value_template": "{{ value_json.last_seen }}",
	})
	v.add("rssi", "sensor", "Signal", object{
		"device_class": "signal_strength", "unit_of_measurement": "dBm", "state_class": "measurement", "entity_category": "diagnostic", "enabled_by_default": false,
		"state_topic": at("state"), "value_template": "{{ value_json.rssi }}",
	})
	return v
}

// nodeStates tells how a node is.
func (d *describer) nodeStates(n *Network, o *Node) []message {
	told := object{"last_seen": nil, "rssi": nil, "firmware": o.Firmware, "uptime_s": nil}
	if at := when(o.LastSeen); at != nil {
		told["last_seen"] = string(at)
	}
	if o.RSSI != 0 {
		told["rssi"] = o.RSSI
	}
	if o.Uptime != 0 {
		told["uptime_s"] = int64(o.Uptime)
	}
	return []message{
		state(d.topic(n.ID, "node", o.ID, "availability"), there(o.Online)),
		{topic: d.topic(n.ID, "node", o.ID, "state"), payload: encode(told), slow: true},
	}
}

// memberDevice describes somebody of the household. Home Assistant reads the state from the zones
// that the attributes name; before 2026 it needs the state topic, which it stops reading with 2027.1.
func (d *describer) memberDevice(n *Network, m *Member) device {
	at := func(part string) string { return d.topic(n.ID, "member", m.ID, part) }
	v := d.device(d.id(n.ID, "member", m.ID), m.Name, "Member of the household", d.id(n.ID))
	v.add("presence", "device_tracker", "", object{
		"source_type": "gps", "state_topic": at("presence"), "payload_home": "home", "payload_not_home": "not_home", "json_attributes_topic": at("attributes"),
	})
	return v
}

// memberStates tells whether somebody is at home, without coordinates.
func (d *describer) memberStates(n *Network, m *Member) []message {
	at := func(part string) string { return d.topic(n.ID, "member", m.ID, part) }
	told := object{"source": "geofence", "updated": nil, "in_zones": []string{}}
	if m.Present {
		told["in_zones"] = []string{"zone.home"}
	}
	if updated := when(m.Updated); updated != nil {
		told["updated"] = string(updated)
	}
	return []message{
		state(at("presence"), unless(m.Updated.IsZero(), yes(m.Present, "home", "not_home"))),
		{topic: at("attributes"), payload: unless(m.Updated.IsZero(), encode(told)), qos: 1},
	}
}

// boxMessages returns all messages about the appliance.
func (d *describer) boxMessages() []message {
	v := d.device(d.id("bridge"), cmp.Or(d.box.Name, "sensegate"), "sensegate", "")
	v.body["serial_number"] = d.Options.Box
	if d.box.Version != "" {
		v.body["sw_version"] = d.box.Version
	}
	v.available = nil // so that it can say that it is offline
	here := func(options object) object { return d.whileHeard(options) }
	v.add("connection", "binary_sensor", "Connection", object{
		"device_class": "connectivity", "entity_category": "diagnostic", "state_topic": d.topic("availability"), "payload_on": "online", "payload_off": "offline",
	})
	v.add("problem", "binary_sensor", "Problem", here(object{
		"device_class": "problem", "entity_category": "diagnostic", "state_topic": d.topic("state"), "payload_on": "ON", "payload_off": "OFF",
		"value_template":        "{{ 'ON' if value_json.problems | length > 0 else 'OFF' }}",
		"json_attributes_topic": d.topic("state"), "json_attributes_template": "{{ {'problems': value_json.problems} | tojson }}",
	}))
	v.add("version", "sensor", "Version", here(object{
		"entity_category": "diagnostic", "state_topic": d.topic("state"), "value_template": "{{ value_json.version }}", "icon": "mdi:tag",
	}))
	v.add("db_size", "sensor", "Database", here(object{
		"device_class": "data_size", "unit_of_measurement": "MiB", "state_class": "measurement", "entity_category": "diagnostic", "enabled_by_default": false,
		"state_topic": d.topic("state"), "value_template": "{{ value_json.db_mib }}",
	}))
	if !d.ReadOnly {
		v.add("restart", "button", "Restart", here(object{
			"device_class": "restart", "entity_category": "config", "enabled_by_default": false, "command_topic": d.topic("restart", "set"), "payload_press": "PRESS",
		}))
	}
	problems := d.box.Problems
	if problems == nil {
		problems = []string{}
	}
	return append(d.render(v), message{topic: d.topic("state"), payload: encode(object{
		"version": d.box.Version, "uptime_s": int64(d.box.Uptime), "networks": d.box.Networks, "mqtt_clients": d.box.Clients,
		"db_mib": motion.Round(d.box.DB, 1), "problems": problems,
	})})
}
