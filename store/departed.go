package store

import (
	"slices"

	"sensegate/motion"
)

// Departed is a network that was deleted here after it had gone to another box. Its devices are sent
// there still: they may ask here first at each start.
type Departed struct {
	Network  motion.NetworkID `json:"network"`
	Guardian string           `json:"guardian"`
	Devices  []string         `json:"devices"` // deviceIds
	To       string           `json:"to"`      // URL of the other box's gatekeeper
	At       motion.Time      `json:"at"`      // when it was deleted
}

// departedKey is where the meta bucket keeps departed networks.
const departedKey = "departed"

// mostDeparted is how many departed networks are kept; the oldest go.
const mostDeparted = 256

// DepartedNetworks returns the departed networks, the oldest first.
func (tx *Tx) DepartedNetworks() (list []Departed, err error) {
	err = tx.getMeta(departedKey, &list)
	return list, err
}

// AddDeparted keeps a departed network.
func (tx *Tx) AddDeparted(d Departed) error {
	list, err := tx.DepartedNetworks()
	if err != nil {
		return err
	}
	d.At = tx.now
	list = append(list, d)
	return tx.putMeta(departedKey, list[max(0, len(list)-mostDeparted):])
}

// RemoveDeparted forgets the departed networks that match, and reports whether there were any.
func (tx *Tx) RemoveDeparted(match func(Departed) bool) (found bool, err error) {
	list, err := tx.DepartedNetworks()
	if err != nil || !slices.ContainsFunc(list, match) {
		return false, err
	}
	return true, putMetaList(tx, departedKey, slices.DeleteFunc(list, match))
}
