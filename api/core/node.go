package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
)

type nodesOut struct {
	Body api.OneOrMany[motion.Node]
}

// nodes answers with the nodes found in networks that the key opens; none is
// NotFound.
func nodes(who auth.Key, found []motion.Node, form NodeForm) (*nodesOut, error) {
	out := &nodesOut{Body: api.OneOrMany[motion.Node]{Array: form.Array}}
	for _, node := range found {
		if who.Open(node.NetworkID) == nil {
			out.Body.Found = append(out.Body.Found, node)
		}
	}
	if len(out.Body.Found) == 0 {
		return nil, errNoNode()
	}
	return out, nil
}

// errNoNode is the one answer for unknown and foreign nodes.
func errNoNode() error { return fault.New(fault.NotFound, "no such node") }

// NodeForm says how a find of nodes answers.
type NodeForm struct {
	Array bool `query:"array" default:"false" doc:"Always an array; otherwise one result is an object"`
}

type nodeByIDIn struct {
	Node motion.NodeID `path:"nodeid" doc:"Node id" example:"133"`
	NodeForm
}

// nodeByID returns the network by node: its record, with that node alone
// (payloads.md 4.1).
func (c *Core) nodeByID(ctx context.Context, who auth.Key, in *nodeByIDIn) (*networksOut, error) {
	node, err := c.engine.Inventory.Node(ctx, in.Node)
	if err == nil {
		err = who.Open(node.NetworkID)
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil, errNoNode()
	}
	if err != nil {
		return nil, err
	}
	return c.records([]motion.NetworkID{node.NetworkID}, in.Array, func(n motion.Node) bool { return n.ID == in.Node })
}

type nodeByDeviceIn struct {
	Device string `path:"deviceid" doc:"deviceId of the node" example:"csi-a-02aa00000110"`
	NodeForm
}

func (c *Core) nodeByDevice(ctx context.Context, who auth.Key, in *nodeByDeviceIn) (*nodesOut, error) {
	node, err := c.engine.Inventory.NodeByDevice(ctx, in.Device)
	if fault.KindOf(err) == fault.NotFound {
		return nil, errNoNode()
	}
	if err != nil {
		return nil, err
	}
	return nodes(who, []motion.Node{node}, in.NodeForm)
}

type nodeByBSSIDIn struct {
	BSSID motion.MAC `path:"bssid" doc:"2.4 GHz or 5 GHz access point, mesh or p2p BSSID" example:"02:aa:00:00:01:12"`
	NodeForm
}

func (c *Core) nodeByBSSID(_ context.Context, who auth.Key, in *nodeByBSSIDIn) (*nodesOut, error) {
	return nodes(who, c.engine.Inventory.NodesByBSSID(in.BSSID), in.NodeForm)
}

func (c *Core) nodesOfNetwork(_ context.Context, _ auth.Key, in *networkIn) (*api.AnswerList[motion.Node], error) {
	return api.AnsweredList(c.engine.Inventory.Nodes(in.Network))
}

type deleteNodeIn struct {
	Node motion.NodeID `path:"nodeid" doc:"Node id" example:"133"`
}

func (c *Core) deleteNode(ctx context.Context, who auth.Key, in *deleteNodeIn) (*api.Answer[motion.Node], error) {
	node, err := c.engine.Inventory.Node(ctx, in.Node)
	if err == nil {
		err = who.Open(node.NetworkID)
	}
	if err == nil {
		node, err = c.engine.Devices.DeleteNode(ctx, in.Node)
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil, errNoNode()
	}
	return api.Answered(node, err)
}
