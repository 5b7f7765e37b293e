package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// integrationRecord is a sensor integration as apps see it (payloads.md 5.7).
type integrationRecord struct {
	ID            sensor.ID        `json:"id"`
	Enabled       bool             `json:"integrations_enabled" doc:"Whether sensors are followed and hubs can be paired"`
	Network       home.ID          `json:"network_id"`
	External      motion.NetworkID `json:"external_id" doc:"Core id of the network"`
	User          home.UserID      `json:"user_id" doc:"Who initialized it"`
	UserThingName string           `json:"userThingName,omitempty" doc:"The account, which a hub is given over Bluetooth; absent: there is none"`
	OOBPhase      string           `json:"oob_phase" doc:"Phase of the out-of-band set-up, as the app says"`
	CreatedAt     motion.Stamp     `json:"created_at"`
	UpdatedAt     motion.Stamp     `json:"updated_at"`
	Account       *sensorAccount   `json:"account,omitempty" doc:"With show_account"`
}

// sensorAccount is what is shown of an account to who looks for a fault.
type sensorAccount struct {
	Provider string   `json:"provider" example:"zigbee2mqtt"`
	Dropped  []string `json:"dropped" nullable:"false" doc:"Hubs and sensors that were removed and are still listed by the provider: they come back with the next oob_phase"`
}

// integrationOut is the record in its wrapper.
type integrationOut struct {
	Body struct {
		Integrations integrationRecord `json:"integrations"`
	}
}

func integrationAnswer(i sensor.Integration) *integrationOut {
	var out integrationOut
	out.Body.Integrations = integrationRecord{
		ID: i.ID, Enabled: i.Enabled, Network: i.Home, External: i.Network, User: i.User,
		UserThingName: i.Account.UserThingName, OOBPhase: i.OOBPhase, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
	return &out
}

type createIntegrationIn struct {
	NetworkQuery
	Body struct {
		NetworkField
		Enabled  bool   `json:"integrations_enabled" doc:"true: an account is made at the provider" example:"true"`
		Provider string `json:"provider,omitempty" maxLength:"64" doc:"Who serves the sensors: zigbee2mqtt, cloud or home_assistant; default: as configured on the appliance" example:"zigbee2mqtt"`
	}
}

func (a *App) createIntegration(ctx context.Context, o auth.Owner, in *createIntegrationIn) (*integrationOut, error) {
	made, err := a.Sensors.Create(ctx, o.Home, o.ID, in.Body.Enabled, in.Body.Provider)
	if err != nil {
		return nil, err
	}
	out := integrationAnswer(made)
	if !in.Body.Enabled {
		out.Body.Integrations.UserThingName = ""
	}
	return out, nil
}

type integrationIn struct {
	NetworkQuery
	ShowAccount bool `query:"show_account" default:"false" doc:"Adds account, for who looks for a fault"`
}

func (a *App) integration(ctx context.Context, m auth.Member, in *integrationIn) (*integrationOut, error) {
	i, err := a.Sensors.Integration(ctx, m.Home)
	if err != nil {
		return nil, err
	}
	out := integrationAnswer(i)
	if in.ShowAccount {
		out.Body.Integrations.Account = &sensorAccount{Provider: i.Provider, Dropped: append([]string{}, i.Dropped...)}
	}
	return out, nil
}

type patchIntegrationIn struct {
	NetworkQuery
	Body struct {
		NetworkField
		Enabled  *bool   `json:"integrations_enabled,omitempty" doc:"Absent: as before" example:"true"`
		OOBPhase *string `json:"oob_phase,omitempty" maxLength:"64" doc:"Phase of the out-of-band set-up, free text; absent: as before" example:"started"`
	}
}

func (a *App) patchIntegration(ctx context.Context, o auth.Owner, in *patchIntegrationIn) (*integrationOut, error) {
	i, err := a.Sensors.Change(ctx, o.Home, sensor.Edit{Enabled: in.Body.Enabled, OOBPhase: in.Body.OOBPhase})
	if err != nil {
		return nil, err
	}
	return integrationAnswer(i), nil
}

func (a *App) deleteIntegration(ctx context.Context, o auth.Owner, _ *NetworkQuery) (*struct{}, error) {
	return nil, a.Sensors.Delete(ctx, o.Home)
}

// The time that a hub lets sensors join, in seconds.
const (
	defaultPairing = 60
	longestPairing = 600
)

type pairIn struct {
	NetworkQuery
	Hub  string `path:"hub_thing_name" maxLength:"128" doc:"Thing name of the hub" example:"HUB_02CC00FFFE0000AA"`
	Body *struct {
		NetworkField
		Timeout *api.Lenient[int] `json:"timeout,omitempty" doc:"Seconds, 1 to 600; default: 60" example:"60"`
	}
}

type pairOut struct {
	Body struct {
		ThingName string       `json:"thingName"`
		Pairing   bool         `json:"pairing" doc:"Always true"`
		Timeout   int          `json:"timeout" doc:"Seconds"`
		ExpiresAt motion.Stamp `json:"expires_at"`
	}
}

func (a *App) pair(ctx context.Context, m auth.Member, in *pairIn) (*pairOut, error) {
	seconds := defaultPairing
	if in.Body != nil && in.Body.Timeout != nil {
		seconds = in.Body.Timeout.Value
	}
	if seconds < 1 || seconds > longestPairing {
		return nil, fault.At("body.timeout", seconds, "want 1 to 600 seconds")
	}
	until, err := a.Sensors.Pair(ctx, m.Home, in.Hub, seconds)
	if err != nil {
		return nil, err
	}
	var out pairOut
	out.Body.ThingName, out.Body.Pairing, out.Body.Timeout, out.Body.ExpiresAt = in.Hub, true, seconds, until
	return &out, nil
}
