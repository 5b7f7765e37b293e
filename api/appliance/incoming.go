package appliance

import (
	"cmp"

	"sensegate/motion/sensor/homeassistant"
	"sensegate/motion/uplink"
)

// incoming makes the part of an uplink that hears what other makers announce to Home Assistant, and the nodes at its
// broker that sense by radio.
func (a *Appliance) incoming(u uplink.Uplink) uplink.Part {
	return a.heard.Part(homeassistant.Options{
		Uplink: u.Name, Discovery: cmp.Or(u.HomeAssistant.DiscoveryPrefix, uplink.DefaultDiscovery), Base: u.Base, Networks: u.Networks, Nodes: a.nodes,
	})
}
