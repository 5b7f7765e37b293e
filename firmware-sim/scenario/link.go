package scenario

import (
	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
)

// Link is one sounding link of a home, from a leaf to its node or from an extender
// to the master.
type Link struct {
	Leaf int // index of the source leaf, -1 for a mesh link
	Peer int // index of the source node of a mesh link, -1 otherwise
	Node int // index of the destination node
}

// Links returns one link from each leaf to its node, then one from each extender
// to the master. Their order never changes.
func (s *Scenario) Links() []Link {
	var links []Link
	for i, leaf := range s.Leafs {
		links = append(links, Link{Leaf: i, Peer: -1, Node: leaf.Node})
	}
	for i := range s.Nodes[1:] {
		links = append(links, Link{Leaf: -1, Peer: i + 1, Node: 0})
	}
	return links
}

// The radios of a home.
const (
	frameRate     = 25 // a second and link
	carrierHz     = 2.412e9
	carrierMeshHz = 5.785e9
	frameLoss     = 0.01
	burstLoss     = 0.002
	clockOffset   = 0.015 // s, at most
	clockDrift    = 10    // parts per million, at most
)

// Radio returns the channel configuration of a link in the plan made by Plan.
func (s *Scenario) Radio(plan *channel.Plan, link Link, seed uint64) channel.Config {
	node := s.Nodes[link.Node]
	c := channel.Config{
		Seed: chance.Mix(seed, uint64(link.Leaf+1), uint64(link.Peer+1)), Plan: plan, To: node.At.Point(), Rate: frameRate,
		Layout: channel.LayoutOf(node.Chip), Device: channel.DeviceOf(node.Chip),
	}
	if link.Peer >= 0 {
		c.From, c.Carrier = s.Nodes[link.Peer].At.Point(), carrierMeshHz
	} else {
		c.From, c.Carrier = s.Leafs[link.Leaf].At.Point(), carrierHz
	}
	c.Device.Loss, c.Device.Burst = frameLoss, burstLoss
	c.Device.Offset = chance.Between(-clockOffset, clockOffset, seed, uint64(link.Node), 1)
	c.Device.Drift = chance.Between(-clockDrift, clockDrift, seed, uint64(link.Node), 2)
	return c
}
