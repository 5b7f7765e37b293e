package app

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

// The alerts of a home are those of its network (payloads.md 4.10); here network_id is
// the App Cloud id.

// AlertPath names one alert.
type AlertPath struct {
	NetworkQuery
	UUID string `path:"uuid" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
}

// alertEdit is what a member may write of an alert.
type alertEdit struct {
	alert.Edit
	BodyNetwork
}

type createAlertIn struct {
	NetworkQuery
	Body alertEdit
}

type changeAlertIn struct {
	AlertPath
	Body alertEdit
}

type switchAlertsIn struct {
	NetworkQuery
	Body struct {
		body.Switches
		BodyNetwork
	}
}

// own returns rules with the App Cloud id of their network.
func own(who auth.Member, rules ...alert.Rule) []alert.Rule {
	for i := range rules {
		rules[i].NetworkID = motion.NetworkID(who.Home)
	}
	return rules
}

func (a *App) alerts(ctx context.Context, who auth.Member, _ *NetworkQuery) (*api.AnswerList[alert.Rule], error) {
	rules, err := a.Engine.Alerts.Alerts(ctx, who.Network)
	return api.AnsweredList(own(who, rules...), err)
}

func (a *App) alertStatuses(ctx context.Context, who auth.Member, _ *NetworkQuery) (*api.AnswerList[alerting.AlertStatus], error) {
	statuses, err := a.Engine.Alerts.AlertStatuses(ctx, who.Network)
	for i := range statuses {
		statuses[i].Data = own(who, statuses[i].Data)[0]
	}
	return api.AnsweredList(statuses, err)
}

func (a *App) alert(ctx context.Context, who auth.Member, in *AlertPath) (*api.Answer[alert.Rule], error) {
	rule, err := a.Engine.Alerts.Alert(ctx, who.Network, strings.ToLower(in.UUID))
	return api.Answered(own(who, rule)[0], err)
}

func (a *App) createAlert(ctx context.Context, who auth.Member, in *createAlertIn) (*api.Answer[alert.Rule], error) {
	strangers, err := a.Household.Strangers(ctx, who.Home, in.Body.Edit)
	if err != nil {
		return nil, err
	}
	rule, err := a.Engine.Alerts.CreateAlert(ctx, who.Network, in.Body.Edit, strangers...)
	return api.Answered(own(who, rule)[0], err)
}

func (a *App) changeAlert(ctx context.Context, who auth.Member, in *changeAlertIn) (*api.Answer[alert.Rule], error) {
	strangers, err := a.Household.Strangers(ctx, who.Home, in.Body.Edit)
	if err != nil {
		return nil, err
	}
	rule, err := a.Engine.Alerts.ChangeAlert(ctx, who.Network, strings.ToLower(in.UUID), in.Body.Edit, strangers...)
	return api.Answered(own(who, rule)[0], err)
}

func (a *App) deleteAlert(ctx context.Context, who auth.Member, in *AlertPath) (*api.Answer[alert.Rule], error) {
	rule, err := a.Engine.Alerts.DeleteAlert(ctx, who.Network, strings.ToLower(in.UUID))
	return api.Answered(own(who, rule)[0], err)
}

func (a *App) switchAlerts(ctx context.Context, who auth.Member, in *switchAlertsIn) (*api.AnswerList[alert.Rule], error) {
	switches, err := in.Body.List()
	if err != nil {
		return nil, err
	}
	rules, err := a.Engine.Alerts.SwitchAlerts(ctx, who.Network, switches)
	return api.AnsweredList(own(who, rules...), err)
}
