package app

import (
	"cmp"
	"strconv"
	"strings"

	"sensegate/motion"
)

// deviceNames are the names that people gave to devices, by their wire names.
type deviceNames map[string]string

// deviceNames returns the names of a network's devices.
func (a *App) deviceNames(id motion.NetworkID) (deviceNames, error) {
	topology, err := a.Engine.Inventory.Topology(id, true)
	names := deviceNames{}
	for _, d := range topology.Devices {
		names[d.Name] = d.FriendlyName
	}
	return names, err
}

// sentence says in words what happened.
func (n deviceNames) sentence(e motion.Event) string {
	kind, _ := motion.EventKindOf(e.Event)
	return kind.Sentence(func(name string) string {
		switch name {
		case "place":
			return e.LocName
		case "device":
			return n.device(e)
		case "deviceId":
			return e.DeviceID
		case "member":
			return memberName(e)
		case "more":
			return strconv.Itoa(e.Detail.Int(name))
		}
		return cmp.Or(e.Detail.Text(name), e.Data.Text(name))
	})
}

// device returns the name of the device that a link comes from, or that an event is of.
func (n deviceNames) device(e motion.Event) string {
	return cmp.Or(n[e.LinkSrcName], e.LinkSrcName, n[e.NodeName], e.NodeName, e.DeviceID, "A device")
}

// memberName returns the name of the member that an event is of.
func memberName(e motion.Event) string {
	return cmp.Or(strings.TrimSpace(e.Data.Text("first_name")+" "+e.Data.Text("last_name")), "A member")
}
