package state

import (
	"encoding/json"
	"maps"

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

// ForNodes returns a guardian configuration as nodes get it that do not lead their network: without
// whether it is armed, which tells whether the household is away. It does not change d.
func ForNodes(d motion.Document) motion.Document {
	events, ok := d["motion_events"].(map[string]any)
	if !ok {
		return d
	}
	d, events = maps.Clone(d), maps.Clone(events)
	delete(events, "armed")
	d["motion_events"] = events
	return d
}

// Leads reports whether a device decides about the motion of a network: its guardian, or the node that
// leads it.
func (n *Network) Leads(device motion.DeviceKey) bool {
	if device.Kind == motion.Guardian {
		return true
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	master, known := n.Nodes[n.Record.MasterID]
	return known && master.DeviceID == device.ID
}

// SendConfig sends a network's configuration to one of its devices, retained; it
// reports whether it was taken. What they get who do not lead it does not change with its arming.
func (st *State) SendConfig(n *Network, device motion.DeviceKey) bool {
	leads := n.Leads(device)
	n.Mu.Lock()
	command := configCommand{
		Rev:            n.Record.ConfigRev,
		GuardianConfig: n.InForce.Guardian,
		RadarConfig:    n.InForce.Radar,
		Meta:           configMeta{MotionPaused: n.Record.Meta.Int("motion_paused")},
	}
	guardian, record := n.Guardian, n.Record
	n.Mu.Unlock()
	if !leads {
		command.Rev -= record.Armings
		command.GuardianConfig = ForNodes(motion.WithDefaults(guardian, record.GuardianConfig))
	}
	return st.Send(device, "config", command, true)
}

// configCommand is the config command (device-protocol.md 2.7).
type configCommand struct {
	Rev            int             `json:"rev"`
	GuardianConfig any             `json:"guardian_config"` // a document, or its JSON text
	RadarConfig    json.RawMessage `json:"radar_config"`
	Meta           configMeta      `json:"meta"`
}

type configMeta struct {
	MotionPaused int `json:"motion_paused"`
}
