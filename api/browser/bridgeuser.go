package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion/integration"
)

type sensorProvidersOut struct {
	Body struct {
		Used      string              `json:"used" doc:"The one that the home has; empty: none" example:"zigbee2mqtt"`
		Providers []integration.Offer `json:"providers" nullable:"false" doc:"Those that it may have, by name"`
	}
}

func (b *Browser) sensorProviders(ctx context.Context, who auth.Member, _ *HomeQuery) (*sensorProvidersOut, error) {
	offers, used, err := b.Sensors.Offers(ctx, who.Home)
	out := &sensorProvidersOut{}
	out.Body.Used, out.Body.Providers = used, offers
	return out, err
}

type bridgeUserIn struct {
	Body struct {
		HomeField
		Replace bool `json:"replace,omitempty" doc:"true: in the place of the user that the bridge has, whose password is valid no more"`
	}
}

type bridgeUserOut struct {
	Body struct {
		Name     string `json:"name" doc:"User name" example:"zigbee2mqtt"`
		Password string `json:"password" doc:"Shown this once" example:"q3ZlY2hzIGRydW5rZW4gc2FpbG9ycw"`
		Server   string `json:"server" doc:"Address of the broker, for the bridge's settings; empty: it listens nowhere" example:"mqtt://192.168.1.20:1883"`
		Topic    string `json:"topic" doc:"Base topic that the bridge must use: the user may use no other" example:"zigbee2mqtt"`
	}
}

func (b *Browser) newBridgeUser(ctx context.Context, who auth.Owner, in *bridgeUserIn) (*bridgeUserOut, error) {
	if err := b.Accounts.StepUp(ctx, who.User, ""); err != nil {
		return nil, err
	}
	user, secret, err := b.Sensors.NewBridgeUser(ctx, who.Home, who.ID, in.Body.Replace)
	if err != nil {
		return nil, err
	}
	out := &bridgeUserOut{}
	out.Body.Name, out.Body.Password, out.Body.Server, out.Body.Topic = user.Name, secret, b.Broker(), user.TopicPrefix
	return out, nil
}
