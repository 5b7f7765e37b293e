package motion

// The kinds of device events (payloads.md 4.4): what becomes of a client that the
// network follows. They say that a device is there, not that it moves.
const (
	DeviceConnectedEvent    = "DeviceConnectedEvent"    // has a link again, after it had none
	DeviceDisconnectedEvent = "DeviceDisconnectedEvent" // a report no longer lists its last link
	DeviceTimedOutEvent     = "DeviceTimedOutEvent"     // its last link fell silent without a goodbye
)

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
