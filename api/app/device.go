package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// nodeDevice is a node as its household sees it.
type nodeDevice struct {
	Node         motion.NodeID `json:"node_id" example:"134"`
	Network      home.ID       `json:"network_id" example:"17"`
	DeviceID     string        `json:"deviceId" example:"csi-a-02aa00000210"`
	Name         string        `json:"node_name" example:"EXA1000134"`
	FriendlyName string        `json:"friendly_name" example:"Mesh node"`
	Location     string        `json:"location" example:"Hallway"`
}

// leafDevice is a leaf as its household sees it.
type leafDevice struct {
	ID           motion.NodeID `json:"id" example:"501"`
	Network      home.ID       `json:"network_id" example:"17"`
	MAC          motion.MAC    `json:"mac_address" example:"02:bb:00:00:00:31"`
	FriendlyName string        `json:"friendly_name" example:"Speaker"`
	Location     string        `json:"location" example:"Kitchen"`
	Auto         string        `json:"auto" enum:"1,0," doc:"1: may be selected for sounding, 0: never, empty: as the network"`
	Mobile       bool          `json:"mobile" doc:"Whether it moves about: flagged so, or placed nowhere"`
}

// leafChange is the body of PUT /leaf.
type leafChange struct {
	NetworkField
	MAC          motion.MAC `json:"mac_address" example:"02:bb:00:00:00:31"`
	FriendlyName *string    `json:"friendly_name,omitempty" maxLength:"256" shape:"place" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Speaker"`
	Location     *string    `json:"location,omitempty" maxLength:"256" shape:"place" doc:"Characters as in friendly_name; empty: it moves about" example:"Kitchen"`
	Auto         any        `json:"auto,omitempty" doc:"1: may be selected for sounding, 0: never, empty: as the network; a text or a number"`
	Mobile       any        `json:"mobile,omitempty" doc:"true or false, also as text: it moves about"`
}

// nodeChange is the body of PUT /node.
type nodeChange struct {
	NetworkField
	Node         api.Lenient[motion.NodeID] `json:"node_id" doc:"As the topology has it" example:"134"`
	FriendlyName *string                    `json:"friendly_name,omitempty" maxLength:"256" shape:"place" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Mesh node"`
	Location     *string                    `json:"location,omitempty" maxLength:"256" shape:"place" doc:"Characters as in friendly_name" example:"Hallway"`
}

type leafIn struct {
	NetworkQuery
	Body api.Checked[leafChange]
}

func (a *App) putLeaf(ctx context.Context, who auth.Member, in *leafIn) (*api.Answer[leafDevice], error) {
	leaf := in.Body.Value
	return place(ctx, a, who, setting.Placement{
		At: "body", MAC: leaf.MAC, FriendlyName: leaf.FriendlyName, Location: leaf.Location, Mode: modeOf(leaf.Auto), Mobile: boolOf(leaf.Mobile),
	}, in.Body.Found, func(tx *store.Tx) (leafDevice, error) { return leafOf(tx, who, leaf.MAC) })
}

type nodeIn struct {
	NetworkQuery
	Body api.Checked[nodeChange]
}

func (a *App) putNode(ctx context.Context, who auth.Member, in *nodeIn) (*api.Answer[nodeDevice], error) {
	node := in.Body.Value
	return place(ctx, a, who, setting.Placement{
		At: "body", Node: node.Node.Value, FriendlyName: node.FriendlyName, Location: node.Location,
	}, in.Body.Found, func(tx *store.Tx) (nodeDevice, error) { return nodeOf(tx, who, node.Node.Value) })
}

// place places one device, which read finds, or else NotFound, and answers with it.
func place[T any](ctx context.Context, a *App, who auth.Member, one setting.Placement, found fault.Details, read func(*store.Tx) (T, error)) (*api.Answer[T], error) {
	if err := found.Err(); err != nil {
		return nil, err
	}
	if _, err := store.Read(ctx, a.DB, read); err != nil {
		return nil, err
	}
	if err := a.Engine.Inventory.PlaceDevices(ctx, who.Network, []setting.Placement{one}, nil); err != nil {
		return nil, err
	}
	return api.Answered(store.Read(ctx, a.DB, read))
}

// leafOf returns a leaf of the caller's network.
func leafOf(tx *store.Tx, who auth.Member, mac motion.MAC) (leafDevice, error) {
	leaf, err := tx.LeafByMAC(who.Network, mac)
	if err != nil {
		return leafDevice{}, err
	}
	network, err := tx.Network(who.Network)
	return leafDevice{
		ID: leaf.ID, Network: who.Home, MAC: leaf.MAC, FriendlyName: leaf.FriendlyName, Location: leaf.Location,
		Auto: autoOf(setting.Client(network.Radar(), leaf.MAC).Mode), Mobile: leaf.IsMobile(),
	}, err
}

// nodeOf returns a node of the caller's network.
func nodeOf(tx *store.Tx, who auth.Member, id motion.NodeID) (nodeDevice, error) {
	node, err := tx.Node(id)
	if err == nil && node.NetworkID != who.Network || fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, "node %d is not known", id)
	}
	if err != nil {
		return nodeDevice{}, err
	}
	return nodeDevice{
		Node: node.ID, Network: who.Home, DeviceID: node.DeviceID, Name: node.Name,
		FriendlyName: node.FriendlyName, Location: node.Location,
	}, nil
}
