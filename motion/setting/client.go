package setting

import (
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// maxClients bounds the clients of a network that have settings of their own.
const maxClients = 1024

// Client returns the settings of its own that a client has, by any of its
// addresses.
func Client(radar motion.RadarConfig, addresses ...motion.MAC) motion.SoundingClient {
	if len(radar.Sounding.Clients) == 0 {
		return motion.SoundingClient{}
	}
	for _, mac := range addresses {
		if client, ok := radar.Sounding.Clients[mac.String()]; ok {
			return client
		}
	}
	return motion.SoundingClient{}
}

// SetClient returns the network with what a change asks for of the sounding of a
// client that has the addresses; settings go to the first of them, or to the one
// that has some already. What the rules forbid goes into m.
func SetClient(m *fault.Details, n motion.Network, c SoundingClientChange, addresses []motion.MAC) motion.Network {
	clients := n.Radar().Sounding.Clients
	key := addresses[0].String()
	for _, mac := range addresses {
		if _, there := clients[mac.String()]; there {
			key = mac.String()
		}
	}
	own := clients[key]
	overrides := own.Sens != 0
	if c.SensitivityMode != nil {
		overrides = *c.SensitivityMode == Override
	}
	switch {
	case c.Sensitivity != nil && !overrides:
		m.Add(c.At+".sensitivity", *c.Sensitivity, "only with sensitivity_mode override")
	case c.Sensitivity == nil && overrides && own.Sens == 0:
		m.Add(c.At+".sensitivity", nil, "is required with sensitivity_mode override")
	}
	change := map[string]any{}
	if c.SoundingMode != nil {
		change["mode"] = *c.SoundingMode
	}
	if c.SensitivityMode != nil && !overrides {
		change["sens"] = nil
	}
	if c.Sensitivity != nil && overrides {
		change["sens"] = float64(*c.Sensitivity)
	}
	if len(change) == 0 {
		return n
	}
	return changeClient(m, n, c.At, key, change)
}

// SetMode returns the network with the sounding mode of a leaf; "" takes back what was
// set. What the rules forbid goes into m.
func SetMode(m *fault.Details, n motion.Network, at string, mac motion.MAC, mode string) motion.Network {
	change := map[string]any{"mode": nil}
	if mode != "" {
		change["mode"] = mode
	}
	return changeClient(m, n, at, mac.String(), change)
}

// changeClient returns the network with a change of the settings that a client has of
// its own.
func changeClient(m *fault.Details, n motion.Network, at, key string, change map[string]any) motion.Network {
	clients := n.Radar().Sounding.Clients
	if _, there := clients[key]; !there && len(clients) >= maxClients {
		m.Add(at, nil, "%d clients have settings of their own already", maxClients)
	}
	n.RadarConfig = merged(n.RadarConfig, nested([]string{"sounding", "clients", key}, change))
	if left, _ := valueAt(n.RadarConfig, "sounding", "clients", key).(map[string]any); len(left) == 0 {
		n.RadarConfig = merged(n.RadarConfig, nested([]string{"sounding", "clients", key}, nil))
	}
	return n
}

// SetMesh returns the network with the mesh sounding of a node allowed or denied.
func SetMesh(n motion.Network, deviceID, mode string) motion.Network {
	disabled := []any{}
	for _, id := range n.Radar().MeshSounding.Disabled {
		if id != deviceID {
			disabled = append(disabled, id)
		}
	}
	if mode == Deny {
		disabled = append(disabled, deviceID)
	}
	n.RadarConfig = merged(n.RadarConfig, nested([]string{"mesh_sounding", "disabled"}, disabled))
	return n
}

// MeshDisabled checks the nodes that an edit of the radar configuration keeps from
// sounding other nodes: each is one of the deviceIds, those of the network's nodes, or
// stands there already.
func MeshDisabled(n motion.Network, e Edit, deviceIDs []string) error {
	path := []string{"mesh_sounding", "disabled"}
	list, _ := valueAt(e.Body, path...).([]any)
	known := append(n.Radar().MeshSounding.Disabled, deviceIDs...)
	var m fault.Details
	for i, item := range list {
		if id, isText := item.(string); isText && !slices.Contains(known, id) {
			m.Add(fmt.Sprintf("%s[%d]", e.at(path...), i), id, "is not the deviceId of a node of this network")
		}
	}
	return m.Err()
}

// Fits checks what a network's documents come to after changes of clients.
func Fits(m *fault.Details, n motion.Network, at string) error {
	if len(*m) == 0 {
		checkPetMode(m, n, at)
	}
	if err := m.Err(); err != nil {
		return err
	}
	return fits(n.RadarConfig)
}
