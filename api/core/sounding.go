package core

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/setting"
)

type soundingIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
}

type soundingOut struct {
	Body setting.SoundingSettings
}

func (c *Core) soundingSettings(_ context.Context, _ auth.Key, in *soundingIn) (*soundingOut, error) {
	s, err := c.engine.SoundingSettings(in.Network)
	return &soundingOut{Body: s}, err
}

type changeSoundingIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[soundingChange]
}

// soundingChange describes the settings to change; setting.EditSounding checks
// them.
type soundingChange struct {
	ZonePriorityList     *[]string `json:"zone_priority_list,omitempty" maxItems:"64" uniqueItems:"true" doc:"Zones whose links are sounded first, in order; empty: no prioritisation" example:"[\"Kitchen\"]"`
	MotionEventsEnabled  *int32    `json:"motion_events_enabled,omitempty" enum:"0,1"`
	MotionEventsArmed    *int32    `json:"motion_events_armed,omitempty" enum:"0,1" doc:"1 needs motion_events_enabled"`
	MotionHistoryEnabled *int32    `json:"motion_history_enabled,omitempty" enum:"0,1"`
	DeviceEvents         *int32    `json:"device_events,omitempty" enum:"0,1"`
	MeshAutoDisable      *int32    `json:"mesh_auto_disable,omitempty" enum:"0,1"`
	MotionPaused         *int32    `json:"motion_paused,omitempty" enum:"0,1" doc:"While it is 1 nothing else can be changed"`
	SoundingMode         *string   `json:"sounding_mode,omitempty" enum:"allow,deny"`
	LeafblowerCutoff     *float64  `json:"leafblower_cutoff,omitempty" minimum:"-1.1" maximum:"1" doc:"-1.1 ignores quality"`
	LinkLimit            *int32    `json:"link_limit,omitempty" minimum:"1" maximum:"120"`
	Sensitivity          *int32    `json:"sensitivity,omitempty" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low"`
	PetMode              *int32    `json:"pet_mode,omitempty" enum:"0,1" doc:"1 needs sensitivity 1 and every client on global"`
	Cooldown             *int32    `json:"cooldown,omitempty" minimum:"0" maximum:"86400" doc:"s"`
}

func (c *Core) changeSoundingSettings(ctx context.Context, _ auth.Key, in *changeSoundingIn) (*soundingOut, error) {
	if err := c.engine.EditSounding(ctx, in.Network, in.Update.Update, in.Body.Value); err != nil {
		return nil, err
	}
	s, err := c.engine.SoundingSettings(in.Network)
	return &soundingOut{Body: s}, err
}

type clientsOut struct {
	Body soundingClients
}

// soundingClients is the answer of sounding/clients.
type soundingClients struct {
	Devices []soundingDevice `json:"devices" nullable:"false" doc:"Nodes, then clients, each by id"`
}

// soundingDevice is a node or a client.
type soundingDevice struct {
	node *engine.SoundingNode
	leaf *engine.SoundingLeaf
}

// Schema describes both forms.
func (soundingDevice) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[engine.SoundingNode](), true, ""), r.Schema(reflect.TypeFor[engine.SoundingLeaf](), true, ""),
	}}
}

// MarshalJSON writes the form that it is.
func (d soundingDevice) MarshalJSON() ([]byte, error) {
	if d.node != nil {
		return json.Marshal(d.node)
	}
	return json.Marshal(d.leaf)
}

func (c *Core) soundingClients(_ context.Context, _ auth.Key, in *soundingIn) (*clientsOut, error) {
	return c.clients(in.Network)
}

// clients answers with the nodes and clients of a network.
func (c *Core) clients(id motion.NetworkID) (*clientsOut, error) {
	clients, err := c.engine.SoundingClients(id)
	out := &clientsOut{Body: soundingClients{Devices: []soundingDevice{}}}
	for i := range clients.Nodes {
		out.Body.Devices = append(out.Body.Devices, soundingDevice{node: &clients.Nodes[i]})
	}
	for i := range clients.Leafs {
		out.Body.Devices = append(out.Body.Devices, soundingDevice{leaf: &clients.Leafs[i]})
	}
	return out, err
}

type changeClientsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[soundingClientChanges]
}

// soundingClientChanges describes a change of sounding clients; the engine checks it.
type soundingClientChanges struct {
	Devices []soundingClientChange `json:"devices" nullable:"false" maxItems:"256" doc:"All of them are changed, or none"`
}

// soundingClientChange is what of one node or client is to be changed. It is named by mac,
// id or device_id.
type soundingClientChange struct {
	ID              *motion.NodeID `json:"id,omitempty" minimum:"1" maximum:"2147483647" doc:"Of a node, or of a client as in the topology" example:"134"`
	MAC             *motion.MAC    `json:"mac,omitempty" example:"02:bb:00:00:00:31"`
	DeviceID        *string        `json:"device_id,omitempty" maxLength:"128" doc:"Of a node" example:"csi-a-02aa00000110"`
	FriendlyName    *string        `json:"friendly_name,omitempty" maxLength:"256" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Kitchen speaker"`
	Location        *string        `json:"location,omitempty" maxLength:"256" doc:"Characters as in friendly_name; empty: the client moves about" example:"Kitchen"`
	SoundingMode    *string        `json:"sounding_mode,omitempty" enum:"allow,deny" doc:"Of a client"`
	SoundingMesh    *string        `json:"sounding_mesh,omitempty" enum:"allow,deny" doc:"Of a node"`
	SensitivityMode *string        `json:"sensitivity_mode,omitempty" enum:"global,override"`
	Sensitivity     *int32         `json:"sensitivity,omitempty" minimum:"1" maximum:"4" doc:"Only with sensitivity_mode override"`
}

func (c *Core) changeSoundingClients(ctx context.Context, _ auth.Key, in *changeClientsIn) (*clientsOut, error) {
	if err := c.engine.EditClients(ctx, in.Network, in.Update.Update, in.Body.Value); err != nil {
		return nil, err
	}
	return c.clients(in.Network)
}
