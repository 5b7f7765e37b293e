package core

import (
	"context"
	"fmt"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
)

// NetworkQuery names the network of an operation on alerts, whose paths have only the
// uuid (payloads.md 4.10).
type NetworkQuery struct {
	Network motion.NetworkID `query:"network_id" required:"true" minimum:"1" doc:"Core network id" example:"1042"`
}

// AlertPath names one alert.
type AlertPath struct {
	NetworkQuery
	UUID string `path:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
}

type alertOut struct {
	Body alert.Rule
}

type alertsOut struct {
	Body []alert.Rule `nullable:"false"`
}

type alertStatusesOut struct {
	Body []engine.AlertStatus `nullable:"false"`
}

type createAlertIn struct {
	NetworkQuery
	Body alert.Edit
}

type changeAlertIn struct {
	AlertPath
	Body alert.Edit
}

func (c *Core) alerts(ctx context.Context, who auth.Key, in *NetworkQuery) (*alertsOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	rules, err := c.engine.Alerts(ctx, in.Network)
	return &alertsOut{Body: rules}, err
}

func (c *Core) alertStatuses(ctx context.Context, who auth.Key, in *NetworkQuery) (*alertStatusesOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	statuses, err := c.engine.AlertStatuses(ctx, in.Network)
	return &alertStatusesOut{Body: statuses}, err
}

func (c *Core) alert(ctx context.Context, who auth.Key, in *AlertPath) (*alertOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	rule, err := c.engine.Alert(ctx, in.Network, strings.ToLower(in.UUID))
	return &alertOut{Body: rule}, err
}

func (c *Core) createAlert(ctx context.Context, who auth.Key, in *createAlertIn) (*alertOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	rule, err := c.engine.CreateAlert(ctx, in.Network, in.Body)
	return &alertOut{Body: rule}, err
}

func (c *Core) changeAlert(ctx context.Context, who auth.Key, in *changeAlertIn) (*alertOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	rule, err := c.engine.ChangeAlert(ctx, in.Network, strings.ToLower(in.UUID), in.Body)
	return &alertOut{Body: rule}, err
}

func (c *Core) deleteAlert(ctx context.Context, who auth.Key, in *AlertPath) (*alertOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	rule, err := c.engine.DeleteAlert(ctx, in.Network, strings.ToLower(in.UUID))
	return &alertOut{Body: rule}, err
}

type switchAlertsIn struct {
	NetworkQuery
	Body alertSwitches
}

// alertSwitches is either one state for several alerts, or a state for each.
type alertSwitches struct {
	Enabled *bool         `json:"enabled,omitempty" doc:"For all of uuids"`
	UUIDs   []string      `json:"uuids,omitempty" nullable:"false" minItems:"1" maxItems:"100" format:"uuid" doc:"Alerts to enable or disable; needs enabled"`
	Alerts  []alertSwitch `json:"alerts,omitempty" nullable:"false" minItems:"1" maxItems:"100" doc:"Instead of enabled and uuids: a state for each alert"`
}

// alertSwitch is the state of one alert.
type alertSwitch struct {
	UUID    string `json:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
	Enabled bool   `json:"enabled" doc:"Whether it is to be enabled"`
}

func (c *Core) switchAlerts(ctx context.Context, who auth.Key, in *switchAlertsIn) (*alertsOut, error) {
	if err := who.Open(in.Network); err != nil {
		return nil, err
	}
	switches, err := in.Body.list()
	if err != nil {
		return nil, err
	}
	rules, err := c.engine.SwitchAlerts(ctx, in.Network, switches)
	return &alertsOut{Body: rules}, err
}

// list returns what is to be switched, from either form of the body. An alert that
// is named twice is a mistake.
func (s alertSwitches) list() ([]engine.AlertSwitch, error) {
	var list []engine.AlertSwitch
	for i, uuid := range s.UUIDs {
		list = append(list, engine.AlertSwitch{UUID: strings.ToLower(uuid), Location: fmt.Sprintf("body.uuids[%d]", i)})
	}
	var mistakes []fault.Detail
	switch {
	case s.UUIDs != nil && s.Alerts != nil:
		mistakes = append(mistakes, fault.Detail{Location: "body.alerts", Message: "must be left out beside uuids"})
	case s.Alerts != nil && s.Enabled != nil:
		mistakes = append(mistakes, fault.Detail{Location: "body.enabled", Message: "must be left out beside alerts, each of which has its own", Value: *s.Enabled})
	case s.Alerts == nil && s.UUIDs == nil:
		mistakes = append(mistakes, fault.Detail{Location: "body.uuids", Message: "is needed, or alerts"})
	case s.UUIDs != nil && s.Enabled == nil:
		mistakes = append(mistakes, fault.Detail{Location: "body.enabled", Message: "is needed beside uuids"})
	case s.UUIDs != nil:
		for i := range list {
			list[i].Enabled = *s.Enabled
		}
	}
	for i, a := range s.Alerts {
		list = append(list, engine.AlertSwitch{UUID: strings.ToLower(a.UUID), Enabled: a.Enabled, Location: fmt.Sprintf("body.alerts[%d].uuid", i)})
	}
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.UUID] {
			mistakes = append(mistakes, fault.Detail{Location: a.Location, Message: "is named twice", Value: a.UUID})
		}
		seen[a.UUID] = true
	}
	if mistakes != nil {
		return nil, invalid(mistakes...)
	}
	return list, nil
}
