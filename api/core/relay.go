package core

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/uplink"
)

type relayIn struct {
	Network  motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Provider string           `path:"realtime_provider" maxLength:"64" doc:"A provider of the configuration's relay section: mqtt or webhook. Another, or one that is not configured: 404, which lists the configured ones" example:"mqtt"`
}

type relayOut struct {
	Body struct {
		Provider  string      `json:"provider" example:"mqtt"`
		Channel   string      `json:"channel" doc:"Where the frames appear: the end of the MQTT topic, below the configured prefix, or the channel of the posted frames" example:"motion/1042"`
		ExpiresAt motion.Time `json:"expires_at" doc:"Until when frames are delivered, seconds since the epoch; call again to prolong it" example:"1764000060.0"`
	}
}

// relayMotion starts or prolongs the delivery of live motion to an outside service
// (payloads.md 4.7).
func (c *Core) relayMotion(_ context.Context, _ auth.Key, in *relayIn) (*relayOut, error) {
	until, err := c.engine.Sensing.StartRelay(in.Network, in.Provider)
	if err != nil {
		return nil, err
	}
	out := &relayOut{}
	out.Body.Provider, out.Body.Channel, out.Body.ExpiresAt = in.Provider, uplink.ChannelOf(in.Provider, in.Network), until
	return out, nil
}
