package store

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Delivery is a push on its way to one receiver.
type Delivery struct {
	ID        uint64           `json:"id"`
	NetworkID motion.NetworkID `json:"network_id"`
	Mobile    home.MobileID    `json:"mobile"`   // the receiver; 0: the webhook
	UserID    home.UserID      `json:"user_id"`  // whose mobile device it was
	UserIDs   []home.UserID    `json:"user_ids"` // of the webhook: whom it is for
	Message   string           `json:"message"`  // the same for every try
	Payload   motion.Document  `json:"payload"`
	CreatedAt motion.Stamp     `json:"created_at"`
	Attempts  int              `json:"attempts"`
	DueAt     motion.Stamp     `json:"due_at"` // when it is to be tried next
}

// deliveries is the table of pushes on their way.
var deliveries = table[uint64, Delivery]{
	name: "deliveries", noun: "delivery", grows: true, key: key64,
	indexes: []index[Delivery]{
		{
			name: "deliveries_by_due", noun: "time", grows: true,
			keys: func(d Delivery) [][]byte { return [][]byte{key64(uint64(d.DueAt))} },
		},
		{
			name: "deliveries_by_network", noun: "network",
			keys: func(d Delivery) [][]byte { return [][]byte{key32(d.NetworkID)} },
		},
	},
}

// AddDelivery stores a delivery under the next id.
func (tx *Tx) AddDelivery(d Delivery) error {
	if err := tx.requireNetwork(d.NetworkID); err != nil {
		return err
	}
	id, err := tx.bucket(deliveries.name).NextSequence()
	if err != nil {
		return err
	}
	d.ID = id
	return deliveries.put(tx, d.ID, d)
}

// Delivery returns the delivery with the id and whether it is still there.
func (tx *Tx) Delivery(id uint64) (Delivery, bool, error) { return deliveries.get(tx, id) }

// PutDelivery stores d over the delivery with its id; one that is gone stays gone.
func (tx *Tx) PutDelivery(d Delivery) error {
	_, ok, err := deliveries.get(tx, d.ID)
	if err != nil || !ok {
		return err
	}
	return deliveries.put(tx, d.ID, d)
}

// DeleteDelivery removes a delivery, if it is still there.
func (tx *Tx) DeleteDelivery(id uint64) error {
	return deliveries.delete(tx, id)
}

// DeliveriesDue returns the deliveries that are due by now, the longest due first, at
// most so many.
func (tx *Tx) DeliveriesDue(most int) ([]Delivery, error) {
	due := []Delivery{}
	limit := key64(uint64(tx.now.Stamp()) + 1)
	cursor := tx.bucket("deliveries_by_due").Cursor()
	for key, primary := cursor.First(); key != nil && len(due) < most && string(key) < string(limit); key, primary = cursor.Next() {
		d, ok, err := deliveries.indexed(tx, "deliveries_by_due", key, primary)
		if err != nil {
			return nil, err
		}
		if ok {
			due = append(due, d)
		}
	}
	return due, nil
}

// DeliveryCount returns how many deliveries there are.
func (tx *Tx) DeliveryCount() int { return countKeys(tx, deliveries.name) }

// deleteDeliveriesOf removes the deliveries of a network.
func (tx *Tx) deleteDeliveriesOf(network motion.NetworkID) error {
	list, err := deliveries.allBy(tx, "deliveries_by_network", key32(network))
	return each(list, err, func(d Delivery) error { return tx.DeleteDelivery(d.ID) })
}

// deleteDeliveriesTo removes what is on its way to a user's mobile devices, and their
// id from what is on its way to the webhook.
func (tx *Tx) deleteDeliveriesTo(user home.UserID) error {
	list, err := deliveries.all(tx, nil)
	return each(list, err, func(d Delivery) error {
		kept := slices.DeleteFunc(slices.Clone(d.UserIDs), func(id home.UserID) bool { return id == user })
		if d.UserID == user || len(kept) == 0 && len(d.UserIDs) > 0 {
			return tx.DeleteDelivery(d.ID)
		}
		if len(kept) == len(d.UserIDs) {
			return nil
		}
		d.UserIDs = kept
		return deliveries.put(tx, d.ID, d)
	})
}
