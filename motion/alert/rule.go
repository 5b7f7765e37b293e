package alert

import (
	"encoding/json"
	"slices"

	"sensegate/motion"
)

// Rule is the universal alert record (payloads.md 4.10). The service assigns everything that
// is not in an Edit. NetworkID and ExternalID are both the Core id; App Cloud replaces
// NetworkID by its own.
type Rule struct {
	ID           string           `json:"id" doc:"Record id"`
	UUID         string           `json:"uuid" doc:"Names the alert in paths; cannot be changed"`
	ExternalID   motion.NetworkID `json:"external_id" doc:"Core id of the network; cannot be changed"`
	NetworkID    motion.NetworkID `json:"network_id" doc:"Id of the network in the interface asked"`
	Enabled      bool             `json:"enabled" doc:"Becomes false after the last occurrence"`
	AlertName    string           `json:"alert_name" doc:"What people call it"`
	RRule        string           `json:"rrule" doc:"DTSTART and RRULE lines after RFC 5545; without an RRULE line yearly, a single shot has COUNT=1"`
	Timezone     string           `json:"timezone" doc:"IANA time zone of rrule"`
	Target       Target           `json:"target" format:"date-time" doc:"Next occurrence, UTC; after the last one, that one"`
	Monitor      Monitor          `json:"monitor"`
	Meta         motion.Document  `json:"meta" doc:"For the client's own use, but for its object sensegate: at_once (a SIMPLE rule tells of motion in its period when it begins), scene (home or away: the rule fires in that scene alone) and authenticated (only what links of devices that log in have seen counts: anybody on the Wi-Fi can imitate a node that does not)"`
	AnalyticsTag string           `json:"analytics_tag" doc:"For the client's own use"`
	NoMotion     []Action         `json:"no_motion_actions" doc:"Run when there was no motion"`
	Motion       []Action         `json:"motion_actions" doc:"Run when there was motion"`
	NoHistory    []Action         `json:"no_history_actions" doc:"Run when it is not known whether there was motion"`
	CreatedAt    motion.Stamp     `json:"created_at" format:"date-time" doc:"UTC"`
	UpdatedAt    motion.Stamp     `json:"updated_at" format:"date-time" doc:"UTC"`
}

// OnlyRaisesEvents reports whether the rule has actions and all of them raise events: the rule
// is for programs and sends nothing to a phone.
func (r Rule) OnlyRaisesEvents() bool {
	actions := slices.Concat(r.NoMotion, r.Motion, r.NoHistory)
	return len(actions) > 0 && !slices.ContainsFunc(actions, func(a Action) bool { return a.Action != Event })
}

// Mode is how a rule evaluates motion.
type Mode string

// The modes (payloads.md 4.10).
const (
	None       Mode = "NONE"       // fires at the target, regardless of motion
	Simple     Mode = "SIMPLE"     // at the target: was there motion in the preceding period
	Inactivity Mode = "INACTIVITY" // within the period: no motion for InactiveMinutes
)

// Monitor configures how a rule evaluates motion in the period [target − DurationMinutes,
// target].
type Monitor struct {
	Mode            Mode `json:"monitor_mode" enum:"NONE,SIMPLE,INACTIVITY" doc:"NONE: fire at the time; SIMPLE: was there motion in the period; INACTIVITY: no motion for inactive_minutes within the period"`
	DurationMinutes int  `json:"duration_minutes" required:"false" doc:"Length of the period before the target, minutes; needed by SIMPLE and INACTIVITY"`
	InactiveMinutes int  `json:"inactive_minutes" required:"false" doc:"Minutes without motion that count as inactivity; needed by INACTIVITY"`
	// RepeatMonitoring starts the monitor again after it found inactivity: the next
	// inactive_minutes count from then. Otherwise it fires once per occurrence.
	RepeatMonitoring bool `json:"repeat_monitoring" required:"false" doc:"INACTIVITY: monitor again after inactivity was found, until the end of the period; default: true"`
}

// UnmarshalJSON decodes a monitor; repeat_monitoring is true by default.
func (m *Monitor) UnmarshalJSON(raw []byte) error {
	type plain Monitor
	p := plain{RepeatMonitoring: true}
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	*m = Monitor(p)
	return nil
}

// Kind is the effect of an action.
type Kind string

// The kinds of actions on the box (payloads.md 4.10).
const (
	FCMPush Kind = "fcm_push" // queues a push; Payload is the gateway's message
	Event   Kind = "event"    // stores a custom-alert event of Payload's _consumer and data
)

// Action is one action of a rule that fires.
type Action struct {
	Action  Kind            `json:"action" enum:"fcm_push,event"`
	UserIDs []int64         `json:"user_ids,omitzero" required:"false" doc:"Of fcm_push: who receives it; [] = all members"`
	Payload motion.Document `json:"payload" doc:"Of fcm_push: data, apns and what else the gateway takes; of event: _consumer and data"`
}

// CustomEvent returns the Consumer and Data of the event record that an event action of rule r
// stores. Data names the alert (title, uuid) unless the payload does.
func (a Action) CustomEvent(r Rule) (consumer string, data motion.Document) {
	data = motion.Document{"title": r.AlertName, "uuid": r.UUID}
	given, _ := a.Payload["data"].(map[string]any)
	for key, value := range given {
		data[key] = value
	}
	return a.Payload.Text("_consumer"), data
}
