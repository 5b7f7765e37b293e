package devices

import (
	"context"
	"sync"

	"sensegate/motion"
	"sensegate/motion/engine/events"
)

// Limits of the events about devices at the gatekeeper (device-protocol.md 1 no. 10).
const (
	refusalHour   = motion.Seconds(3600)
	refusalsShown = 10 // an hour and network; further ones are counted
)

// refusals says which refused posts are worth an event: of each deviceId and reason one
// an hour, and of each network refusalsShown. It keeps no more than these.
type refusals struct {
	mu    sync.Mutex
	hours map[motion.NetworkID]*refusedHour
}

// refusedHour is an hour of one network, from its first refusal on.
type refusedHour struct {
	since motion.Time
	shown map[[2]string]bool // deviceId and reason
	more  int                // refused posts that no event shows
}

// over reports whether the hour has ended at now; a clock that was set back ends it too.
func (h *refusedHour) over(now motion.Time) bool {
	passed := now.Since(h.since)
	return passed >= refusalHour || passed < 0
}

// note notes a refused post, and reports whether it is worth an event. more is how many
// of the hour before had none.
func (r *refusals) note(network motion.NetworkID, deviceID, reason string, now motion.Time) (worth bool, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hour := r.hours[network]
	if hour == nil || hour.over(now) {
		if hour != nil {
			more = hour.more
		}
		hour = &refusedHour{since: now, shown: map[[2]string]bool{}}
		r.hours[network] = hour
	}
	what := [2]string{deviceID, reason}
	switch {
	case hour.shown[what]:
		return false, 0
	case len(hour.shown) >= refusalsShown:
		hour.more++
		return false, 0
	}
	hour.shown[what] = true
	return true, more
}

// ended forgets the hours that are over and returns, by network, how many refused posts
// of them had no event.
func (r *refusals) ended(now motion.Time) map[motion.NetworkID]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[motion.NetworkID]int{}
	for network, hour := range r.hours {
		if !hour.over(now) {
			continue
		}
		if hour.more > 0 {
			counts[network] = hour.more
		}
		delete(r.hours, network)
	}
	return counts
}

// tellRefused queues the event of a refused post in each network that it is about where it
// is worth one; nobody waits for it.
func (f *Fleet) tellRefused(shown motion.PendingDevice, about ...motion.Network) {
	for _, network := range about {
		worth, more := f.refusals.note(network.ID, shown.DeviceID, shown.Reason, f.state.Now())
		if !worth {
			continue
		}
		detail := deviceDetail(shown)
		detail["reason"] = shown.Reason
		if more > 0 {
			detail["more"] = more
		}
		f.events.Queue(events.Entry{Event: motion.Event{
			Event: motion.DeviceRefusedEvent, NetworkID: network.ID, GuardianID: network.GuardianID,
			TS: f.state.Now(), DeviceID: shown.DeviceID, NodeName: shown.NodeName, Detail: detail,
		}})
	}
}

// tellLetIn tells those rivals that a device was not let into.
func (f *Fleet) tellLetIn(shown motion.PendingDevice, into motion.NetworkID, rivals []motion.Network) {
	shown.Reason = letInElsewhere
	for _, n := range rivals {
		if n.ID != into {
			f.tellRefused(shown, n)
		}
	}
}

// deviceDetail is what the events of device-protocol.md 1 no. 10 say of a device.
func deviceDetail(shown motion.PendingDevice) motion.Document {
	return motion.Document{
		"category": string(motion.CategoryDevice), "deviceId": shown.DeviceID, "node_name": shown.NodeName,
		"role": shown.Role(), "address": shown.Address,
	}
}

// CountRefused queues, for each network whose hour is over, an event with the number of
// refused posts that had none.
func (f *Fleet) CountRefused(context.Context) error {
	for id, count := range f.refusals.ended(f.state.Now()) {
		n, err := f.state.Network(id)
		if err != nil {
			continue // deleted meanwhile
		}
		guardian := n.GuardianID()
		f.events.Queue(events.Entry{Event: motion.Event{
			Event: motion.DeviceRefusedEvent, NetworkID: id, GuardianID: guardian, TS: f.state.Now(),
			Detail: motion.Document{"category": string(motion.CategoryDevice), "more": count},
		}})
	}
	return nil
}
