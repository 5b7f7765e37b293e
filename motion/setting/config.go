package setting

import (
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// Guardian returns what an edit makes of a network's guardian configuration. The
// mode of the leaf blower follows the zone priority list, whatever the edit says
// of it.
func Guardian(n motion.Network, e Edit) (motion.Network, error) {
	config, err := e.apply(n.GuardianConfig)
	if err != nil {
		return n, err
	}
	var m fault.Details
	e.check(&m, shape.Document[motion.GuardianConfig](), config)
	if armed := valueAt(e.Body, "motion_events", "armed"); armed == 1.0 && valueAt(config, "motion_events", "enabled") == 0.0 {
		m.Add(e.at("motion_events", "armed"), armed, armedNeedsEnabled)
	}
	if err := m.Err(); err != nil {
		return n, err
	}
	n.GuardianConfig = followZones(config)
	checkPetMode(&m, n, e.at("motion_events", "pet_mode"))
	if err := m.Err(); err != nil {
		return n, err
	}
	return n, fits(n.GuardianConfig)
}

// Radar returns what an edit makes of a network's radar configuration. MAC
// addresses may be written in either case, with ':' or '-' or neither.
func Radar(n motion.Network, e Edit) (motion.Network, error) {
	var m fault.Details
	e = e.withMACs(&m, "sounding", "clients")
	config, err := e.apply(n.RadarConfig)
	if err != nil {
		return n, err
	}
	e.check(&m, shape.Document[motion.RadarConfig](), config)
	if err := m.Err(); err != nil {
		return n, err
	}
	n.RadarConfig = config
	checkPetMode(&m, n, e.at("sounding", "clients"))
	if err := m.Err(); err != nil {
		return n, err
	}
	return n, fits(n.RadarConfig)
}

// valueAt returns the value at a path of a document; nil where there is none.
func valueAt(d map[string]any, path ...string) any {
	var value any = map[string]any(d)
	for _, key := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}

// withMACs returns the edit with the keys of the object at a path in the text form
// of MAC addresses. What is no address stays for the shape to refuse.
func (e Edit) withMACs(m *fault.Details, path ...string) Edit {
	object, ok := valueAt(e.Body, path...).(map[string]any)
	if !ok {
		return e
	}
	renamed := map[string]any{}
	for _, key := range sortedKeys(object) {
		name := key
		if mac, err := motion.ParseMAC(key); err == nil && !mac.IsZero() {
			name = mac.String()
		}
		if _, twice := renamed[name]; twice {
			m.Add(e.at(path...)+"."+key, key, "stands twice")
			continue
		}
		renamed[name] = object[key]
	}
	e.Body = replaced(e.Body, renamed, path...)
	return e
}

// replaced returns an object with another value at a path of it.
func replaced(object map[string]any, with any, path ...string) map[string]any {
	object = cloneOf(object)
	if len(path) > 1 {
		inner, _ := object[path[0]].(map[string]any)
		with = replaced(inner, with, path[1:]...)
	}
	object[path[0]] = with
	return object
}
