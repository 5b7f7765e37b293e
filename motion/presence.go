package motion

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
