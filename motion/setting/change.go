package setting

import (
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// SoundingChange is a change of sounding settings (payloads.md 4.4). Nil is not changed.
type SoundingChange struct {
	ZonePriorityList     *[]string `json:"zone_priority_list,omitempty" maxItems:"64" shape:"zone" uniqueItems:"true" doc:"Zones whose links are sounded first, in order; empty: no prioritisation" example:"[\"Kitchen\"]"`
	MotionEventsEnabled  *int32    `json:"motion_events_enabled,omitempty" enum:"0,1"`
	MotionEventsArmed    *int32    `json:"motion_events_armed,omitempty" enum:"0,1" doc:"1 needs motion_events_enabled"`
	MotionHistoryEnabled *int32    `json:"motion_history_enabled,omitempty" enum:"0,1" doc:"0: no motion is stored as history"`
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

// Shapes refuses what can be read alone.
func (SoundingChange) Shapes() map[string]shape.Shape {
	return map[string]shape.Shape{
		"mesh_sounding_disabled": func(m *fault.Details, at string, _ any) { m.Add(at, nil, "is read-only: leave it out") },
	}
}

// SoundingClientChanges is a change of sounding clients (payloads.md 4.5).
type SoundingClientChanges struct {
	Devices []SoundingClientChange `json:"devices" nullable:"false" maxItems:"256" items:"clients" doc:"All of them are changed, or none"`
}

// SoundingClientChange is what of one node or client is to be changed. It is named by mac,
// id or device_id. Nil is not changed.
type SoundingClientChange struct {
	At string `json:"-"` // its place in the request, such as body.devices[1]

	ID              *motion.NodeID `json:"id,omitempty" minimum:"1" maximum:"2147483647" doc:"Of a node, or of a client as in the topology" example:"134"`
	MAC             *motion.MAC    `json:"mac,omitempty" example:"02:bb:00:00:00:31"`
	DeviceID        *string        `json:"device_id,omitempty" maxLength:"128" doc:"Of a node" example:"csi-a-02aa00000110"`
	FriendlyName    *string        `json:"friendly_name,omitempty" maxLength:"256" shape:"place" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty" example:"Kitchen speaker"`
	Location        *string        `json:"location,omitempty" maxLength:"256" shape:"place" doc:"Characters as in friendly_name; empty: the client moves about" example:"Kitchen"`
	SoundingMode    *string        `json:"sounding_mode,omitempty" enum:"allow,deny" doc:"Of a client"`
	SoundingMesh    *string        `json:"sounding_mesh,omitempty" enum:"allow,deny" doc:"Of a node"`
	SensitivityMode *string        `json:"sensitivity_mode,omitempty" enum:"global,override"`
	Sensitivity     *int32         `json:"sensitivity,omitempty" minimum:"1" maximum:"4" doc:"Only with sensitivity_mode override"`
}

// AnyOf returns the keys that name a node or client.
func (SoundingClientChange) AnyOf() []string { return []string{"mac", "id", "device_id"} }

// Sounds reports whether more than a name or place is asked for.
func (c SoundingClientChange) Sounds() bool {
	return c.SoundingMode != nil || c.SoundingMesh != nil || c.SensitivityMode != nil || c.Sensitivity != nil
}

// Placement is what a household asks for one node or leaf (PUT /node, PUT /leaf
// and PATCH /devices, interfaces.md 4.2 no. 5). Nil is not asked for.
type Placement struct {
	At string // its place in the request, such as body[1]

	Node motion.NodeID // 0: it is a leaf
	MAC  motion.MAC    // of a leaf

	FriendlyName, Location *string
	Mode                   *string // Allow, Deny, or "": that of the network; of a leaf
	Mobile                 *bool   // of a leaf
}
