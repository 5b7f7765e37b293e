package alert

import (
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Limits of the body of a request.
const (
	maxName     = 200         // characters of alert_name and analytics_tag
	maxDuration = 7 * 24 * 60 // minutes: as long as motion is stored at 5 s
	maxActions  = 20          // of each list
	maxUsers    = 100         // of one action
	maxDocument = 4096        // bytes of meta and of one payload: the limit of a push
)

// Edit is the body of a POST or PATCH. A nil field was not sent: it takes the default in a new
// rule and keeps the value in an existing one. Monitor and the lists replace the old value as
// a whole.
type Edit struct {
	Enabled      *bool             `json:"enabled,omitempty" doc:"Needed by PATCH; default: true"`
	AlertName    *string           `json:"alert_name,omitempty" doc:"What people call it"`
	RRule        *string           `json:"rrule,omitempty" doc:"DTSTART and RRULE lines after RFC 5545; without an RRULE line yearly, a single shot has COUNT=1"`
	Monitor      *Monitor          `json:"monitor,omitempty"`
	Meta         *motion.Document  `json:"meta,omitempty" doc:"For the client's own use, but for its object sensegate: at_once (a SIMPLE rule tells of motion in its period when it begins), scene (home or away: the rule fires in that scene alone) and authenticated (only what links of devices that log in have seen counts: anybody on the Wi-Fi can imitate a node that does not)"`
	AnalyticsTag *string           `json:"analytics_tag,omitempty" doc:"For the client's own use"`
	NoMotion     *[]Action         `json:"no_motion_actions,omitempty" doc:"Run when there was no motion"`
	Motion       *[]Action         `json:"motion_actions,omitempty" doc:"Run when there was motion"`
	NoHistory    *[]Action         `json:"no_history_actions,omitempty" doc:"Run when it is not known whether there was motion"`
	UUID         *string           `json:"uuid,omitempty" doc:"Cannot be changed"`
	ExternalID   *motion.NetworkID `json:"external_id,omitempty" doc:"Cannot be changed"`
}

// Switch enables or disables one alert.
type Switch struct {
	UUID     string `json:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
	Enabled  bool   `json:"enabled" doc:"Whether it is to be enabled"`
	Location string `json:"-"` // place in the request, for the fault
}

// apply returns rule with the fields of e that were sent.
func (e Edit) apply(r Rule) Rule {
	set(&r.Enabled, e.Enabled)
	set(&r.AlertName, e.AlertName)
	set(&r.RRule, e.RRule)
	set(&r.Monitor, e.Monitor)
	set(&r.AnalyticsTag, e.AnalyticsTag)
	if e.Meta != nil && *e.Meta != nil {
		r.Meta = *e.Meta
	}
	setActions(&r.NoMotion, e.NoMotion)
	setActions(&r.Motion, e.Motion)
	setActions(&r.NoHistory, e.NoHistory)
	return r
}

func set[T any](field, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// setActions replaces a list. A push without users goes to all members.
func setActions(field, sent *[]Action) {
	if sent == nil {
		return
	}
	list := make([]Action, len(*sent))
	for i, action := range *sent {
		if action.Action == FCMPush && action.UserIDs == nil {
			action.UserIDs = []int64{}
		}
		if action.Payload == nil {
			action.Payload = motion.Document{}
		}
		list[i] = action
	}
	*field = list
}

// check adds the mistakes in the fields of an Edit to m and returns the recurrence, which is
// valid only if there are none.
func (r Rule) check(m *fault.Details) Recurrence {
	checkText(m, "body.alert_name", r.AlertName)
	checkText(m, "body.analytics_tag", r.AnalyticsTag)
	r.Monitor.check(m)
	checkSize(m, "body.meta", r.Meta)
	r.checkCondition(m)
	for _, list := range lists(&r.NoMotion, &r.Motion, &r.NoHistory) {
		if len(list.actions) > maxActions {
			m.Add(list.place, len(list.actions), "must have at most %d actions", maxActions)
			continue
		}
		for i, action := range list.actions {
			action.check(m, fmt.Sprintf("%s[%d]", list.place, i))
		}
	}
	return parse(r.RRule, "body.rrule", m)
}

// Users returns the users in the actions of e, each with its place in the body.
func (e Edit) Users() iter.Seq2[string, int64] {
	return func(yield func(place string, user int64) bool) {
		for _, list := range lists(e.NoMotion, e.Motion, e.NoHistory) {
			for i, action := range list.actions {
				for k, user := range action.UserIDs {
					if !yield(fmt.Sprintf("%s[%d].user_ids[%d]", list.place, i, k), user) {
						return
					}
				}
			}
		}
	}
}

// list is a list of actions and its place in the body.
type list struct {
	place   string
	actions []Action
}

// lists returns the three lists; those not sent are empty.
func lists(noMotion, motion, noHistory *[]Action) []list {
	all := []list{{place: "body.no_motion_actions"}, {place: "body.motion_actions"}, {place: "body.no_history_actions"}}
	for i, actions := range []*[]Action{noMotion, motion, noHistory} {
		if actions != nil {
			all[i].actions = *actions
		}
	}
	return all
}

func (mon Monitor) check(m *fault.Details) {
	const at = "body.monitor."
	least := 1
	switch mon.Mode {
	case None:
		least = 0
	case Simple, Inactivity:
	default:
		m.Add(at+"monitor_mode", mon.Mode, "must be NONE, SIMPLE or INACTIVITY")
	}
	if mon.DurationMinutes < least || mon.DurationMinutes > maxDuration {
		m.Add(at+"duration_minutes", mon.DurationMinutes, "must be %d to %d", least, maxDuration)
	}
	switch {
	case mon.Mode == Inactivity && (mon.InactiveMinutes < 1 || mon.InactiveMinutes > mon.DurationMinutes):
		m.Add(at+"inactive_minutes", mon.InactiveMinutes, "must be 1 to duration_minutes when monitor_mode is INACTIVITY")
	case mon.InactiveMinutes < 0 || mon.InactiveMinutes > maxDuration:
		m.Add(at+"inactive_minutes", mon.InactiveMinutes, "must be 0 to %d", maxDuration)
	}
}

func (a Action) check(m *fault.Details, at string) {
	checkSize(m, at+".payload", a.Payload)
	switch a.Action {
	case FCMPush:
		a.checkPush(m, at)
	case Event:
		a.checkEvent(m, at)
	default:
		m.Add(at+".action", a.Action, "must be fcm_push or event")
	}
}

func (a Action) checkPush(m *fault.Details, at string) {
	if len(a.UserIDs) > maxUsers {
		m.Add(at+".user_ids", len(a.UserIDs), "must have at most %d users", maxUsers)
	}
	for i, id := range a.UserIDs {
		if id < 1 {
			m.Add(fmt.Sprintf("%s.user_ids[%d]", at, i), id, "must be a positive integer")
		}
	}
	if len(a.Payload) == 0 {
		m.Add(at+".payload", nil, "is needed: what to push")
	}
}

func (a Action) checkEvent(m *fault.Details, at string) {
	if len(a.UserIDs) > 0 {
		m.Add(at+".user_ids", a.UserIDs, "must be left out of an event")
	}
	for key, value := range a.Payload {
		switch key {
		case "_consumer":
			if _, ok := value.(string); !ok {
				m.Add(at+".payload._consumer", value, "must be a string")
			}
		case "data":
			if _, ok := value.(map[string]any); !ok {
				m.Add(at+".payload.data", value, "must be an object")
			}
		default:
			m.Add(at+".payload."+key, nil, "is unknown: an event has _consumer and data")
		}
	}
}

func checkText(m *fault.Details, at, text string) {
	if n := utf8.RuneCountInString(text); n > maxName {
		m.Add(at, n, "must have at most %d characters", maxName)
	}
}

func checkSize(m *fault.Details, at string, doc motion.Document) {
	raw, err := json.Marshal(doc)
	if err != nil {
		m.Add(at, nil, "must be JSON")
	} else if len(raw) > maxDocument {
		m.Add(at, len(raw), "must have at most %d bytes", maxDocument)
	}
}
