package inventory

import (
	"cmp"
	"strconv"
	"strings"

	"sensegate/motion"
)

// DeviceNames are the names that people gave to devices, by their wire names.
type DeviceNames map[string]string

// DeviceNames returns the names of a network's devices.
func (in *Inventory) DeviceNames(id motion.NetworkID) (DeviceNames, error) {
	topology, err := in.Topology(id, true)
	names := DeviceNames{}
	for _, d := range topology.Devices {
		names[d.Name] = d.FriendlyName
	}
	return names, err
}

// Value returns what the wording of an event means by a name, empty when it is not known.
func (n DeviceNames) Value(e motion.Event, name string) string {
	switch name {
	case "place":
		return e.LocName
	case "device": // that a link comes from, or that the event is of
		return cmp.Or(n[e.LinkSrcName], e.LinkSrcName, n[e.NodeName], motion.NodeTitle(e.DeviceID, false), e.NodeName, e.DeviceID)
	case "deviceId":
		return e.DeviceID
	case "installer": // who let a device in
		if e.Event == motion.DeviceAdoptedEvent {
			return n.Value(e, "member")
		}
		return ""
	case "member":
		return strings.TrimSpace(e.Data.Text("first_name") + " " + e.Data.Text("last_name"))
	case "more":
		return strconv.Itoa(e.Detail.Int(name))
	}
	return cmp.Or(e.Detail.Text(name), e.Data.Text(name))
}
