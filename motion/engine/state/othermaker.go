package state

import "sensegate/motion"

// SetNodeFigures keeps what arrives of a node of another maker, by its deviceId; nil: it is not heard
// any more. The door that hears nodes bounds their number.
func (st *State) SetNodeFigures(deviceID string, figures *motion.NodeFigures) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if figures == nil {
		delete(st.figures, deviceID)
		return
	}
	st.figures[deviceID] = *figures
}

// NodeFigures returns what arrives of a node of another maker, nil when nothing is known of it.
func (st *State) NodeFigures(deviceID string) *motion.NodeFigures {
	st.mu.Lock()
	defer st.mu.Unlock()
	figures, ok := st.figures[deviceID]
	if !ok {
		return nil
	}
	return &figures
}

// KnowsTransmitter reports whether an address is one of a node in the network of a device.
func (st *State) KnowsTransmitter(device motion.DeviceKey, mac motion.MAC) bool {
	st.mu.Lock()
	var n *Network
	if s := st.sessions[device]; s != nil {
		n = st.networks[s.Device.NetworkID]
	}
	st.mu.Unlock()
	if n == nil {
		return false
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	_, known := n.ByMAC[mac]
	return known
}
