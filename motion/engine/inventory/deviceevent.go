package inventory

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// turn is a link of an inventory that has come or gone.
type turn struct {
	link  motion.Link
	delta int // +1 came, −1 went
}

// turned notes that a link has come or gone.
func (v *Update) turned(link motion.Link, delta int) {
	v.turns = append(v.turns, turn{link, delta})
}

// deviceEvents collects the events of the clients that have got their first link
// or lost their last one with this inventory, when the network follows them
// (payloads.md 4.4). A client that moves from one node to another within a report
// is there all the time.
func (v *Update) deviceEvents() error {
	if len(v.turns) == 0 {
		return nil
	}
	links, err := v.Tx.Links(v.network.ID)
	if err != nil {
		return err
	}
	after := map[motion.NodeID]int{} // online links of each source
	for _, link := range links {
		if link.Online {
			after[link.Src]++
		}
	}
	before, last := map[motion.NodeID]int{}, map[motion.NodeID]motion.Link{}
	var order []motion.NodeID
	for _, t := range v.turns {
		src := t.link.Src
		if _, known := last[src]; !known {
			before[src] = after[src]
			order = append(order, src)
		}
		before[src] -= t.delta
		if t.delta > 0 || last[src].Name == "" {
			last[src] = t.link
		}
	}
	for _, src := range order {
		if (before[src] == 0) != (after[src] == 0) {
			if err := v.deviceEvent(last[src], after[src] > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// deviceEvent collects the event of the client at the source of a link.
func (v *Update) deviceEvent(link motion.Link, present bool) error {
	mac, err := motion.ParseMAC(link.SrcName)
	if err != nil || link.Mesh || !v.network.FollowsDevice(mac) {
		return nil // a node, or nobody's business
	}
	leaf, err := v.Tx.LeafByMAC(v.network.ID, mac)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	kind := motion.DeviceDisconnectedEvent
	switch {
	case present:
		kind = motion.DeviceConnectedEvent
	case v.Silent:
		kind = motion.DeviceTimedOutEvent
	}
	v.events = append(v.events, motion.Event{
		Event: kind, NetworkID: v.network.ID, GuardianID: v.network.GuardianID, TS: v.now,
		DeviceID: mac.String(), NodeID: link.Dst, NodeName: link.DstName,
		Detail: motion.Document{
			"category": string(motion.CategoryDevice), "mac": mac.String(),
			"friendly_name": leaf.DisplayName(), "location": leaf.Location,
		},
	})
	return nil
}
