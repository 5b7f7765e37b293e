package motion

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Document is a JSON object whose unknown keys are kept and returned: meta, the
// guardian configuration and the radar configuration.
type Document map[string]any

// Clone returns a copy of the top level.
func (d Document) Clone() Document { return maps.Clone(d) }

// JSON returns the document as JSON text, with <, > and & as they are.
func (d Document) JSON() (json.RawMessage, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return bytes.Clone(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), err
}

// Int returns the number at key, or 0.
func (d Document) Int(key string) int {
	switch v := d[key].(type) {
	case float64:
		return int(v)
	case int:
		return v
	}
	return 0
}

// Text returns the string at key, or "".
func (d Document) Text(key string) string {
	s, _ := d[key].(string)
	return s
}

// GuardianConfig is the guardian configuration (payloads.md 4.11). Switches are
// 0 or 1.
type GuardianConfig struct {
	MotionEvents  MotionEvents  `json:"motion_events"`
	LiveMotion    LiveMotion    `json:"live_motion"`
	MotionHistory MotionHistory `json:"motion_history"`
	LinkEvents    LinkEvents    `json:"link_events"`
	DeviceEvents  DeviceEvents  `json:"device_events"`
	Status        StatusConfig  `json:"status"`
	Leafblower    Leafblower    `json:"leafblower"`
}

// MotionEvents configures when motion becomes an event (device-protocol.md 3).
type MotionEvents struct {
	Enabled          int     `json:"enabled" enum:"0,1"`
	Armed            int     `json:"armed" enum:"0,1" doc:"1: motion events are stored and pushed; needs enabled"`
	DensityWindow    int     `json:"density_window" minimum:"2" maximum:"600" doc:"Samples of 500 ms that a detection looks at"`
	DensityThreshold float64 `json:"density_threshold" minimum:"0.01" maximum:"1" doc:"Share of the window that has to be in motion"`
	Cooldown         int     `json:"cooldown" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped"`
	Sens             int     `json:"sens" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low"`
	PetMode          int     `json:"pet_mode" enum:"0,1" doc:"1: motion that few links see, as a pet's, begins no detection; needs sens 1 and every client on global, and six links to have an effect on what the appliance senses itself"`
}

// LiveMotion configures the live frames.
type LiveMotion struct {
	Interval      int `json:"interval" minimum:"100" maximum:"10000" doc:"Milliseconds between two frames"`
	TimeoutS      int `json:"timeout_s" minimum:"1" maximum:"3600" doc:"Seconds that a device sends live motion without being asked again"`
	LocConfEnable int `json:"loc_conf_enable" enum:"0,1" doc:"1: live frames have loc_conf"`
}

// MotionHistory configures the motion-history reports of a device.
type MotionHistory struct {
	Enabled  int `json:"enabled" enum:"0,1" doc:"0: no motion is stored as history"`
	Interval int `json:"interval" minimum:"1000" maximum:"60000" doc:"Milliseconds of one sample"`
	Count    int `json:"count" minimum:"1" maximum:"1000" doc:"Samples of one report"`
}

// LinkEvents configures LinkLowThroughputEvent.
type LinkEvents struct {
	Enabled        int     `json:"enabled" enum:"0,1"`
	LowThroughput  float64 `json:"low_throughput" minimum:"0" maximum:"1" doc:"Share of the sounding that succeeds, below which a link is low"`
	LowThroughputS int     `json:"low_throughput_s" minimum:"1" maximum:"3600" doc:"Seconds until a link counts as low"`
}

// DeviceEvents configures device connect and disconnect events.
type DeviceEvents struct {
	Enabled int `json:"enabled" enum:"0,1"`
}

// StatusConfig configures the reports of a device.
type StatusConfig struct {
	IntervalS  int `json:"interval_s" minimum:"10" maximum:"86400" doc:"Seconds between full status reports"`
	HeartbeatS int `json:"heartbeat_s" minimum:"5" maximum:"60" doc:"Seconds between heartbeats"`
}

