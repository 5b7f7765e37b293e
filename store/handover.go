package store

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// Handover is the way of a network from this box to another one. While it is there, nothing of the
// network is written.
type Handover struct {
	Network motion.NetworkID       `json:"network"`
	Copy    string                 `json:"copy"`           // names every copy that is made of it
	Receipt string                 `json:"receipt"`        // what the other box shows when it has taken the copy in
	Since   motion.Time            `json:"since"`          // from when on nothing of the network is written any more
	To      string                 `json:"to,omitempty"`   // URL of the gatekeeper that its devices are sent to; "": it is not handed over yet
	Sent    map[string]motion.Time `json:"sent,omitempty"` // by deviceId, when a device was sent there first
}

// handoversKey is where the meta bucket keeps which networks go to other boxes.
const handoversKey = "handovers"

// Handovers returns the networks that go, or have gone, to other boxes, in the order of their beginning.
func (tx *Tx) Handovers() (list []Handover, err error) {
	err = tx.getMeta(handoversKey, &list)
	return list, err
}

// Handover returns the way of a network to another box, and whether it goes or has gone there.
func (tx *Tx) Handover(network motion.NetworkID) (h Handover, found bool, err error) {
	list, err := tx.Handovers()
	if i := slices.IndexFunc(list, ofNetworkHandover(network)); i >= 0 {
		return list[i], true, err
	}
	return h, false, err
}

func ofNetworkHandover(network motion.NetworkID) func(Handover) bool {
	return func(h Handover) bool { return h.Network == network }
}

// PutHandover stores h in place of what is stored of its network.
func (tx *Tx) PutHandover(h Handover) error {
	if err := tx.requireStored(h.Network); err != nil {
		return err
	}
	list, err := tx.Handovers()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(list, ofNetworkHandover(h.Network)); i >= 0 {
		list[i] = h
	} else {
		list = append(list, h)
	}
	return tx.putMeta(handoversKey, list)
}

// DeleteHandover ends the way of a network to another box; that there is none is no error.
func (tx *Tx) DeleteHandover(network motion.NetworkID) error {
	list, err := tx.Handovers()
	if err != nil || !slices.ContainsFunc(list, ofNetworkHandover(network)) {
		return err
	}
	return putMetaList(tx, handoversKey, slices.DeleteFunc(list, ofNetworkHandover(network)))
}

// putMetaList stores a list in the meta bucket, and no key for an empty one.
func putMetaList[T any](tx *Tx, key string, list []T) error {
	if len(list) == 0 {
		return tx.bucket(metaBucket).Delete([]byte(key))
	}
	return tx.putMeta(key, list)
}

// Here returns a NotFound fault when the network goes or has gone to
// another box: what is written here after its copy was made would be lost.
func (tx *Tx) Here(network motion.NetworkID) error {
	if tx.bucket(metaBucket).Get([]byte(handoversKey)) == nil {
		return nil // as on almost every box
	}
	h, found, err := tx.Handover(network)
	if err == nil && found {
		err = h.Away()
	}
	return err
}

// HereHome is Here for the network of a home.
func (tx *Tx) HereHome(id home.ID) error {
	if tx.bucket(metaBucket).Get([]byte(handoversKey)) == nil {
		return nil
	}
	h, _, err := homes.get(tx, id)
	if err != nil {
		return err
	}
	return tx.Here(h.ExternalID)
}

// Away returns the fault for what is asked of a network that goes or has gone to another box.
func (h Handover) Away() error {
	away := fault.New(fault.NotFound, "network %d is on its way to another box: nothing of it is read or changed here, unless it is taken back (sensegate network take-back %[1]d)", h.Network)
	if h.To != "" { // the web app shows the address
		away = fault.New(fault.NotFound, "network %d has moved to %s, where its devices are sent: nothing of it is read or changed here any more", h.Network, h.To)
	}
	away.Code = "network_away"
	return away
}
