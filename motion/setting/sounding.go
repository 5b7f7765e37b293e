package setting

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// SoundingSettings is the answer of sounding/settings (payloads.md 4.4): a view of the
// guardian configuration, the radar configuration and meta. Switches are 0 or 1.
type SoundingSettings struct {
	ZonePriorityList     []string `json:"zone_priority_list" nullable:"false" doc:"Zones whose links are sounded first, in order; empty: no prioritisation" example:"[\"Kitchen\"]"`
	MotionEventsEnabled  int32    `json:"motion_events_enabled" enum:"0,1" doc:"1: motion raises events"`
	MotionEventsArmed    int32    `json:"motion_events_armed" enum:"0,1" doc:"1: motion events are stored and pushed; needs motion_events_enabled"`
	MotionHistoryEnabled int32    `json:"motion_history_enabled" enum:"0,1" doc:"1: motion is kept as history, what was watched live and what devices report later; 0: neither is stored"`
	DeviceEvents         int32    `json:"device_events" enum:"0,1" doc:"1: events when a device that is allowed comes and goes, while sounding_mode is deny"`
	MeshAutoDisable      int32    `json:"mesh_auto_disable" enum:"0,1" doc:"1: devices may stop sounding between nodes by themselves"`
	MeshSoundingDisabled []string `json:"mesh_sounding_disabled" readOnly:"true" nullable:"false" doc:"deviceIds of the nodes that do not sound other nodes; set by sounding_mesh of sounding clients"`
	MotionPaused         int32    `json:"motion_paused" enum:"0,1" doc:"1: no motion is sensed, and no other setting can be changed"`
	SoundingMode         string   `json:"sounding_mode" enum:"allow,deny" doc:"Whether clients that say nothing else take part"`
	LeafblowerCutoff     float64  `json:"leafblower_cutoff" minimum:"-1.1" maximum:"1" doc:"Lowest selection score of a client that is sounded; -1.1 ignores quality"`
	LinkLimit            int32    `json:"link_limit" minimum:"1" maximum:"120" doc:"Links of clients that are sounded at most; those between nodes are not counted"`
	Sensitivity          int32    `json:"sensitivity" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low"`
	PetMode              int32    `json:"pet_mode" enum:"0,1" doc:"1: pets are not motion; needs sensitivity 1 and every client on global"`
	Cooldown             int32    `json:"cooldown" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped"`
}

// seat is where a sounding setting is kept.
type seat struct {
	name     string
	document int // index of documents
	path     [2]string
}

// The documents that sounding settings are kept in.
const (
	inGuardian = iota
	inRadar
	inMeta
)

// seats returns where each sounding setting is kept.
func seats() []seat {
	return []seat{
		{"zone_priority_list", inGuardian, [2]string{"leafblower", "zone_priority_list"}},
		{"motion_events_enabled", inGuardian, [2]string{"motion_events", "enabled"}},
		{"motion_events_armed", inGuardian, [2]string{"motion_events", "armed"}},
		{"motion_history_enabled", inGuardian, [2]string{"motion_history", "enabled"}},
		{"device_events", inGuardian, [2]string{"device_events", "enabled"}},
		{"mesh_auto_disable", inRadar, [2]string{"mesh_sounding", "auto_disable"}},
		{"mesh_sounding_disabled", inRadar, [2]string{"mesh_sounding", "disabled"}},
		{pausedSetting, inMeta, [2]string{"motion_paused"}},
		{"sounding_mode", inRadar, [2]string{"sounding", "mode"}},
		{"leafblower_cutoff", inGuardian, [2]string{"leafblower", "cutoff"}},
		{"link_limit", inGuardian, [2]string{"leafblower", "link_limit"}},
		{"sensitivity", inGuardian, [2]string{"motion_events", "sens"}},
		{"pet_mode", inGuardian, [2]string{"motion_events", "pet_mode"}},
		{"cooldown", inGuardian, [2]string{"motion_events", "cooldown"}},
	}
}

// pausedSetting is the one setting that can be changed while it is 1.
const pausedSetting = "motion_paused"

// keys returns the path without what it does not have.
func (s seat) keys() []string {
	if s.path[1] == "" {
		return s.path[:1]
	}
	return s.path[:]
}

// SoundingOf returns the sounding settings of a network that are in force.
func SoundingOf(n motion.Network) (SoundingSettings, error) {
	values, err := soundingValues(n)
	if err != nil {
		return SoundingSettings{}, err
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return SoundingSettings{}, fmt.Errorf("encode sounding settings: %w", err)
	}
	var s SoundingSettings
	if err := json.Unmarshal(raw, &s); err != nil {
		return SoundingSettings{}, fmt.Errorf("decode sounding settings: %w", err)
	}
	return s, nil
}

