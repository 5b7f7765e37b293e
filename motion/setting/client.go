package setting

import (
	"fmt"
	"slices"

	"sensegate/motion"
)

// maxPatched bounds the clients of one change.
const maxPatched = 256

// ClientPatch is what a change of sounding clients asks for one of them
// (payloads.md 4.5). Nil is not asked for.
type ClientPatch struct {
	At string // its place in the request, such as body.devices[1]

	ID       motion.NodeID // 0: not named by it
	MAC      motion.MAC
	DeviceID string

	FriendlyName, Location *string
	Mode                   *string // Allow or Deny; of a client
	Mesh                   *string // Allow or Deny; of a node
	SensitivityMode        *string // Global or Override
	Sensitivity            *int    // 1..4
}

// Sounds reports whether more than a name or place is asked for.
func (p ClientPatch) Sounds() bool {
	return p.Mode != nil || p.Mesh != nil || p.SensitivityMode != nil || p.Sensitivity != nil
}

// ReadClients reads the body of a change of sounding clients. What can be told to
// be wrong without knowing the clients goes into m; the patches hold the rest.
func ReadClients(m *Mistakes, body any) []ClientPatch {
	object, ok := body.(map[string]any)
	items, isList := object["devices"].([]any)
	switch {
	case !ok:
		m.Add("body", nil, "want an object")
		return nil
	case !isList || len(items) > maxPatched:
		m.Add("body.devices", nil, "want an array of at most %d clients", maxPatched)
		return nil
	}
	for _, key := range sortedKeys(object) {
		if key != "devices" {
			nothing(m, "body."+key, nil)
		}
	}
	patches := make([]ClientPatch, 0, len(items))
	for i, item := range items {
		patches = append(patches, readClient(m, fmt.Sprintf("body.devices[%d]", i), item))
	}
	return patches
}

// readClient reads one entry. A value that has a mistake is not asked for.
func readClient(m *Mistakes, at string, item any) ClientPatch {
	p := ClientPatch{At: at}
	fields, ok := item.(map[string]any)
	if !ok {
		m.Add(at, nil, "want an object")
		return p
	}
	shapes := clientShape().known
	for _, key := range sortedKeys(fields) {
		var wrong Mistakes
		clientShape().check(&wrong, at, map[string]any{key: fields[key]})
		if len(wrong) > 0 {
			*m = append(*m, wrong...)
			delete(shapes, key)
		}
	}
	for key := range shapes {
		if value, given := fields[key]; given {
			p.take(key, value)
		}
	}
	if fields["id"] == nil && fields["mac"] == nil && fields["device_id"] == nil {
		m.Add(at, nil, "mac, id or device_id is required")
	}
	return p
}

// clientShape is one entry of a change of sounding clients.
func clientShape() object {
	return object{
		known: map[string]shape{
			"id": integer(1, 1<<31-1), "mac": address, "device_id": text(128), "friendly_name": place, "location": place,
			"sounding_mode": word(Allow, Deny), "sounding_mesh": word(Allow, Deny),
			"sensitivity_mode": word(Global, Override), "sensitivity": sens(),
		},
		others: nothing,
	}
}

// address is a MAC address.
func address(m *Mistakes, at string, value any) {
	s, _ := value.(string)
	if mac, err := motion.ParseMAC(s); err != nil || mac.IsZero() {
		m.Add(at, value, "want a MAC address such as 02:bb:00:00:00:31")
	}
}

// take takes over one value that has its shape.
func (p *ClientPatch) take(key string, value any) {
	text, _ := value.(string)
	number, _ := value.(float64)
	switch key {
	case "id":
		p.ID = motion.NodeID(number)
	case "mac":
		p.MAC, _ = motion.ParseMAC(text)
	case "device_id":
		p.DeviceID = text
	case "friendly_name":
		p.FriendlyName = &text
	case "location":
		p.Location = &text
	case "sounding_mode":
		p.Mode = &text
	case "sounding_mesh":
		p.Mesh = &text
	case "sensitivity_mode":
		p.SensitivityMode = &text
	case "sensitivity":
		sensitivity := int(number)
		p.Sensitivity = &sensitivity
	}
}

// Client returns the settings of its own that a client has, by any of its
// addresses.
func Client(radar motion.RadarConfig, addresses ...motion.MAC) motion.SoundingClient {
	for _, mac := range addresses {
		if client, ok := radar.Sounding.Clients[mac.String()]; ok {
			return client
		}
	}
	return motion.SoundingClient{}
}

// SetClient returns the network with what a patch asks for of the sounding of a
// client that has the addresses; settings go to the first of them, or to the one
// that has some already. What the rules forbid goes into m.
func SetClient(m *Mistakes, n motion.Network, p ClientPatch, addresses []motion.MAC) motion.Network {
	clients := n.Radar().Sounding.Clients
	key := addresses[0].String()
	for _, mac := range addresses {
		if _, there := clients[mac.String()]; there {
			key = mac.String()
		}
	}
	own := clients[key]
	overrides := own.Sens != 0
	if p.SensitivityMode != nil {
		overrides = *p.SensitivityMode == Override
	}
	switch {
	case p.Sensitivity != nil && !overrides:
		m.Add(p.At+".sensitivity", *p.Sensitivity, "only with sensitivity_mode override")
	case p.Sensitivity == nil && overrides && own.Sens == 0:
		m.Add(p.At+".sensitivity", nil, "is required with sensitivity_mode override")
	}
	change := map[string]any{}
	if p.Mode != nil {
		change["mode"] = *p.Mode
	}
	if p.SensitivityMode != nil && !overrides {
		change["sens"] = nil
	}
	if p.Sensitivity != nil && overrides {
		change["sens"] = float64(*p.Sensitivity)
	}
	if len(change) == 0 {
		return n
	}
	return changeClient(m, n, p.At, key, change)
}

// SetMode returns the network with the sounding mode of a leaf; "" takes back what was
// set. What the rules forbid goes into m.
func SetMode(m *Mistakes, n motion.Network, at string, mac motion.MAC, mode string) motion.Network {
	change := map[string]any{"mode": nil}
	if mode != "" {
		change["mode"] = mode
	}
	return changeClient(m, n, at, mac.String(), change)
}

// changeClient returns the network with a change of the settings that a client has of
// its own.
func changeClient(m *Mistakes, n motion.Network, at, key string, change map[string]any) motion.Network {
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
	value, _ := e.given(path...)
	list, _ := value.([]any)
	known := append(n.Radar().MeshSounding.Disabled, deviceIDs...)
	var m Mistakes
	for i, item := range list {
		if id, isText := item.(string); isText && !slices.Contains(known, id) {
			m.Add(fmt.Sprintf("%s[%d]", e.at(path...), i), id, "is not the deviceId of a node of this network")
		}
	}
	return m.Err()
}

// Fits checks what a network's documents come to after changes of clients.
func Fits(m *Mistakes, n motion.Network, at string) error {
	if len(*m) == 0 {
		checkPetMode(m, n, at)
	}
	if err := m.Err(); err != nil {
		return err
	}
	return fits(n.RadarConfig)
}
