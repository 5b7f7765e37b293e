package state

import (
	"encoding/json"

	"sensegate/motion"
)

// Send publishes a command and reports whether it was taken; what cannot be sent is
// logged, and said again by the next renewal or connection.
func (st *State) Send(device motion.DeviceKey, command string, body any, retain bool) bool {
	payload, err := json.Marshal(body)
	if err == nil {
		err = st.Outbound.Send(device, command, payload, retain)
	}
	if err != nil {
		st.Log.Warn("command not sent", "device", device.String(), "command", command, "err", err)
	}
	return err == nil
}

// SendConfig sends a network's configuration to one of its devices, retained; it
// reports whether it was taken.
func (st *State) SendConfig(n *Network, device motion.DeviceKey) bool {
	n.Mu.Lock()
	command := configCommand{
		Rev:            n.Record.ConfigRev,
		GuardianConfig: n.InForce.Guardian,
		RadarConfig:    n.InForce.Radar,
		Meta:           configMeta{MotionPaused: n.Record.Meta.Int("motion_paused")},
	}
	n.Mu.Unlock()
	return st.Send(device, "config", command, true)
}

// configCommand is the config command (device-protocol.md 2.7).
type configCommand struct {
	Rev            int             `json:"rev"`
	GuardianConfig motion.Document `json:"guardian_config"`
	RadarConfig    motion.Document `json:"radar_config"`
	Meta           configMeta      `json:"meta"`
}

type configMeta struct {
	MotionPaused int `json:"motion_paused"`
}
