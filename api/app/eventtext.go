package app

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"sensegate/motion"
)

// deviceNames are the names that people gave to devices, by their wire names.
type deviceNames map[string]string

// deviceNames returns the names of a network's devices.
func (a *App) deviceNames(id motion.NetworkID) (deviceNames, error) {
	topology, err := a.Engine.Topology(id, true)
	names := deviceNames{}
	for _, d := range topology.Devices {
		names[d.Name] = d.FriendlyName
	}
	return names, err
}

// sentence says in words what happened.
func (n deviceNames) sentence(e motion.Event) string {
	switch e.Event {
	case motion.MotionDetectedEvent:
		return at("Motion", e.LocName, "Motion detected")
	case motion.MotionStoppedEvent:
		return at("Motion stopped", e.LocName, "Motion stopped")
	case motion.LinkConnectedEvent:
		return n.device(e) + " connected"
	case motion.LinkDisconnectedEvent:
		return n.device(e) + " disconnected"
	case motion.LinkLowThroughputEvent:
		return "Weak sensing link to " + n.device(e)
	case motion.LinkCreatedEvent:
		return "New sensing link to " + n.device(e)
	case motion.LinkNoisyEvent:
		return "Noisy sensing link to " + n.device(e)
	case motion.DeviceAdoptedEvent:
		return n.device(e) + " was let in as a new device"
	case motion.DeviceReturnedEvent:
		return n.device(e) + " came back"
	case motion.DeviceReplacedEvent:
		return n.device(e) + " took the place of " + e.Detail.Text("replaced")
	case motion.DeviceRefusedEvent:
		return n.refusal(e)
	case motion.MemberArrivedEvent:
		return memberName(e) + " arrived"
	case motion.MemberLeftEvent:
		return memberName(e) + " left"
	case motion.MemberJoinedEvent:
		return memberName(e) + " joined the household"
	case motion.MemberRemovedEvent:
		return memberName(e) + " was removed from the household"
	case motion.OwnerChangedEvent:
		return memberName(e) + " is the owner of the household now"
	case motion.SceneChangedToAwayEvent:
		return "Scene changed to away"
	case motion.SceneChangedToHomeEvent:
		return "Scene changed to home"
	case motion.DatabaseRecoveredEvent:
		if e.Detail.Text("lost") != "" && e.Detail.Text("backup") == "" {
			return "Damaged records of the database lost"
		}
		return "Damaged database replaced by a backup"
	case motion.ClockSetEvent:
		return "Clock of the appliance set"
	case motion.CustomAlertEvent:
		return cmp.Or(e.Data.Text("title"), "Alert")
	}
	return words(e.Event)
}

// refusal says that a device was not let in, or how many more requests were refused.
func (n deviceNames) refusal(e motion.Event) string {
	if e.DeviceID == "" {
		return fmt.Sprintf("%d more requests of devices were refused", e.Detail.Int("more"))
	}
	return n.device(e) + " was not let in: " + e.Detail.Text("reason")
}

// at says where something happened, or otherwise when that is not known.
func at(what, where, otherwise string) string {
	if where == "" {
		return otherwise
	}
	return what + " in " + where
}

// device returns the name of the device that a link comes from, or that an event is of.
func (n deviceNames) device(e motion.Event) string {
	return cmp.Or(n[e.LinkSrcName], e.LinkSrcName, n[e.NodeName], e.NodeName, e.DeviceID, "A device")
}

// memberName returns the name of the member that an event is of.
func memberName(e motion.Event) string {
	return cmp.Or(strings.TrimSpace(e.Data.Text("first_name")+" "+e.Data.Text("last_name")), "A member")
}

// words returns the kind of an event in words: DeviceAddedEvent is "Device added".
func words(kind string) string {
	var text strings.Builder
	for i, r := range strings.TrimSuffix(kind, "Event") {
		if i > 0 && unicode.IsUpper(r) {
			text.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		text.WriteRune(r)
	}
	return text.String()
}