// soundingValues returns the sounding settings in force, by name.
func soundingValues(n motion.Network) (map[string]any, error) {
	var documents [3]motion.Document
	for i, d := range []motion.Document{
		inGuardian: motion.WithDefaults(n.Guardian(), nil), inRadar: motion.WithDefaults(n.Radar(), nil),
		inMeta: {pausedSetting: n.Meta.Int(pausedSetting)},
	} {
		var err error
		if documents[i], err = plain(d); err != nil {
			return nil, err
		}
	}
	values := map[string]any{}
	for _, s := range seats() {
		values[s.name] = valueAt(documents[s.document], s.keys()...)
	}
	return values, nil
}

// shapeOf returns the shape of a sounding setting: that of where it is kept.
func (s seat) shapeOf() shape {
	switch {
	case s.name == "mesh_sounding_disabled":
		return func(m *Mistakes, at string, _ any) { m.Add(at, nil, "is read-only: leave it out") }
	case s.document == inMeta:
		return toggle()
	case s.document == inRadar:
		return within(radarShape(), s.path)
	}
	return within(guardianShape(), s.path)
}

// within returns the shape of the value at a path of a configuration.
func within(o object, path [2]string) shape {
	return func(m *Mistakes, at string, value any) {
		var inner Mistakes
		o.check(&inner, at, map[string]any{path[0]: map[string]any{path[1]: value}})
		prefix := len(at) + len(path[0]) + len(path[1]) + 2
		for _, mistake := range inner {
			mistake.Location = at + mistake.Location[prefix:]
			*m = append(*m, mistake)
		}
	}
}

// EditSounding returns what a change of sounding settings makes of a network's
// documents. body holds the settings to change. While motion is paused, changes
// other than the end of the pause are a Conflict.
func EditSounding(n motion.Network, body any) (motion.Network, error) {
	asked, ok := body.(map[string]any)
	if !ok {
		return n, Mistakes{{Location: "body", Message: "want an object"}}.Err()
	}
	before, err := soundingValues(n)
	if err != nil {
		return n, err
	}
	known := map[string]shape{}
	var patches [3]map[string]any
	for _, s := range seats() {
		known[s.name] = s.shapeOf()
		if value, given := asked[s.name]; given {
			patches[s.document] = merged(patches[s.document], nested(s.keys(), value))
		}
	}
	var m Mistakes
	object{known: known, others: nothing}.check(&m, "body", asked)
	if enabled, given := asked["motion_events_enabled"]; asked["motion_events_armed"] == 1.0 && (given && enabled == 0.0 || !given && before["motion_events_enabled"] == 0.0) {
		m.Add("body.motion_events_armed", 1, armedNeedsEnabled)
	}
	after := n
	after.GuardianConfig = followZones(merged(n.GuardianConfig, patches[inGuardian]))
	after.RadarConfig = merged(n.RadarConfig, patches[inRadar])
	after.Meta = merged(n.Meta, patches[inMeta])
	if len(m) == 0 {
		checkPetMode(&m, after, "body.pet_mode")
	}
	if err := m.Err(); err != nil {
		return n, err
	}
	if err := mayChange(n, before, asked); err != nil {
		return n, err
	}
	return after, fits(after.GuardianConfig)
}

// mayChange refuses changes of a paused network: the end of the pause alone can be
// received (payloads.md 4.4).
func mayChange(n motion.Network, before, asked map[string]any) error {
	if !n.Paused() {
		return nil
	}
	ends := asked[pausedSetting] == 0.0
	for _, name := range sortedKeys(asked) {
		if name != pausedSetting && (!ends || fmt.Sprint(asked[name]) != fmt.Sprint(before[name])) {
			return WhilePaused(name)
		}
	}
	return nil
}

// HeldByPause refuses a change of a network that is paused when it changes a setting of
// sounding settings or sounding clients, whichever document it is made in; nil: it may
// be made. Conflict names the setting.
func HeldByPause(n, after motion.Network) error {
	if !n.Paused() {
		return nil
	}
	before, err := soundingValues(n)
	if err != nil {
		return err
	}
	values, err := soundingValues(after)
	if err != nil {
		return err
	}
	for _, s := range seats() {
		if s.name != pausedSetting && !reflect.DeepEqual(before[s.name], values[s.name]) {
			return WhilePaused(s.name)
		}
	}
	if !maps.Equal(n.Radar().Sounding.Clients, after.Radar().Sounding.Clients) {
		return WhilePaused("sounding.clients")
	}
	return nil
}

// WhilePaused is the answer to a change of a setting that a paused network does
// not take.
func WhilePaused(name string) error {
	return fault.New(fault.Conflict, "%s: motion is paused; end the pause with motion_paused 0 before anything else is changed", name)
}

// nested returns a patch that sets the value at a path.
func nested(path []string, value any) map[string]any {
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return map[string]any{path[0]: value}
}
