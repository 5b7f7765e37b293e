// Package devices decides about devices: who is let in, who waits for adoption, who logs in,
// and who goes.
package devices

import (
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/management"
	"sensegate/motion/engine/state"
	"sensegate/motion/peer"
	"sensegate/store"
)

// Fleet is the devices: who is let in, who waits, who is connected and who goes. Make it with
// New.
type Fleet struct {
	state     *state.State
	events    *events.Writer
	commands  *management.Manager
	inventory *inventory.Inventory
	options   Options

	Waiting  pendingList // for adoption
	refusals refusals
	returns  returns
	entries  *peer.Buckets[motion.NetworkID] // of devices that a window lets in, 0: of new networks
	comings  *peer.Buckets[motion.DeviceKey] // of devices that are let in
}

// Options say who is let in.
type Options struct {
	AccessToken string // as engine.Options has them
	Readopt     bool
	FirstWindow time.Duration

	NodesNetwork motion.NetworkID // that nodes of other makers join; 0: the only one
}

// New makes the fleet; Load reads what waits.
func New(s *state.State, w *events.Writer, m *management.Manager, i *inventory.Inventory, o Options) *Fleet {
	return &Fleet{
		state: s, events: w, commands: m, inventory: i, options: o,
		refusals: refusals{hours: map[motion.NetworkID]*refusedHour{}},
		returns:  returns{last: map[motion.DeviceKey]comeback{}},
		entries:  peer.NewBuckets[motion.NetworkID](entryRate, entryBurst),
		comings:  peer.NewBuckets[motion.DeviceKey](comingRate, comingBurst),
	}
}

// Load reads the devices that wait for adoption.
func (f *Fleet) Load(tx *store.Tx) (err error) {
	f.Waiting.entries, err = tx.PendingDevices()
	return err
}
