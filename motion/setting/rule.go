package setting

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// Words of settings (payloads.md 4.4, 4.5, 4.11).
const (
	Allow    = "allow" // takes part in sounding
	Deny     = "deny"
	Global   = "global"   // sensitivity as set for the network
	Override = "override" // a sensitivity of its own

	legacyMode = "legacy"
	zoneMode   = "zone"
)

const (
	armedNeedsEnabled = "armed needs motion events enabled"
	petModeNeeds      = "pet mode needs sensitivity 1 and every client on the global sensitivity"
)

// checkPetMode adds a mistake at a place when pet mode is on where it must not
// be: it needs sensitivity 1 and all clients on global (payloads.md 4.4).
func checkPetMode(m *fault.Details, n motion.Network, at string) {
	if !PetModeFits(n) {
		m.Add(at, nil, petModeNeeds)
	}
}

// PetModeFits reports whether pet mode is off, or may be on.
func PetModeFits(n motion.Network) bool {
	events := n.Guardian().MotionEvents
	if events.PetMode == 0 {
		return true
	}
	for _, client := range n.Radar().Sounding.Clients {
		if client.Sens != 0 {
			return false
		}
	}
	return events.Sens == 1
}

// followZones returns a guardian configuration in which the mode of the leaf
// blower is that of its zone priority list (interfaces.md 4.2 no. 6).
func followZones(config motion.Document) motion.Document {
	leafblower, ok := config["leafblower"].(map[string]any)
	if !ok {
		return config
	}
	leafblower = cloneOf(leafblower)
	leafblower["mode"] = legacyMode
	if zones, _ := leafblower["zone_priority_list"].([]any); len(zones) > 0 {
		leafblower["mode"] = zoneMode
	}
	config = config.Clone()
	config["leafblower"] = leafblower
	return config
}

// RenameZone returns a network in which another name takes the place of a zone's in the zone
// priority.
func RenameZone(n motion.Network, from, to string) motion.Network {
	zones := n.Guardian().Leafblower.ZonePriorityList
	if !slices.Contains(zones, from) {
		return n
	}
	renamed := make([]any, len(zones))
	for i, zone := range zones {
		if zone == from {
			zone = to
		}
		renamed[i] = zone
	}
	n.GuardianConfig = followZones(merged(n.GuardianConfig, nested([]string{"leafblower", "zone_priority_list"}, renamed)))
	return n
}

// PlaceMistake says what is wrong with the name of a place, "" when a device may carry it.
func PlaceMistake(name string) string {
	var m fault.Details
	shape.Zone(&m, "", name)
	shape.Place(&m, "", name)
	if len(m) == 0 {
		return motion.NameMistake(name)
	}
	return m[0].Message
}
