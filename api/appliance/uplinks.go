package appliance

import (
	"cmp"
	"context"

	"sensegate/motion/sensor/homeassistant"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
)

// openUplinks makes the uplinks with what each use sends.
func (a *Appliance) openUplinks(ctx context.Context) (err error) {
	a.uplinks, err = uplink.New(ctx, uplink.Options{
		DB: a.db, Configured: a.config.Uplinks, Log: a.log,
		Connect: func(ctx context.Context, to uplink.Target) (uplink.Connection, error) {
			return mqtt.Connect(ctx, to, a.log)
		},
		Parts: map[uplink.Use]func(uplink.Uplink) uplink.Part{},
		Incoming: func(u uplink.Uplink) uplink.Part {
			return a.incoming.Part(homeassistant.Options{
				Uplink: u.Name, Discovery: cmp.Or(u.HomeAssistant.DiscoveryPrefix, uplink.DefaultDiscovery), Base: u.Base, Networks: u.Networks, Nodes: a.nodes,
			})
		},
	})
	return err
}
