package sensing

import (
	"context"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
)

// Event takes in an event that a device raised (device-protocol.md 2.4). It
// returns when the event is stored.
func (se *Sensing) Event(ctx context.Context, of *state.Network, device motion.DeviceKey, r motion.EventReport, now motion.Time) error {
	n := networkOf(of)
	event := r.Event
	at, server := se.state.OwnClock.Stamp(event.TS, now)
	n.Mu.Lock()
	if event.Category == motion.CategoryMotion {
		if n.Record.Paused() || n.Guardian.MotionEvents.Enabled == 0 {
			n.Mu.Unlock()
			return nil
		}
		if !se.claim(n, state.GuardianHolds, now) {
			n.Mu.Unlock()
			return fault.New(fault.Conflict, "event: the network is sensed by the appliance itself; the event is not used")
		}
		se.guardianRaises(n, now)
		if event.DetectedTS == n.detected.device {
			event.DetectedTS = n.detected.stored
		}
		if event.Armed == nil {
			armed := n.Guardian.MotionEvents.Armed
			event.Armed = &armed
		}
	}
	n.complete(&event)
	n.Mu.Unlock()
	dedupe := r.UUID
	if dedupe == "" && !event.TS.IsZero() {
		dedupe = fmt.Sprintf("%s %s %d", device, event.Event, event.TS.Micros())
	}
	event.ID, event.Tag, event.TS = "", motion.PadTag(""), at
	if server {
		if event.Detail == nil {
			event.Detail = motion.Document{}
		}
		event.Detail["clock"] = "server"
	}
	stored, err := se.events.Put(ctx, events.Entry{Event: event, Dedupe: dedupe, OfGuardian: device.Kind == motion.Guardian})
	if err == nil && event.Event == motion.MotionDetectedEvent {
		n.Mu.Lock()
		n.detected = detectedAt{device: r.Event.TS, stored: stored.TS}
		n.Mu.Unlock()
	}
	return err
}

// detectedAt is the time of a guardian's newest detection as it said it and as it
// was stored, which differ when its clock is wrong.
type detectedAt struct{ device, stored motion.Time }

// complete fills in what the appliance knows better than a device; n.Mu is held.
func (n *network) complete(event *motion.Event) {
	event.NetworkID, event.GuardianID = n.ID, n.Record.GuardianID
	if event.Category != motion.CategoryMotion {
		event.Armed = nil
	}
	if event.LinkID != "" {
		event.LinkID, event.LinkDstName, event.LinkSrcName = n.LinkName(n.AppendKeys(nil, event.LinkID)[0])
	}
	for i := range event.Loc {
		loc := &event.Loc[i]
		if mac, err := motion.ParseMAC(loc.MAC); err == nil {
			if end, ok := n.EndOf(mac); ok {
				loc.Location, loc.FriendlyName = end.Location, end.Friendly
			}
		}
	}
	if event.LocName == "" && len(event.Loc) > 0 {
		event.LocName = n.PlaceName(event.Loc[0].MAC)
	}
}
