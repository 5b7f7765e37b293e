// Package body holds the bodies of requests and answers that both interfaces have. It must
// not know a route, or who calls.
package body

import (
	"fmt"
	"strings"

	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

// Switches enables and disables several alerts: one state for all of UUIDs, or a
// state for each of Alerts (payloads.md 4.10, bulk).
type Switches struct {
	Enabled *bool          `json:"enabled,omitempty" doc:"For all of uuids"`
	UUIDs   []string       `json:"uuids,omitempty" nullable:"false" minItems:"1" maxItems:"100" format:"uuid" doc:"Alerts to enable or disable; needs enabled"`
	Alerts  []alert.Switch `json:"alerts,omitempty" nullable:"false" minItems:"1" maxItems:"100" doc:"Instead of enabled and uuids: a state for each alert"`
}

// List returns the state that each alert is to have, from either form. Invalid, with
// all mistakes: both forms or none, or an alert that is named twice.
func (s Switches) List() ([]alert.Switch, error) {
	var m fault.Details
	s.check(&m)
	var list []alert.Switch
	for i, uuid := range s.UUIDs {
		enabled := s.Enabled != nil && *s.Enabled
		list = append(list, alert.Switch{UUID: strings.ToLower(uuid), Enabled: enabled, Location: fmt.Sprintf("body.uuids[%d]", i)})
	}
	for i, a := range s.Alerts {
		list = append(list, alert.Switch{UUID: strings.ToLower(a.UUID), Enabled: a.Enabled, Location: fmt.Sprintf("body.alerts[%d].uuid", i)})
	}
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.UUID] {
			m.Add(a.Location, a.UUID, "is named twice")
		}
		seen[a.UUID] = true
	}
	return list, m.Err()
}

// check adds what is wrong with the form.
func (s Switches) check(m *fault.Details) {
	switch {
	case s.UUIDs != nil && s.Alerts != nil:
		m.Add("body.alerts", nil, "must be left out beside uuids")
	case s.Alerts != nil && s.Enabled != nil:
		m.Add("body.enabled", *s.Enabled, "must be left out beside alerts, each of which has its own")
	case s.Alerts == nil && s.UUIDs == nil:
		m.Add("body.uuids", nil, "is needed, or alerts")
	case s.UUIDs != nil && s.Enabled == nil:
		m.Add("body.enabled", nil, "is needed beside uuids")
	}
}
