package wire

import (
	"encoding/json"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// BootstrapAnswer is the gatekeeper's answer to a post. It has one of three forms
// (device-protocol.md 1): Redirect alone; Status, RetryAfterS and Reason;
// or LocalConfig with the two configuration documents.
type BootstrapAnswer struct {
	Redirect string `json:"gatekeeper_redirect,omitempty"` // URL of the gatekeeper to post to instead

	Status      string `json:"status,omitempty"`        // StatusTryAgain
	RetryAfterS int    `json:"retry_after_s,omitempty"` // s
	Reason      string `json:"reason,omitempty"`

	LocalConfig    *LocalConfig    `json:"local_config,omitempty"`
	RadarConfig    motion.Document `json:"radar_config,omitzero"`    // empty, not nil, beside LocalConfig
	GuardianConfig motion.Document `json:"guardian_config,omitzero"` // empty, not nil, beside LocalConfig
}

// StatusTryAgain is the status of an answer that gives no access yet.
const StatusTryAgain = "TRYAGAIN"

// LocalConfig says how the device reaches the broker.
type LocalConfig struct {
	Guardian *GuardianAccess `json:"guardian_mqtt,omitempty"` // the master only
	Radar    *RadarAccess    `json:"radar_mqtt,omitempty"`
}

// GuardianAccess is the broker access of the agent that leads the network.
type GuardianAccess struct {
	NetworkID    motion.NetworkID  `json:"network_id"`
	GuardianID   string            `json:"guardian_id"`
	MQServer     string            `json:"mqServer"`
	MQPort       int               `json:"mqPort"`
	MQSecurePort int               `json:"mqSecurePort,omitempty"` // 0: no TLS
	MQToken      string            `json:"mqToken"`
	MQType       motion.DeviceKind `json:"mqType"`
}

// RadarAccess is the broker access of one node's sensing agent.
type RadarAccess struct {
	NetworkID         motion.NetworkID  `json:"network_id"`
	DeviceID          string            `json:"deviceId"`
	MQServer          string            `json:"mqServer"`
	MQPort            int               `json:"mqPort"`
	MQSecureRadarPort int               `json:"mqSecureRadarPort,omitempty"` // 0: no TLS
	MQToken           string            `json:"mqToken"`
	MQType            motion.DeviceKind `json:"mqType"`
}

// DecodeBootstrap reads what a device posts to the gatekeeper. Errors are as
// those of [Decode]. The location id may stand beside radar_status, inside it, or
// both; a node without a name is called by its deviceId.
func DecodeBootstrap(body []byte) (motion.Bootstrap, error) {
	b, err := decodeBootstrap(body)
	if err != nil {
		return motion.Bootstrap{}, err
	}
	return b, nil
}

func decodeBootstrap(body []byte) (b motion.Bootstrap, err *fault.Error) {
	top, err := parse(body)
	if err != nil {
		return b, err
	}
	if top["radar_status"] == nil {
		return b, under("radar_status", invalid("missing"))
	}
	if err := into(&b, top); err != nil {
		return b, err
	}
	if err := normalRadar(&b.Radar); err != nil {
		return b, under("radar_status", err)
	}
	if b.Radar.RootMode < 0 || b.Radar.RootMode > motion.RootModeMaster {
		return b, under("radar_status", under("root_mode", invalid("%d is not in 0..%d", b.Radar.RootMode, motion.RootModeMaster)))
	}
	if b.LocationID == "" {
		b.LocationID = b.Radar.LocationID
	}
	if b.LocationID != "" && !ValidID(b.LocationID) {
		return b, under("location_id", invalid("%s: want 1 to 64 letters, digits and - _ . :", short(b.LocationID)))
	}
	if b.Radar.LocationID == "" {
		b.Radar.LocationID = b.LocationID
	}
	return b, nil
}

// EncodeBootstrap writes what a device posts to the gatekeeper, for simulators
// and tests. It panics when the record holds what JSON cannot, such as NaN.
func EncodeBootstrap(b motion.Bootstrap) []byte {
	body, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Sprintf("wire: encode bootstrap: %v", err))
	}
	return body
}
