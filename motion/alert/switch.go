package alert

import (
	"fmt"
	"strings"
)

// Switches enables and disables several alerts: one state for all of UUIDs, or a
// state for each of Alerts (payloads.md 4.10, bulk).
type Switches struct {
	Enabled *bool    `json:"enabled,omitempty" doc:"For all of uuids"`
	UUIDs   []string `json:"uuids,omitempty" nullable:"false" minItems:"1" maxItems:"100" format:"uuid" doc:"Alerts to enable or disable; needs enabled"`
	Alerts  []Switch `json:"alerts,omitempty" nullable:"false" minItems:"1" maxItems:"100" doc:"Instead of enabled and uuids: a state for each alert"`
}

// Switch says whether one alert is to be enabled.
type Switch struct {
	UUID     string `json:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
	Enabled  bool   `json:"enabled" doc:"Whether it is to be enabled"`
	Location string `json:"-"` // where the caller says so, for the mistake
}

// List returns the state that each alert is to have, from either form. Invalid, with
// all mistakes: both forms or none, or an alert that is named twice.
func (s Switches) List() ([]Switch, error) {
	var m mistakes
	s.check(&m)
	var list []Switch
	for i, uuid := range s.UUIDs {
		enabled := s.Enabled != nil && *s.Enabled
		list = append(list, Switch{UUID: strings.ToLower(uuid), Enabled: enabled, Location: fmt.Sprintf("body.uuids[%d]", i)})
	}
	for i, a := range s.Alerts {
		list = append(list, Switch{UUID: strings.ToLower(a.UUID), Enabled: a.Enabled, Location: fmt.Sprintf("body.alerts[%d].uuid", i)})
	}
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.UUID] {
			m.add(a.Location, a.UUID, "is named twice")
		}
		seen[a.UUID] = true
	}
	return list, m.err()
}

// check adds what is wrong with the form.
func (s Switches) check(m *mistakes) {
	switch {
	case s.UUIDs != nil && s.Alerts != nil:
		m.add("body.alerts", nil, "must be left out beside uuids")
	case s.Alerts != nil && s.Enabled != nil:
		m.add("body.enabled", *s.Enabled, "must be left out beside alerts, each of which has its own")
	case s.Alerts == nil && s.UUIDs == nil:
		m.add("body.uuids", nil, "is needed, or alerts")
	case s.UUIDs != nil && s.Enabled == nil:
		m.add("body.enabled", nil, "is needed beside uuids")
	}
}
