package devices

import (
	"cmp"
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// DeviceState is what a person can know of one device: whether it works, and why
// not.
type DeviceState struct {
	Kind      string           `json:"kind"` // radar, guardian, or unknown for what is not adopted
	ID        string           `json:"id"`
	State     string           `json:"state"` // online, offline, pending or refused
	Why       string           `json:"why,omitempty"`
	NetworkID motion.NetworkID `json:"network_id,omitempty"`
	NodeName  string           `json:"node_name,omitempty"`
	Address   string           `json:"address,omitempty"`
	LastHeard motion.Time      `json:"last_heard,omitempty"`
	Refused   []state.Refused  `json:"refused,omitempty"`
	Entry     *Entry           `json:"entry,omitempty"` // of one that is pending

	Node *motion.NodeFigures `json:"node,omitempty"` // what arrives of a node of another maker
}

// Entry is what a pending device has shown, which an approval holds it to.
type Entry struct {
	ID         string `json:"id"`
	LocationID string `json:"location_id"`
	Role       string `json:"role"` // master or peer
	Approved   bool   `json:"approved"`
}

// DeviceList returns every adopted device, every pending one, and whoever else
// was refused lately. until is when the adoption window of networks without an owner
// closes or closed.
func (f *Fleet) DeviceList(ctx context.Context) (list []DeviceState, until motion.Time, err error) {
	list = []DeviceState{}
	now := f.state.Now()
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		if until, err = f.windowUntil(tx, 0); err != nil {
			return err
		}
		devices, err := tx.Devices()
		if err != nil {
			return err
		}
		for _, d := range devices {
			list = append(list, f.adoptedState(tx, d, now))
		}
		for _, p := range f.Waiting.list() {
			list = append(list, f.pendingState(p))
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for i := range list {
		list[i].Node = f.state.NodeFigures(list[i].ID)
	}
	known := func(name string) bool {
		return slices.ContainsFunc(list, func(d DeviceState) bool { return d.Kind+"/"+d.ID == name || "client/"+d.ID == name })
	}
	for _, name := range f.state.Ledger.Names() {
		if !known(name) {
			list = append(list, DeviceState{Kind: "unknown", ID: name, State: "refused", Refused: f.state.Ledger.Of(name)})
		}
	}
	return list, until, nil
}

// adoptedState describes an adopted device.
func (f *Fleet) adoptedState(tx *store.Tx, d motion.Device, now motion.Time) DeviceState {
	p := f.state.Presence(d.DeviceKey, now)
	state := DeviceState{
		Kind: string(d.Kind), ID: d.ID, State: "offline", Why: p.Why, NetworkID: d.NetworkID,
		Address: cmp.Or(p.Address, d.Address), LastHeard: max(p.LastHeard, d.LastHeard), Refused: f.refusedOf(d.DeviceKey),
	}
	if p.Online {
		state.State = "online"
	}
	if node, err := tx.Node(d.NodeID); err == nil {
		state.NodeName = node.Name
	}
	return state
}

// pendingState describes a device that waits for adoption.
func (f *Fleet) pendingState(p motion.PendingDevice) DeviceState {
	state := DeviceState{
		Kind: string(motion.RadarKind), ID: p.DeviceID, State: "pending", Why: p.Reason,
		NetworkID: p.NetworkID, NodeName: p.NodeName, Address: p.Address, LastHeard: p.LastSeen,
		Entry:   &Entry{ID: p.ID, LocationID: p.LocationID, Role: p.Role(), Approved: p.Approved},
		Refused: f.refusedOf(motion.DeviceKey{Kind: motion.RadarKind, ID: p.DeviceID}),
	}
	if p.Approved && p.Reason == waitingForAdoption {
		state.Why = "approved: it is let in with its next post"
	}
	return state
}

// refusedOf returns what was refused of a device, and of whoever claimed to be
// it without its token.
func (f *Fleet) refusedOf(key motion.DeviceKey) []state.Refused {
	return append(f.state.Ledger.Of(key.String()), f.state.Ledger.Of("client/"+key.ID)...)
}
