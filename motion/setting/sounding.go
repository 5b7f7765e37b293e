package setting

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// SoundingSettings is the answer of sounding/settings (payloads.md 4.4): a view of the
// guardian configuration, the radar configuration and meta; kept says where each setting
// stands. Switches are 0 or 1.
type SoundingSettings struct {
	ZonePriorityList     []string `json:"zone_priority_list" kept:"guardian.leafblower.zone_priority_list" nullable:"false" doc:"Zones whose links are sounded first, in order; empty: no prioritisation" example:"[\"Kitchen\"]"`
	MotionEventsEnabled  int32    `json:"motion_events_enabled" kept:"guardian.motion_events.enabled" enum:"0,1" doc:"1: motion raises events"`
	MotionEventsArmed    int32    `json:"motion_events_armed" kept:"guardian.motion_events.armed" enum:"0,1" doc:"1: motion events are stored and pushed; needs motion_events_enabled"`
	MotionHistoryEnabled int32    `json:"motion_history_enabled" kept:"guardian.motion_history.enabled" enum:"0,1" doc:"1: motion is kept as history, what was watched live and what devices report later; 0: neither is stored"`
	DeviceEvents         int32    `json:"device_events" kept:"guardian.device_events.enabled" enum:"0,1" doc:"1: events when a device that is allowed comes and goes, while sounding_mode is deny"`
	MeshAutoDisable      int32    `json:"mesh_auto_disable" kept:"radar.mesh_sounding.auto_disable" enum:"0,1" doc:"1: devices may stop sounding between nodes by themselves"`
	MeshSoundingDisabled []string `json:"mesh_sounding_disabled" kept:"radar.mesh_sounding.disabled" readOnly:"true" nullable:"false" doc:"deviceIds of the nodes that do not sound other nodes; set by sounding_mesh of sounding clients"`
	MotionPaused         int32    `json:"motion_paused" kept:"meta.motion_paused" enum:"0,1" doc:"1: no motion is sensed, and no other setting can be changed"`
	SoundingMode         string   `json:"sounding_mode" kept:"radar.sounding.mode" enum:"allow,deny" doc:"Whether clients that say nothing else take part"`
	LeafblowerCutoff     float64  `json:"leafblower_cutoff" kept:"guardian.leafblower.cutoff" minimum:"-1.1" maximum:"1" doc:"Lowest selection score of a client that is sounded; -1.1 ignores quality"`
	LinkLimit            int32    `json:"link_limit" kept:"guardian.leafblower.link_limit" minimum:"1" maximum:"120" doc:"Links of clients that are sounded at most; those between nodes are not counted"`
	Sensitivity          int32    `json:"sensitivity" kept:"guardian.motion_events.sens" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low"`
	PetMode              int32    `json:"pet_mode" kept:"guardian.motion_events.pet_mode" enum:"0,1" doc:"1: pets are not motion; needs sensitivity 1 and every client on global"`
	Cooldown             int32    `json:"cooldown" kept:"guardian.motion_events.cooldown" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped"`
}

// The documents that sounding settings are kept in.
const (
	inGuardian = "guardian"
	inRadar    = "radar"
	inMeta     = "meta"
)

// pausedSetting is the one setting that can be changed while it is 1.
const pausedSetting = "motion_paused"

// seat is where a sounding setting is kept.
type seat struct {
	name     string
	document string
	path     []string
}

// seats returns where each sounding setting is kept.
func seats() (list []seat) {
	for f := range reflect.TypeFor[SoundingSettings]().Fields() {
		path := strings.Split(f.Tag.Get("kept"), ".")
		list = append(list, seat{f.Tag.Get("json"), path[0], path[1:]})
	}
	return list
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
	documents, err := plain(map[string]any{
		inGuardian: n.Guardian(), inRadar: n.Radar(), inMeta: map[string]any{pausedSetting: n.Meta.Int(pausedSetting)},
	})
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, s := range seats() {
		values[s.name] = valueAt(documents, append([]string{s.document}, s.path...)...)
	}
	return values, nil
}

// EditSounding returns what a change of sounding settings makes of a network's
// documents. found is what is wrong with the request so far. Invalid: all that is wrong.
// While motion is paused, changes other than the end of the pause are a Conflict.
func EditSounding(n motion.Network, change SoundingChange, found fault.Details) (motion.Network, error) {
	before, err := soundingValues(n)
	if err != nil {
		return n, err
	}
	asked, err := plain(change)
	if err != nil {
		return n, err
	}
	patches := map[string]map[string]any{}
	for _, s := range seats() {
		if value, given := asked[s.name]; given {
			patches[s.document] = merged(patches[s.document], nested(s.path, value))
		}
	}
	after := n
	after.GuardianConfig = followZones(merged(n.GuardianConfig, patches[inGuardian]))
	after.RadarConfig = merged(n.RadarConfig, patches[inRadar])
	after.Meta = merged(n.Meta, patches[inMeta])
	if change.MotionPaused != nil {
		after.PausedUntil = 0
	}
	if armed := change.MotionEventsArmed; armed != nil && *armed == 1 && after.Guardian().MotionEvents.Enabled == 0 {
		found.Add("body.motion_events_armed", 1, armedNeedsEnabled)
	}
	if len(found) == 0 {
		checkPetMode(&found, after, "body.pet_mode")
	}
	if err := found.Err(); err != nil {
		return n, err
	}
	if err := mayChange(n, before, asked); err != nil {
		return n, err
	}
	return after, fits(after.GuardianConfig)
}

// Pause returns what a pause of motion until a time, 0 without an end, makes of a network's
// documents.
func Pause(n motion.Network, until motion.Time) (motion.Network, error) {
	on := int32(1)
	after, err := EditSounding(n, SoundingChange{MotionPaused: &on}, nil)
	after.PausedUntil = until
	return after, err
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

// View is a form in which settings are shown.
type View int

// The views.
const (
	SoundingView View = iota // sounding settings, by their names
	GuardianView             // the guardian configuration, by path
	RadarView                // the radar configuration, by path
)

// ForDevices returns the settings of a view that only a guardian acts on: where the
// appliance senses itself, from raw channel state or figures of nodes, they are kept
// and sent to the devices, and change nothing. It tells pets from people by many links alone, has
// thresholds that follow sensitivity alone, decides about every link by itself, and
// takes whatever nodes report. fewLinks says that there are too few to tell pets.
func ForDevices(v View, fewLinks bool) []string {
	seats := []seat{
		{"mesh_auto_disable", inRadar, []string{"mesh_sounding", "auto_disable"}},
		{"", inRadar, []string{"measurement", "base_threshold"}},
		{"", inRadar, []string{"measurement", "delta_count"}},
		{"", inRadar, []string{"measurement", "report"}},
	}
	if fewLinks {
		seats = slices.Insert(seats, 0, seat{"pet_mode", inGuardian, []string{"motion_events", "pet_mode"}})
	}
	var names []string
	for _, s := range seats {
		switch {
		case v == SoundingView && s.name != "":
			names = append(names, s.name)
		case v == GuardianView && s.document == inGuardian, v == RadarView && s.document == inRadar:
			names = append(names, strings.Join(s.path, "."))
		}
	}
	return names
}