// Leafblower selects the links that are sounded.
type Leafblower struct {
	Mode             string   `json:"mode" enum:"legacy,zone" doc:"Follows zone_priority_list: legacy for an empty one"`
	Cutoff           float64  `json:"cutoff" minimum:"-1.1" maximum:"1" doc:"Lowest selection score of a client that is sounded; -1.1 ignores quality"`
	LinkLimit        int      `json:"link_limit" minimum:"1" maximum:"120" doc:"Links of clients that are sounded at most; those between nodes are not counted"`
	ZonePriorityList []string `json:"zone_priority_list" maxItems:"64" shape:"zone" nullable:"false" doc:"Zones whose links are sounded first, in order"`
}

// RadarConfig is the sensing configuration shared by all nodes of a network
// (payloads.md 4.11).
type RadarConfig struct {
	Sounding     Sounding     `json:"sounding"`
	MeshSounding MeshSounding `json:"mesh_sounding"`
	Measurement  Measurement  `json:"measurement"`
	LogLevel     string       `json:"log_level" enum:"debug,info,warn,error" doc:"Of the sensing agents"`
}

// Sounding configures which clients are sounded, and how often.
type Sounding struct {
	Enabled int                       `json:"enabled" enum:"0,1"`
	Mode    string                    `json:"mode" enum:"allow,deny" doc:"Of clients that say nothing else"`
	RateMS  int                       `json:"rate_ms" minimum:"10" maximum:"10000" doc:"Milliseconds between two soundings of a link"`
	WarmupS int                       `json:"warmup_s" minimum:"0" maximum:"3600" doc:"Seconds for which a link that has begun learns its quiet"`
	Clients map[string]SoundingClient `json:"clients" entries:"1024" doc:"Settings of clients of their own, by MAC"`
}

// SoundingClient overrides the global sounding settings for one client.
type SoundingClient struct {
	Mode string `json:"mode,omitempty" enum:"allow,deny" doc:"None: that of the network"`
	Sens int    `json:"sens,omitempty" minimum:"1" maximum:"4" doc:"Sensitivity of its own; none: that of the network"`
}

// MeshSounding configures links between nodes.
type MeshSounding struct {
	AutoDisable int      `json:"auto_disable" enum:"0,1" doc:"1: devices may stop sounding between nodes by themselves"`
	Disabled    []string `json:"disabled" maxItems:"256" nullable:"false" doc:"deviceIds of nodes that do not sound other nodes"`
}

// Measurement configures how a device measures and reports.
type Measurement struct {
	BandwidthMHz  int     `json:"bandwidth_mhz" enum:"20,40,80,160,320" doc:"MHz"`
	IntervalMS    int     `json:"interval_ms" minimum:"10" maximum:"60000" doc:"Milliseconds between measurements"`
	BaseThreshold float64 `json:"base_threshold" minimum:"0.01" maximum:"100000" doc:"What msad has to exceed at sensitivity 1; at sensitivity n it is n times as much"`
	Report        string  `json:"report" enum:"threshold,periodic" doc:"When a device reports"`
	DeltaCount    int     `json:"delta_count" minimum:"1" maximum:"1000" doc:"Measurements"`
}

// DefaultGuardianConfig returns the defaults of payloads.md 4.11.
func DefaultGuardianConfig() GuardianConfig {
	return GuardianConfig{
		MotionEvents:  MotionEvents{Enabled: 1, Armed: 1, DensityWindow: 8, DensityThreshold: 0.5, Cooldown: 120, Sens: 1},
		LiveMotion:    LiveMotion{Interval: 500, TimeoutS: 60},
		MotionHistory: MotionHistory{Enabled: 1, Interval: 5000, Count: 60},
		LinkEvents:    LinkEvents{Enabled: 1, LowThroughput: 0.5, LowThroughputS: 30},
		Status:        StatusConfig{IntervalS: 300, HeartbeatS: 60},
		Leafblower:    Leafblower{Mode: "legacy", LinkLimit: 8, ZonePriorityList: []string{}},
	}
}

