package app

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
	"sensegate/store"
)

type devicesIn struct {
	NetworkQuery
	Body deviceChanges
}

// deviceChanges is the body of PATCH /devices: a list, or an object that has it as devices.
// Leafs and nodes may be mixed; each has its place and name.
type deviceChanges struct {
	placements []setting.Placement
	found      fault.Details
}

// maxPlaced bounds the leafs and nodes of one change.
const maxPlaced = 256

// UnmarshalJSON reads whatever is JSON.
func (c *deviceChanges) UnmarshalJSON(raw []byte) error {
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		return err
	}
	at := "body"
	if wrapper, ok := body.(map[string]any); ok {
		at, body = "body.devices", wrapper["devices"]
		shape.Object{Known: map[string]shape.Shape{"devices": shape.Anything, "network_id": positive}, Others: shape.Nothing}.Check(&c.found, "body", wrapper)
	}
	items, _ := body.([]any)
	before := len(c.found)
	if shape.Array(maxPlaced, "leafs or nodes")(&c.found, at, body); len(c.found) > before {
		return nil
	}
	for i, item := range items {
		c.read(fmt.Sprintf("%s[%d]", at, i), item)
	}
	return nil
}

// read reads a leaf, or, with a node_id, a node.
func (c *deviceChanges) read(at string, item any) {
	fields, _ := item.(map[string]any)
	if _, isNode := fields["node_id"]; isNode {
		n := shape.Read[nodePlacement](&c.found, at, item)
		c.placements = append(c.placements, setting.Placement{At: at, Node: n.Node.Value, FriendlyName: &n.FriendlyName, Location: &n.Location})
		return
	}
	l := shape.Read[leafPlacement](&c.found, at, item)
	c.placements = append(c.placements, setting.Placement{
		At: at, MAC: l.MAC, FriendlyName: &l.FriendlyName, Location: &l.Location, Mode: modeOf(l.Auto), Mobile: boolOf(l.Mobile),
	})
}

// Schema describes the bare list and the wrapped one, which is not enforced.
func (deviceChanges) Schema(r huma.Registry) *huma.Schema {
	bare := r.Schema(reflect.TypeFor[[]api.OneOf[leafPlacement, nodePlacement]](), true, "")
	wrapped := r.Schema(reflect.TypeFor[wrappedPlacements](), true, "")
	return &huma.Schema{
		Description: "A list of leafs and nodes, also as devices of an object",
		Extensions:  map[string]any{"anyOf": []*huma.Schema{bare, wrapped}},
	}
}

// leafPlacement is a leaf in the body of PATCH /devices.
type leafPlacement struct {
	MAC          motion.MAC `json:"mac_address" example:"02:bb:00:00:00:31"`
	Auto         any        `json:"auto" doc:"1: may be selected for sounding, 0: never, empty: as the network; a text or a number"`
	Location     string     `json:"location" maxLength:"256" shape:"place" doc:"Letters of any script, digits, spaces and = + - _ @ !; empty: it moves about" example:"Kitchen"`
	FriendlyName string     `json:"friendly_name" maxLength:"256" shape:"place" doc:"Characters as in location; may be empty" example:"Speaker"`
	Mobile       any        `json:"mobile,omitempty" doc:"true or false: it moves about"`
}

// nodePlacement is a node in the body of PATCH /devices.
type nodePlacement struct {
	Node         api.Lenient[motion.NodeID] `json:"node_id" doc:"As the topology has it" example:"134"`
	Location     string                     `json:"location" maxLength:"256" shape:"place" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Hallway"`
	FriendlyName string                     `json:"friendly_name" maxLength:"256" shape:"place" doc:"Characters as in location; may be empty" example:"Mesh node"`
}

// wrappedPlacements is the body of PATCH /devices as an object.
type wrappedPlacements struct {
	NetworkField
	Devices []api.OneOf[leafPlacement, nodePlacement] `json:"devices" nullable:"false" maxItems:"256"`
}

type devicesOut struct {
	Body struct {
		Devices []api.OneOf[nodeDevice, leafDevice] `json:"devices" nullable:"false" doc:"Those of the request, in its order"`
	}
}

func (a *App) patchDevices(ctx context.Context, who auth.Member, in *devicesIn) (*devicesOut, error) {
	placements := in.Body.placements
	if err := a.Engine.Inventory.PlaceDevices(ctx, who.Network, placements, in.Body.found); err != nil {
		return nil, err
	}
	out := &devicesOut{}
	out.Body.Devices = make([]api.OneOf[nodeDevice, leafDevice], len(placements))
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		for i, one := range placements {
			if one.Node != 0 {
				node, err := nodeOf(tx, who, one.Node)
				if err != nil {
					return err
				}
				out.Body.Devices[i].A = &node
				continue
			}
			leaf, err := leafOf(tx, who, one.MAC)
			if err != nil {
				return err
			}
			out.Body.Devices[i].B = &leaf
		}
		return nil
	})
	return out, err
}
