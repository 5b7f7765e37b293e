package motion

import (
	"strings"
)

// Category groups events (interfaces.md 2.2).
type Category string

// The categories of responses, and the three more that creation accepts.
const (
	CategoryLink     Category = "Link"
	CategoryNetwork  Category = "Network"
	CategoryMotion   Category = "Motion"
	CategorySystem   Category = "System"
	CategoryUser     Category = "User"
	CategoryDevice   Category = "Device"
	CategoryInternal Category = "Internal"
)

// The names of the event kinds of interfaces.md 6 and of those that this
// product adds; EventKinds says what they are.
const (
	MotionDetectedEvent            = "MotionDetectedEvent"
	MotionStoppedEvent             = "MotionStoppedEvent"
	LinkConnectedEvent             = "LinkConnectedEvent"
	LinkDisconnectedEvent          = "LinkDisconnectedEvent"
	LinkLowThroughputEvent         = "LinkLowThroughputEvent"
	LinkCreatedEvent               = "LinkCreatedEvent"
	LinkNoisyEvent                 = "LinkNoisyEvent"
	MemberArrivedEvent             = "MemberArrivedEvent"
	MemberLeftEvent                = "MemberLeftEvent"
	MemberJoinedEvent              = "MemberJoinedEvent"
	MemberRemovedEvent             = "MemberRemovedEvent"
	OwnerChangedEvent              = "OwnerChangedEvent"
	MemberStaysEvent               = "MemberStaysEvent"
	InstallerJoinedEvent           = "InstallerJoinedEvent"
	InstallerLeftEvent             = "InstallerLeftEvent"
	SceneChangedToAwayEvent        = "SceneChangedToAwayEvent"
	SceneChangedToHomeEvent        = "SceneChangedToHomeEvent"
	CustomAlertEvent               = "CustomAlertEvent"
	MotionEventPair                = "MotionEventPair"
	ExcessiveMotionEvent           = "ExcessiveMotionEvent"
	GuardianMotionEvent            = "GuardianMotionEvent"
	DatabaseRecoveredEvent         = "DatabaseRecoveredEvent"
	ClockSetEvent                  = "ClockSetEvent"
	HistoryCutEvent                = "HistoryCutEvent"
	DeviceAdoptedEvent             = "DeviceAdoptedEvent"
	DeviceReturnedEvent            = "DeviceReturnedEvent"
	DeviceReplacedEvent            = "DeviceReplacedEvent"
	DeviceRefusedEvent             = "DeviceRefusedEvent"
	DeviceMovedEvent               = "DeviceMovedEvent"
	DeviceAddedEvent               = "DeviceAddedEvent"
	DeviceRemoved                  = "DeviceRemoved"
	IntegrationDeletedEvent        = "IntegrationDeletedEvent"
	IntegrationsConfigChangedEvent = "IntegrationsConfigChangedEvent"
	SensorChangedValue             = "SensorChangedValue"
	DeviceConnectedEvent           = "DeviceConnectedEvent"
	DeviceDisconnectedEvent        = "DeviceDisconnectedEvent"
	DeviceTimedOutEvent            = "DeviceTimedOutEvent"
	WalkTestStartedEvent           = "WalkTestStartedEvent"
	InstallerOpenedAdoptionEvent   = "InstallerOpenedAdoptionEvent"
	InstallerTunedEvent            = "InstallerTunedEvent"
	InstallerRemovedDeviceEvent    = "InstallerRemovedDeviceEvent"
	RecordingStartedEvent          = "RecordingStartedEvent"
)

// MaxEvent is the longest event that devices and callers may send, in bytes of JSON: enough
// for the detail of 120 links.
const MaxEvent = 16 << 10