// DefaultRadarConfig returns the defaults of payloads.md 4.11.
func DefaultRadarConfig() RadarConfig {
	return RadarConfig{
		Sounding:     Sounding{Enabled: 1, Mode: "allow", RateMS: 40, WarmupS: 30, Clients: map[string]SoundingClient{}},
		MeshSounding: MeshSounding{Disabled: []string{}},
		Measurement:  Measurement{BandwidthMHz: 80, IntervalMS: 500, BaseThreshold: 84.85, Report: "threshold", DeltaCount: 1},
		LogLevel:     "info",
	}
}

// Guardian returns the guardian configuration in force: the stored document over
// the defaults.
func (n Network) Guardian() GuardianConfig {
	config := DefaultGuardianConfig()
	overlay(&config, n.GuardianConfig)
	return config
}

// Radar returns the radar configuration in force: the stored document over the
// defaults.
func (n Network) Radar() RadarConfig {
	config := DefaultRadarConfig()
	overlay(&config, n.RadarConfig)
	return config
}

// Paused reports whether meta.motion_paused is set.
func (n Network) Paused() bool { return n.Meta.Int("motion_paused") == 1 }

// LongestPause is the longest time for which motion is paused until a time.
const LongestPause Seconds = 12 * 3600

// PauseEnds reports whether a pause of motion has an end, and that is over.
func (n Network) PauseEnds(now Time) bool {
	return n.Paused() && !n.PausedUntil.IsZero() && n.PausedUntil <= now
}

// overlay decodes doc over the defaults in config. Documents are validated when they are
// written; a value that does not fit keeps its default.
func overlay(config any, doc Document) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return
	}
	_ = json.Unmarshal(raw, config)
}

// WithDefaults returns the configuration document that clients see: config in
// force, with the unknown keys of doc kept.
func WithDefaults(config any, doc Document) Document {
	full := Document{}
	if doc != nil {
		overlay(&full, doc)
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return full
	}
	var known Document
	_ = json.Unmarshal(raw, &known)
	merge(full, known)
	return full
}

// merge writes every value of src into dst, object by object.
func merge(dst, src map[string]any) {
	for key, value := range src {
		inner, isObject := value.(map[string]any)
		present, wasObject := dst[key].(map[string]any)
		if isObject && wasObject {
			merge(present, inner)
			continue
		}
		dst[key] = value
	}
}

// ApplicationSettings are the sleep times and the time zone of a household: one record per
// network, which is the application settings of Core (payloads.md 4.11) and the sleep-wake
// settings of App Cloud (interfaces.md 2.4 no. 1).
type ApplicationSettings struct {
	NetworkID   NetworkID `json:"network_id" doc:"Core network id" example:"1042"`
	Timezone    string    `json:"timezone" doc:"IANA name of the time zone" example:"America/Toronto"`
	Enabled     bool      `json:"enabled" doc:"Whether nights are looked at; false: no sleep is told"`
	SleepHour   int       `json:"sleep_hour" minimum:"0" maximum:"23" doc:"On the clocks of the time zone" example:"23"`
	SleepMinute int       `json:"sleep_minute" minimum:"0" maximum:"59" example:"0"`
	WakeHour    int       `json:"wake_hour" minimum:"0" maximum:"23" example:"7"`
	WakeMinute  int       `json:"wake_minute" minimum:"0" maximum:"59" example:"0"`
}

// DefaultApplicationSettings returns the template of a network that has none of
// its own (interfaces.md 2.4 no. 1), in UTC.
func DefaultApplicationSettings(id NetworkID) ApplicationSettings {
	return ApplicationSettings{NetworkID: id, Timezone: "UTC", SleepHour: 23, WakeHour: 7}
}

// FollowsDevice reports whether device events are raised for the client with that
// address (payloads.md 4.4): device_events is enabled, sounding is denied in
// general and allowed for this device.
func (n Network) FollowsDevice(mac MAC) bool {
	if n.Guardian().DeviceEvents.Enabled != 1 {
		return false
	}
	sounding := n.Radar().Sounding
	return sounding.Mode == "deny" && sounding.Clients[mac.String()].Mode == "allow"
}
