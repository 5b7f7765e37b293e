package core

import (
	"context"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/body"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/alerting"
)

// NetworkQuery names the network of an operation on alerts, whose paths have only the
// uuid (payloads.md 4.10).
type NetworkQuery struct {
	Network motion.NetworkID `query:"network_id" required:"true" minimum:"1" doc:"Core network id" example:"1042"`
}

func (q NetworkQuery) network() motion.NetworkID { return q.Network }

// AlertPath names one alert.
type AlertPath struct {
	NetworkQuery
	UUID string `path:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
}

type createAlertIn struct {
	NetworkQuery
	Body alert.Edit
}

type changeAlertIn struct {
	AlertPath
	Body alert.Edit
}

func (c *Core) alerts(ctx context.Context, _ auth.Key, in *NetworkQuery) (*api.AnswerList[alert.Rule], error) {
	return api.AnsweredList(c.engine.Alerts.Alerts(ctx, in.Network))
}

func (c *Core) alertStatuses(ctx context.Context, _ auth.Key, in *NetworkQuery) (*api.AnswerList[alerting.AlertStatus], error) {
	return api.AnsweredList(c.engine.Alerts.AlertStatuses(ctx, in.Network))
}

func (c *Core) alert(ctx context.Context, _ auth.Key, in *AlertPath) (*api.Answer[alert.Rule], error) {
	return api.Answered(c.engine.Alerts.Alert(ctx, in.Network, strings.ToLower(in.UUID)))
}

func (c *Core) createAlert(ctx context.Context, _ auth.Key, in *createAlertIn) (*api.Answer[alert.Rule], error) {
	return api.Answered(c.engine.Alerts.CreateAlert(ctx, in.Network, in.Body))
}

func (c *Core) changeAlert(ctx context.Context, _ auth.Key, in *changeAlertIn) (*api.Answer[alert.Rule], error) {
	return api.Answered(c.engine.Alerts.ChangeAlert(ctx, in.Network, strings.ToLower(in.UUID), in.Body))
}

func (c *Core) deleteAlert(ctx context.Context, _ auth.Key, in *AlertPath) (*api.Answer[alert.Rule], error) {
	return api.Answered(c.engine.Alerts.DeleteAlert(ctx, in.Network, strings.ToLower(in.UUID)))
}

type switchAlertsIn struct {
	NetworkQuery
	Body body.Switches
}

func (c *Core) switchAlerts(ctx context.Context, _ auth.Key, in *switchAlertsIn) (*api.AnswerList[alert.Rule], error) {
	switches, err := in.Body.List()
	if err != nil {
		return nil, err
	}
	return api.AnsweredList(c.engine.Alerts.SwitchAlerts(ctx, in.Network, switches))
}
