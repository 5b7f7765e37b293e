package setting

import (
	"sensegate/motion"
)

// Bounds of what a network can have set.
const (
	maxZones   = 64   // of the zone priority list
	maxClients = 1024 // with settings, places or names of their own
	maxMesh    = 256  // nodes without mesh sounding
	maxPlace   = 256  // characters of a zone, location or friendly name
)

// sens is a sensitivity: 1 High, 2 Medium, 3 Low, 4 Very Low.
func sens() shape { return integer(1, 4) }

// cooldown is the seconds without motion until it has stopped.
func cooldown() shape { return integer(0, 86400) }

// section is an object of a configuration, whose unknown keys are kept.
func section(known map[string]shape) object { return object{known: known, others: anything} }

// guardianShape is the guardian configuration. Ranges are those that the
// appliance and its protocol can work with.
func guardianShape() object {
	return section(map[string]shape{
		"motion_events": section(map[string]shape{
			"enabled": toggle(), "armed": toggle(), "sens": sens(), "pet_mode": toggle(), "cooldown": cooldown(),
			"density_window": integer(2, 600), "density_threshold": number(0.01, 1),
		}).check,
		"live_motion": section(map[string]shape{
			"interval": integer(100, 10_000), "timeout_s": integer(1, 3600), "loc_conf_enable": toggle(),
		}).check,
		"motion_history": section(map[string]shape{
			"enabled": toggle(), "interval": integer(1000, 60_000), "count": integer(1, 1000),
		}).check,
		"link_events": section(map[string]shape{
			"enabled": toggle(), "low_throughput": number(0, 1), "low_throughput_s": integer(1, 3600),
		}).check,
		"device_events": section(map[string]shape{"enabled": toggle()}).check,
		// A device that is silent for 90 s counts as gone.
		"status": section(map[string]shape{"interval_s": integer(10, 86400), "heartbeat_s": integer(5, 60)}).check,
		"leafblower": section(map[string]shape{
			"mode": word(legacyMode, zoneMode), "cutoff": number(-1.1, 1), "link_limit": integer(1, 120),
			"zone_priority_list": list(maxZones, placeName),
		}).check,
	})
}

// radarShape is the radar configuration.
func radarShape() object {
	return section(map[string]shape{
		"sounding": section(map[string]shape{
			"enabled": toggle(), "mode": word(Allow, Deny), "rate_ms": integer(10, 10_000), "warmup_s": integer(0, 3600),
			"clients": byMAC(maxClients, section(map[string]shape{"mode": word(Allow, Deny), "sens": sens()}).check),
		}).check,
		"mesh_sounding": section(map[string]shape{
			"auto_disable": toggle(), "disabled": list(maxMesh, text(maxPlace)),
		}).check,
		"measurement": section(map[string]shape{
			"bandwidth_mhz": choice(20, 40, 80, 160, 320), "interval_ms": integer(10, 60_000),
			"base_threshold": number(0.01, 100_000), "report": word("threshold", "periodic"), "delta_count": integer(1, 1000),
		}).check,
		"log_level": word("debug", "info", "warn", "error"),
	})
}

// Guardian returns what an edit makes of a network's guardian configuration. The
// mode of the leaf blower follows the zone priority list, whatever the edit says
// of it.
func Guardian(n motion.Network, e Edit) (motion.Network, error) {
	config, err := e.apply(n.GuardianConfig)
	if err != nil {
		return n, err
	}
	var m Mistakes
	e.check(&m, guardianShape(), config)
	if armed, given := e.given("motion_events", "armed"); given && armed == 1.0 && valueAt(config, "motion_events", "enabled") == 0.0 {
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
	var m Mistakes
	e = e.withMACs(&m, "sounding", "clients")
	config, err := e.apply(n.RadarConfig)
	if err != nil {
		return n, err
	}
	e.check(&m, radarShape(), config)
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
func (e Edit) withMACs(m *Mistakes, path ...string) Edit {
	value, _ := e.given(path...)
	object, ok := value.(map[string]any)
	if !ok {
		return e
	}
	if e.Key != "" {
		path = path[1:]
	}
	place := e.at()
	for _, key := range path {
		place += "." + key
	}
	renamed := map[string]any{}
	for _, key := range sortedKeys(object) {
		name := key
		if mac, err := motion.ParseMAC(key); err == nil && !mac.IsZero() {
			name = mac.String()
		}
		if _, twice := renamed[name]; twice {
			m.Add(place+"."+key, key, "stands twice")
			continue
		}
		renamed[name] = object[key]
	}
	e.Body = replaced(e.Body, renamed, path...)
	return e
}

// replaced returns value with another one at a path of it.
func replaced(value, with any, path ...string) any {
	if len(path) == 0 {
		return with
	}
	object, _ := value.(map[string]any)
	object = cloneOf(object)
	object[path[0]] = replaced(object[path[0]], with, path[1:]...)
	return object
}
