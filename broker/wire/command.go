package wire

import (
	"encoding/json"

	"sensegate/motion"
)

// Config is the payload of the retained command config: the two configuration
// documents in force and the revision that the agent reports once it has applied
// them (device-protocol.md 2.7).
type Config struct {
	Rev            int             `json:"rev"`
	GuardianConfig motion.Document `json:"guardian_config"`
	RadarConfig    motion.Document `json:"radar_config"`
	Meta           ConfigMeta      `json:"meta"`
}

// ConfigMeta is what devices need of the network's meta document.
type ConfigMeta struct {
	MotionPaused int `json:"motion_paused"` // 0 or 1
}

// MarshalJSON writes documents that are nil as empty objects.
func (c Config) MarshalJSON() ([]byte, error) {
	type plainConfig Config
	c.GuardianConfig = orEmpty(c.GuardianConfig)
	c.RadarConfig = orEmpty(c.RadarConfig)
	return json.Marshal(plainConfig(c))
}

// Live is the payload of the command live: motion-matrix messages are wanted
// every Interval ms until TimeoutS seconds have passed without another one.
type Live struct {
	Enable   int `json:"enable"` // 0 or 1
	Interval int `json:"interval"`
	TimeoutS int `json:"timeout_s"`
}

// Manage is the payload of the command manage. Commands that every agent knows:
// reboot, status, config, log, ping.
type Manage struct {
	ID      int64             `json:"id"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args"`
}

// MarshalJSON writes arguments that are nil as an empty object.
func (m Manage) MarshalJSON() ([]byte, error) {
	type plainManage Manage
	if m.Args == nil {
		m.Args = map[string]string{}
	}
	return json.Marshal(plainManage(m))
}

func orEmpty(d motion.Document) motion.Document {
	if d == nil {
		return motion.Document{}
	}
	return d
}
