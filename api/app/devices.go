package app

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/setting"
	"sensegate/store"
)

type devicesIn struct {
	NetworkQuery
	Body deviceChanges
}

// deviceChanges is the body of PATCH /devices, which setting.ReadPlacements checks.
type deviceChanges struct{ value any }

// UnmarshalJSON keeps the decoded value.
func (c *deviceChanges) UnmarshalJSON(raw []byte) error {
	var checked api.Checked[any]
	err := checked.UnmarshalJSON(raw)
	c.value = checked.Value
	return err
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
	Location     string     `json:"location" maxLength:"256" doc:"Letters of any script, digits, spaces and = + - _ @ !; empty: it moves about" example:"Kitchen"`
	FriendlyName string     `json:"friendly_name" maxLength:"256" doc:"Characters as in location; may be empty" example:"Speaker"`
	Mobile       any        `json:"mobile,omitempty" doc:"true or false: it moves about"`
}

// nodePlacement is a node in the body of PATCH /devices.
type nodePlacement struct {
	Node         api.Lenient[motion.NodeID] `json:"node_id" doc:"As the topology has it" example:"134"`
	Location     string                     `json:"location" maxLength:"256" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Hallway"`
	FriendlyName string                     `json:"friendly_name" maxLength:"256" doc:"Characters as in location; may be empty" example:"Mesh node"`
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
	var mistakes setting.Mistakes
	placements := setting.ReadPlacements(&mistakes, in.Body.value)
	if err := a.Engine.PlaceDevices(ctx, who.Network, placements, mistakes); err != nil {
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
