package motion

import (
	"encoding/json"
	"maps"
)

// Document is a JSON object whose unknown keys are kept and returned: meta, the
// guardian configuration and the radar configuration.
type Document map[string]any

// Clone returns a copy of the top level.
func (d Document) Clone() Document { return maps.Clone(d) }

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

// MotionEvents says when motion becomes an event (device-protocol.md section 3).
type MotionEvents struct {
	Enabled          int     `json:"enabled"`
	Armed            int     `json:"armed"`
	DensityWindow    int     `json:"density_window"`    // samples
	DensityThreshold float64 `json:"density_threshold"` // share of the window, 0..1
	Cooldown         int     `json:"cooldown"`          // s
	Sens             int     `json:"sens"`              // 1 High, 2 Medium, 3 Low, 4 Very Low
	PetMode          int     `json:"pet_mode"`
}

// LiveMotion configures the live frames.
type LiveMotion struct {
	Interval      int `json:"interval"` // ms
	TimeoutS      int `json:"timeout_s"`
	LocConfEnable int `json:"loc_conf_enable"`
}

// MotionHistory configures the motion-history reports of a device.
type MotionHistory struct {
	Enabled  int `json:"enabled"`
	Interval int `json:"interval"` // ms
	Count    int `json:"count"`
}

// LinkEvents configures LinkLowThroughputEvent.
type LinkEvents struct {
	Enabled        int     `json:"enabled"`
	LowThroughput  float64 `json:"low_throughput"` // share of sounding that succeeded
	LowThroughputS int     `json:"low_throughput_s"`
}

// DeviceEvents configures device connect and disconnect events.
type DeviceEvents struct {
	Enabled int `json:"enabled"`
}

// StatusConfig configures the reports of a device.
type StatusConfig struct {
	IntervalS  int `json:"interval_s"`
	HeartbeatS int `json:"heartbeat_s"`
}

// Leafblower selects the links that are sounded.
type Leafblower struct {
	Mode             string   `json:"mode"` // legacy for an empty zone list, zone otherwise
	Cutoff           float64  `json:"cutoff"`
	LinkLimit        int      `json:"link_limit"`
	ZonePriorityList []string `json:"zone_priority_list"`
}

// RadarConfig is the sensing configuration shared by all nodes of a network
// (payloads.md 4.11).
type RadarConfig struct {
	Sounding     Sounding     `json:"sounding"`
	MeshSounding MeshSounding `json:"mesh_sounding"`
	Measurement  Measurement  `json:"measurement"`
	LogLevel     string       `json:"log_level"`
}

// Sounding says which clients are sounded, and how often.
type Sounding struct {
	Enabled int                       `json:"enabled"`
	Mode    string                    `json:"mode"` // allow or deny
	RateMS  int                       `json:"rate_ms"`
	WarmupS int                       `json:"warmup_s"`
	Clients map[string]SoundingClient `json:"clients"` // by MAC
}

// SoundingClient overrides the global sounding settings for one client.
type SoundingClient struct {
	Mode string `json:"mode,omitempty"`
	Sens int    `json:"sens,omitempty"`
}

// MeshSounding configures links between nodes.
type MeshSounding struct {
	AutoDisable int      `json:"auto_disable"`
	Disabled    []string `json:"disabled"`
}

// Measurement configures how a device measures and reports.
type Measurement struct {
	BandwidthMHz  int     `json:"bandwidth_mhz"`
	IntervalMS    int     `json:"interval_ms"`
	BaseThreshold float64 `json:"base_threshold"` // of msad, at sensitivity 1
	Report        string  `json:"report"`
	DeltaCount    int     `json:"delta_count"`
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

// overlay decodes doc over the defaults in config. Documents are validated when
// they are written, so what does not fit is left at its default.
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
