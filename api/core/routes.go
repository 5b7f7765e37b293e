package core

import (
	"slices"

	"sensegate/api"
)

// routes is the interface, in the order of the interface document.
func (c *Core) routes() []api.Route {
	return slices.Concat(
		api.Group("Motion history and live motion",
			api.Get("/network/{network_id}/motion/history/state", key(c.stateHistory), "Time series of motion states: 0 none, 1 low, 2 motion"),
			api.Get("/network/{network_id}/motion/history/intensity", key(c.intensityHistory), "Time series of motion intensity, 0 to 1: the maximum of each bucket"),
			api.Get("/network/{network_id}/motion/history/density", key(c.densityHistory), "Time series of motion density: percent of the bucket's samples with motion"),
			api.Get("/network/{network_id}/motion/history/state_blocks", key(c.stateBlocks), "Motion blocks: stretches of one state with the devices near them (beta)"),
			api.Live("/network/{network_id}/motion/live", key(c.motionLive), "Live motion, a frame every 500 ms"),
			api.Post("/network/{network_id}/motion/refresh", key(c.refreshMotion), "Start the live motion stream"),
		),
		api.Group("Events",
			api.Get("/network/{network_id}/events/history", key(c.eventHistory), "Stored events"),
			api.Live("/network/{network_id}/events/live", key(c.eventsLive), "Live events, optionally of some categories or kinds"),
			api.Post("/network/{network_id}/events/tag", key(c.tagEvent), "Tag an event"),
			api.Post("/network/{network_id}/events/create", key(c.createEvent), "Create an event"),
			api.Get("/network/{network_id}/events/pairs", key(c.eventPairs), "Pairs of a MotionDetectedEvent and its MotionStoppedEvent"),
		),
		api.Group("Network status, location, find",
			api.Get("/network/{network_id}/topology", key(c.topology), "Network topology"),
			api.Get("/network/{network_id}/status", key(c.status), "Most recent guardian status report"),
			api.Get("/network/find/masterid/{master_id}", key(c.findMaster), "Find a network by the node id of its master"),
			api.Get("/network/find/id/{network_id}", key(c.findNetwork), "Find a network by its id"),
			api.Get("/network/find/mac/{bssid}", key(c.findBSSID), "Find a network by a BSSID of one of its nodes"),
			api.Get("/network/find/device/{guardian_deviceid}", key(c.findGuardian), "Find a network by its guardian's deviceId"),
			api.Get("/network/find/meta/{query}", key(c.findMeta), "Find networks by a field of their meta"),
		),
		api.Group("Node",
			api.Get("/node/find/id/{nodeid}", key(c.nodeByID), "Find a network by a node's id; its nodes hold that node alone"),
			api.Get("/node/find/device/{deviceid}", key(c.nodeByDevice), "Find a node by its deviceId"),
			api.Get("/node/find/mac/{bssid}", key(c.nodeByBSSID), "Find a node by its 2.4 GHz, 5 GHz, mesh or p2p BSSID"),
			api.Get("/node/find/networkid/{network_id}", key(c.nodesOfNetwork), "The nodes of a network, always an array"),
		),
	)
}