// Event is the event record (interfaces.md 2.2, payloads.md 4.8).
type Event struct {
	ID              string      `json:"_id" doc:"Event uuid (version 7), used for tagging; empty: neither stored nor pushed"`
	Category        Category    `json:"category" enum:"Link,Network,Motion,System"`
	Event           string      `json:"event" doc:"Event kind"`
	NetworkID       NetworkID   `json:"network_id"`
	GuardianID      string      `json:"guardian_id"`
	TS              Time        `json:"ts" doc:"UTC timestamp, seconds"`
	DetectedTS      Time        `json:"evt_detected_ts,omitempty" doc:"Of a MotionStoppedEvent: UTC timestamp of its MotionDetectedEvent, seconds"`
	IntensityWindow []float64   `json:"intensity_window,omitempty" doc:"The density_window - 1 intensities before the detection, 0 to 1, oldest first"`
	LinkID          string      `json:"link_id,omitempty" doc:"dst_name.src_name"`
	LinkDstName     string      `json:"link_dst_name,omitempty"`
	LinkSrcName     string      `json:"link_src_name,omitempty"`
	Loc             []EventLoc  `json:"loc,omitempty"`
	LocName         string      `json:"loc_name,omitempty" doc:"Where motion likely occurred"`
	Detail          Document    `json:"detail,omitempty"`
	Tag             string      `json:"tag" doc:"Space-padded to 10 characters"`
	NodeID          NodeID      `json:"node_id,omitempty"`
	NodeName        string      `json:"node_name,omitempty"`
	DeviceID        string      `json:"deviceId,omitempty"`
	Armed           *int        `json:"armed,omitempty" doc:"Feedback of motion_events.armed; Motion events only"`
	Debug           *EventDebug `json:"debug,omitempty"`
	Consumer        string      `json:"_consumer,omitempty"`
	Data            Document    `json:"data,omitempty"`
}

// EventLoc is one place near which motion was localised.
type EventLoc struct {
	MAC          string  `json:"mac"`
	Location     string  `json:"location"`
	FriendlyName string  `json:"friendly_name"`
	Confidence   float64 `json:"confidence" doc:"0 to 1"`
}

// EventDebug holds the detection parameters of a MotionStoppedEvent.
type EventDebug struct {
	LinkSens map[string]float64 `json:"linkSens"`
	MSAD     []float64          `json:"msad"`
	Links    []string           `json:"links"`
	MConf    []float64          `json:"mconf"`
	Sens     int                `json:"sens"`
}

// tagLength is the fixed length of a stored tag (interfaces.md 8 no. 1).
const tagLength = 10

// PadTag truncates tag to 10 characters and pads it with spaces to 10.
func PadTag(tag string) string {
	runes := []rune(tag)
	if len(runes) > tagLength {
		runes = runes[:tagLength]
	}
	return string(runes) + strings.Repeat(" ", tagLength-len(runes))
}

// EventPair is a MotionDetectedEvent with its MotionStoppedEvent (payloads.md
// 4.8).
type EventPair struct {
	ID              string      `json:"_id" doc:"stopped id, a dot, detected id"`
	Event           string      `json:"event" enum:"MotionEventPair"`
	TS              Time        `json:"ts" doc:"When the pair was generated, seconds"`
	GuardianID      string      `json:"guardian_id"`
	NetworkID       NetworkID   `json:"network_id"`
	LinkID          string      `json:"link_id"`
	LinkDstName     string      `json:"link_dst_name"`
	LinkSrcName     string      `json:"link_src_name"`
	LocName         string      `json:"loc_name"`
	IntensityWindow []float64   `json:"intensity_window"`
	DetectedTS      Time        `json:"evt_detected_ts"`
	StoppedTS       Time        `json:"evt_stopped_ts"`
	Debug           *EventDebug `json:"debug,omitempty"`
	Tag             string      `json:"tag"`
}

// Pair joins a detected and a stopped event; now is when it is generated.
func Pair(detected, stopped Event, now Time) EventPair {
	return EventPair{
		ID: stopped.ID + "." + detected.ID, Event: MotionEventPair, TS: now,
		GuardianID: detected.GuardianID, NetworkID: detected.NetworkID,
		LinkID: detected.LinkID, LinkDstName: detected.LinkDstName, LinkSrcName: detected.LinkSrcName,
		LocName: detected.LocName, IntensityWindow: detected.IntensityWindow,
		DetectedTS: detected.TS, StoppedTS: stopped.TS, Debug: stopped.Debug, Tag: detected.Tag,
	}
}

// ArmedChange is a moment from which a household was, or was no longer, away with
// motion armed (payloads.md 5.6, motion_state).
type ArmedChange struct {
	NetworkID NetworkID `json:"network_id"`
	At        Time      `json:"at"`
	Armed     bool      `json:"armed"`
}
