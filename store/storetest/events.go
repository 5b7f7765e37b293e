package storetest

import (
	"math"

	"sensegate/motion"
	"sensegate/store"
)

// Events returns every readable event of a network that is not past its retention, oldest
// first.
func Events(tx *store.Tx, network motion.NetworkID) (all []motion.Event, err error) {
	q := store.EventQuery{Network: network, From: new(motion.Time), Last: math.MaxInt, Ascending: true}
	for {
		page, full, err := tx.EventPage(q)
		all = append(all, page...)
		if err != nil || !full {
			return all, err
		}
		q.After = page[len(page)-1].ID
	}
}
