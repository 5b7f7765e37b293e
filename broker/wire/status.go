package wire

import (
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// decodeStatus reads a guardian-status, short or full (device-protocol.md 2.1).
// Motion counts as enabled unless the device says otherwise.
func decodeStatus(top map[string]any) (motion.Report, *fault.Error) {
	radars, err := decodeRadars(top["radars"])
	if err != nil {
		return nil, under("radars", err)
	}
	delete(top, "radars")
	report := motion.StatusReport{MotionEnabled: 1}
	if err := into(&report, top); err != nil {
		return nil, err
	}
	report.Radars = radars
	if report.Leafblower != nil {
		if report.Leafblower, err = normalChoices(report.Leafblower); err != nil {
			return nil, under("leafblower", err)
		}
	}
	return report, nil
}

// decodeRadars reads the nodes of a full report: a list, or a map by node name or by deviceId,
// into a map by node name. Of two with the same name the newer counts.
func decodeRadars(src any) (map[string]motion.Radar, *fault.Error) {
	if src == nil || blank(src) {
		return nil, nil
	}
	if list, ok := src.([]any); ok {
		return radarsOfList(list)
	}
	var byKey map[string]motion.Radar
	if err := into(&byKey, src); err != nil {
		return nil, err
	}
	radars := make(map[string]motion.Radar, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		radar := byKey[key]
		if radar.NodeName == "" {
			radar.NodeName = key
		}
		if radar.DeviceID == "" {
			radar.DeviceID = key
		}
		if err := addRadar(radars, radar); err != nil {
			return nil, under(short(key), err)
		}
	}
	return radars, nil
}

func radarsOfList(list []any) (map[string]motion.Radar, *fault.Error) {
	var read []motion.Radar
	if err := into(&read, list); err != nil {
		return nil, err
	}
	radars := make(map[string]motion.Radar, len(read))
	for i, radar := range read {
		if err := addRadar(radars, radar); err != nil {
			return nil, item(i, err)
		}
	}
	return radars, nil
}

// addRadar adds a node, unless there is one of its name that is not older.
func addRadar(radars map[string]motion.Radar, radar motion.Radar) *fault.Error {
	if err := normalRadar(&radar); err != nil {
		return err
	}
	if present, ok := radars[radar.NodeName]; !ok || radar.TS > present.TS {
		radars[radar.NodeName] = radar
	}
	return nil
}

// normalRadar checks the ids in a node's description of itself. A node without a name gets its
// deviceId as its name.
func normalRadar(radar *motion.Radar) *fault.Error {
	if !ValidID(radar.DeviceID) {
		return under("deviceId", invalid("%s: want 1 to 64 letters, digits and - _ . :", short(radar.DeviceID)))
	}
	if radar.NodeName == "" {
		radar.NodeName = radar.DeviceID
	}
	name, err := wireName(radar.NodeName)
	if err != nil {
		return under("node_id", err)
	}
	radar.NodeName = name
	if radar.LocationID != "" && !ValidID(radar.LocationID) {
		return under("location_id", invalid("%s: want 1 to 64 letters, digits and - _ . :", short(radar.LocationID)))
	}
	return nil
}

// normalChoices returns the link selection by lower-case MAC, with its scores by normalised
// node name. Keys are read in sorted order, so that the result is the same even when two of
// them mean the same.
func normalChoices(choices map[string]motion.Choice) (map[string]motion.Choice, *fault.Error) {
	normal := make(map[string]motion.Choice, len(choices))
	for _, key := range slices.Sorted(maps.Keys(choices)) {
		mac, parseErr := motion.ParseMAC(key)
		if parseErr != nil {
			return nil, malformed("%.100s", parseErr)
		}
		if mac.IsZero() {
			return nil, invalid("%s is no device", short(key))
		}
		choice := choices[key]
		scores, err := normalScores(choice.AP)
		if err != nil {
			return nil, under(short(key), under("ap", err))
		}
		choice.AP = scores
		normal[mac.String()] = choice
	}
	return normal, nil
}

func normalScores(scores map[string]float64) (map[string]float64, *fault.Error) {
	normal := make(map[string]float64, len(scores))
	for _, node := range slices.Sorted(maps.Keys(scores)) {
		name, err := wireName(node)
		if err == nil {
			normal[name], err = within(scores[node], -1, 1)
		}
		if err != nil {
			return nil, err
		}
	}
	return normal, nil
}
