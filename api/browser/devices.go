package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/household"
)

// DeviceView is a device as whoever sets the home up sees it.
type DeviceView struct {
	ID       *motion.NodeID  `json:"id" nullable:"true" doc:"null: it waits" example:"134"`
	Kind     string          `json:"kind" enum:"node,leaf" doc:"leaf: a client that nodes hear"`
	DeviceID string          `json:"device_id" doc:"Of a leaf its address" example:"csi-a-02aa00000210"`
	Name     string          `json:"name" example:"Hall extender"`
	Room     string          `json:"room" doc:"Empty: not placed" example:"Hallway"`
	State    string          `json:"state" enum:"online,offline,waiting,refused" doc:"waiting: an approval, its master or time lets it in; refused: they do not"`
	Why      string          `json:"why" doc:"Code of why it does not work, empty when it does. Of a node: never_connected, silent, keep_alive, lost, ended, not_reported, wrong_token, bad_input, no_frames, of another maker also nothing_arrives, second_source, same_again, no_transmitter; of a leaf: not_heard, or why its link is blind; of one that waits: waiting, approved, waiting_for_master, several_networks, like_another, too_many_lately, too_often_lately; of one that is refused: let_in_elsewhere, another_network, owned_elsewhere, another_master, another_role, another_device, needs_token, master_heard, master_connected, device_connected, name_known, name_connected, network_full, unclaimed_full" example:"no_frames"`
	Figures  sensing.Figures `json:"figures" doc:"By name: for_s, seconds; count, of what was refused in the last ten minutes; those of links" example:"{}"`
	Address  string          `json:"address" doc:"Empty: not known" example:"192.168.10.17"`
	Heard    *motion.Time    `json:"heard" nullable:"true" example:"1764000060.2"`
	Rate     *float64        `json:"rate" nullable:"true" doc:"Frames a second that it delivers; of a leaf those that nodes hear" example:"50"`
	RSSI     *float64        `json:"rssi" nullable:"true" doc:"dBm, where its best link ends" example:"-58"`
	Entry    string          `json:"entry" doc:"Of one that waits: for POST /devices/{entry}/adopt" example:""`
	Node     *NodeView       `json:"node,omitempty" doc:"What arrives of a node of another maker; left out: another device"`
}

// setupState is the answer of what concerns devices.
type setupState struct {
	TS          motion.Time  `json:"ts" doc:"Now" example:"1764000060.5"`
	WindowUntil *motion.Time `json:"window_until" nullable:"true" doc:"Until when every new device that asks is let in; null: none is" example:"1764000600"`
	Devices     []DeviceView `json:"devices" nullable:"false" doc:"Those with a problem first"`
}

type setupDevicesOut struct{ Body setupState }

func (b *Browser) setupDevices(ctx context.Context, who auth.Installer, _ *SetupQuery) (*setupDevicesOut, error) {
	state, err := b.setupState(ctx, who)
	return &setupDevicesOut{state}, err
}

func (b *Browser) setupState(ctx context.Context, who auth.Installer) (setupState, error) {
	list, until, err := b.Household.Devices(ctx, who.Network, viewer(who))
	state := setupState{TS: b.Engine.State.Now(), Devices: make([]DeviceView, 0, len(list))}
	if until > state.TS {
		state.WindowUntil = &until
	}
	for i := range list {
		state.Devices = append(state.Devices, deviceView(&list[i]))
	}
	return state, err
}

func deviceView(d *household.Device) DeviceView {
	v := DeviceView{
		Kind: "leaf", DeviceID: d.DeviceID, Name: d.Name, Room: d.Room, State: d.State, Why: d.Why, Figures: d.Figures,
		Address: d.Address, Heard: knownTime(d.Heard), Rate: known(d.Rate), RSSI: known(d.RSSI), Entry: d.Entry,
	}
	if d.Node {
		v.Kind = "node"
	}
	if d.Other != nil {
		v.Node = nodeView(d.DeviceID, *d.Other)
	}
	if d.ID != 0 {
		v.ID = &d.ID
	}
	if v.Figures == nil {
		v.Figures = sensing.Figures{}
	}
	return v
}

type openAdoptionIn struct {
	Body struct{ SetupField }
}

func (b *Browser) openAdoption(ctx context.Context, who auth.Installer, _ *openAdoptionIn) (*setupDevicesOut, error) {
	if err := b.Household.OpenAdoption(ctx, who.Home, viewer(who)); err != nil {
		return nil, err
	}
	return b.setupDevices(ctx, who, nil)
}

func (b *Browser) closeAdoption(ctx context.Context, who auth.Installer, _ *SetupQuery) (*struct{}, error) {
	return nil, b.Engine.Devices.CloseAdoption(ctx, who.Network)
}

type adoptIn struct {
	Entry string `path:"entry" maxLength:"64" doc:"Of a device that waits" example:"k7q2mzda"`
	Body  struct{ SetupField }
}

func (b *Browser) adoptDevice(ctx context.Context, who auth.Installer, in *adoptIn) (*setupDevicesOut, error) {
	if err := b.Household.Adopt(ctx, who.Network, viewer(who), in.Entry); err != nil {
		return nil, err
	}
	return b.setupDevices(ctx, who, nil)
}

// DevicePath names a device.
type DevicePath struct {
	ID motion.NodeID `path:"id" doc:"Of the device" example:"134"`
}

type placeDeviceIn struct {
	DevicePath
	Body struct {
		SetupField
		Kind string  `json:"kind" enum:"node,leaf"`
		Name *string `json:"name,omitempty" maxLength:"256" doc:"Letters of any script, digits, spaces and = + - _ @ !; may be empty; left out: as it is" example:"Hall extender"`
		Room *string `json:"room,omitempty" maxLength:"256" doc:"Characters as in name; empty: none; left out: as it is" example:"Hallway"`
	}
}

func (b *Browser) placeDevice(ctx context.Context, who auth.Installer, in *placeDeviceIn) (*struct{}, error) {
	return nil, b.Household.PlaceDevice(ctx, who.Network, viewer(who), in.Body.Kind == "node", in.ID, in.Body.Name, in.Body.Room)
}

type removeDeviceIn struct {
	SetupQuery
	DevicePath
	Kind string `query:"kind" required:"true" enum:"node,leaf" doc:"Of the device"`
}

func (b *Browser) removeDevice(ctx context.Context, who auth.Installer, in *removeDeviceIn) (*struct{}, error) {
	return nil, b.Household.RemoveDevice(ctx, who.Network, viewer(who), in.Kind == "node", in.ID)
}
