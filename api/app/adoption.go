package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/household"
)

// adoptionState says whether new devices are let in, and which wait.
type adoptionState struct {
	Open    bool            `json:"open" doc:"Whether every new device that asks to join the network is adopted now"`
	Until   *motion.Stamp   `json:"until" nullable:"true" doc:"When that ends, or has ended; null: it never began"`
	Pending []waitingDevice `json:"pending" nullable:"false" doc:"Devices that wait, those seen last first"`
}

// waitingDevice is a device that has asked to join, as it has shown itself.
type waitingDevice struct {
	ID         string       `json:"id" doc:"Of this entry" example:"k7q2mzda"`
	DeviceID   string       `json:"device_id" example:"csi-a-02aa00000310"`
	NodeName   string       `json:"node_name" example:"EXA1000135"`
	LocationID string       `json:"location_id" doc:"The guardian_id of the network that it asks to join or to form" example:"a41f00c2d97b4e5580136c2e"`
	Role       string       `json:"role" enum:"master,peer" doc:"The part in the network that it asks for"`
	Address    string       `json:"address" doc:"Where its request came from" example:"192.168.10.17"`
	Reason     string       `json:"reason" doc:"Why it waits"`
	Approved   bool         `json:"approved" doc:"Let in by hand: its next request is answered, if it shows the same again"`
	FirstSeen  motion.Stamp `json:"first_seen"`
	LastSeen   motion.Stamp `json:"last_seen"`
}

func (a *App) adoption(ctx context.Context, o auth.Owner, _ *NetworkQuery) (*api.Answer[adoptionState], error) {
	until, pending, err := a.Household.Adoption(ctx, o.Network)
	if err != nil {
		return nil, err
	}
	state := adoptionState{Open: until > a.Engine.State.Now(), Pending: []waitingDevice{}}
	if !until.IsZero() {
		stamp := until.Stamp()
		state.Until = &stamp
	}
	for _, p := range pending {
		state.Pending = append(state.Pending, waitingDevice{
			ID: p.ID, DeviceID: p.DeviceID, NodeName: p.NodeName, LocationID: p.LocationID, Role: p.Role(), Address: p.Address,
			Reason: p.Reason, Approved: p.Approved,
			FirstSeen: p.FirstSeen.Stamp(), LastSeen: p.LastSeen.Stamp(),
		})
	}
	return api.Answered(state, nil)
}

type openAdoptionIn struct {
	NetworkQuery
	Body *BodyNetwork
}

func (a *App) openAdoption(ctx context.Context, o auth.Owner, _ *openAdoptionIn) (*api.Answer[adoptionState], error) {
	if _, err := a.Engine.Devices.OpenAdoption(ctx, o.Network, household.AdoptionWindow); err != nil {
		return nil, err
	}
	return a.adoption(ctx, o, nil)
}

func (a *App) closeAdoption(ctx context.Context, o auth.Owner, _ *NetworkQuery) (*api.Answer[adoptionState], error) {
	if err := a.Engine.Devices.CloseAdoption(ctx, o.Network); err != nil {
		return nil, err
	}
	return a.adoption(ctx, o, nil)
}

type adoptIn struct {
	NetworkQuery
	DeviceID string `path:"device_id" maxLength:"64" doc:"Of a device that waits, or the id of its entry" example:"csi-a-02aa00000310"`
}

func (a *App) adoptDevice(ctx context.Context, o auth.Owner, in *adoptIn) (*api.Answer[adoptionState], error) {
	if err := a.Household.Adopt(ctx, o.Network, household.Viewer{User: o.ID, Resident: true}, in.DeviceID); err != nil {
		return nil, err
	}
	return a.adoption(ctx, o, nil)
}
