package wire

import (
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// The events that devices publish (device-protocol.md 2).
const (
	EventStatus        = "guardian-status"
	EventMatrix        = "motion-matrix"
	EventHistory       = "motion-history"
	EventEvent         = "event"
	EventLinkMotion    = "link-motion"
	EventManageResult  = "manage-result"
	EventDeviceInfoAck = "device-info-ack"
	EventCSI           = "csi"
)

// The commands that the appliance publishes (device-protocol.md 2.7).
const (
	CommandConfig     = "config"
	CommandLive       = "live"
	CommandDeviceInfo = "device-info"
	CommandManage     = "manage"
	CommandReset      = "reset"
)

// The formats of a topic: JSON, and packed bytes for raw CSI.
const (
	FormatJSON = "json"
	FormatBin  = "bin"
)

const (
	topicRoot = "iot-2"
	// maxWord is the longest event, command or format name, in bytes.
	maxWord = 32
)

// Topic is one topic of the device protocol:
//
//	iot-2/type/{mqType}/id/{id}/evt/{event}/fmt/{format}
//	iot-2/type/{mqType}/id/{id}/cmd/{command}/fmt/{format}
type Topic struct {
	Kind    motion.DeviceKind
	ID      string // guardian_id or deviceId
	Command bool   // cmd instead of evt
	Name    string // event or command
	Format  string
}

// ParseTopic reads a topic (not a filter). It accepts events and commands that
// it does not know, so that the caller can say which one was refused; what does
// not have the shape of a topic is fault.Malformed.
func ParseTopic(s string) (Topic, error) {
	var levels [9]string
	n, rest, more := 0, s, true
	for ; more && n < len(levels); n++ {
		levels[n], rest, more = strings.Cut(rest, "/")
	}
	if more || n < len(levels) || levels[0] != topicRoot || levels[1] != "type" || levels[3] != "id" || levels[7] != "fmt" {
		return Topic{}, fault.New(fault.Malformed, "topic %.40q: want iot-2/type/{mqType}/id/{id}/evt/{event}/fmt/{format}", s)
	}
	t := Topic{Kind: motion.DeviceKind(levels[2]), ID: levels[4], Command: levels[5] == "cmd", Name: levels[6], Format: levels[8]}
	switch {
	case t.Kind != motion.Guardian && t.Kind != motion.RadarKind:
		return Topic{}, fault.New(fault.Malformed, "topic type %.32q: want guardian or radar", levels[2])
	case !ValidID(t.ID):
		return Topic{}, fault.New(fault.Malformed, "topic id %.40q: want 1 to 64 letters, digits and - _ . :", t.ID)
	case levels[5] != "evt" && levels[5] != "cmd":
		return Topic{}, fault.New(fault.Malformed, "topic level %.32q: want evt or cmd", levels[5])
	case !validWord(t.Name) || !validWord(t.Format):
		return Topic{}, fault.New(fault.Malformed, "topic %.32q in format %.32q: want lower-case words", t.Name, t.Format)
	}
	return t, nil
}

// String returns the topic as it is published.
func (t Topic) String() string {
	direction := "evt"
	if t.Command {
		direction = "cmd"
	}
	return DeviceRoot(t.Device()) + direction + "/" + t.Name + "/fmt/" + t.Format
}

// Device returns the session that the topic belongs to.
func (t Topic) Device() motion.DeviceKey { return motion.DeviceKey{Kind: t.Kind, ID: t.ID} }

// EventTopic returns the topic on which d publishes event in format.
func EventTopic(d motion.DeviceKey, event, format string) string {
	return Topic{Kind: d.Kind, ID: d.ID, Name: event, Format: format}.String()
}

// CommandTopic returns the topic on which d is sent command.
func CommandTopic(d motion.DeviceKey, command string) string {
	return Topic{Kind: d.Kind, ID: d.ID, Command: true, Name: command, Format: FormatJSON}.String()
}

// CommandFilter returns the subscription of d to all its commands.
func CommandFilter(d motion.DeviceKey) string { return DeviceRoot(d) + "cmd/#" }

// DeviceRoot is what every topic of d begins with, up to evt/ or cmd/.
func DeviceRoot(d motion.DeviceKey) string {
	return topicRoot + "/type/" + string(d.Kind) + "/id/" + d.ID + "/"
}

// validWord reports whether s is a plausible event, command or format name.
func validWord(s string) bool {
	if s == "" || len(s) > maxWord {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
