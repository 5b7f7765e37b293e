package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
)

// CreateEvent stores and pushes an event that a caller has made up
// (interfaces.md 4.1 no. 5) and returns the stored record. Its time is kept as
// given: who calls is no device, and may tell of the past, as far as the history goes. A motion event is
// subject to motion_events.armed: while that is 0 it comes back with an empty ID,
// neither stored nor pushed. An id, tag or armed in event is not used.
func (w *Writer) CreateEvent(ctx context.Context, event motion.Event) (motion.Event, error) {
	n, err := w.state.Network(event.NetworkID)
	if err != nil {
		return motion.Event{}, err
	}
	if wrong := w.wrongCreation(event); wrong != nil {
		return motion.Event{}, fault.Mistakes(wrong...)
	}
	if err := throttle(n, w.state.Wall()); err != nil {
		return motion.Event{}, err
	}
	if err := createdBy(n, &event); err != nil {
		return motion.Event{}, err
	}
	if event.LinkID != "" {
		event.LinkDstName, event.LinkSrcName, _ = strings.Cut(event.LinkID, ".")
	}
	event.ID, event.Tag = "", motion.PadTag("")
	settleCategory(&event)
	return w.Record(ctx, event)
}

// wrongCreation returns what is wrong with a created event: a time that the history does
// not hold, or not yet, or a category that its kind cannot have.
func (w *Writer) wrongCreation(event motion.Event) (wrong []fault.Detail) {
	now := w.state.Now()
	latest := now.Add(state.MaxAhead)
	if w.state.OwnClock.IsUnset(now) {
		latest = w.state.OwnClock.Built.Add(state.BelievedAfterBuild)
	}
	switch {
	case !(event.TS > w.state.DB.EventsSince()):
		wrong = append(wrong, fault.Detail{Location: "body.ts", Message: "is before the time for which events are kept", Value: float64(event.TS)})
	case event.TS > latest:
		wrong = append(wrong, fault.Detail{Location: "body.ts", Message: "is more than five minutes ahead of the appliance's clock", Value: float64(event.TS)})
	}
	if event.DetectedTS > event.TS {
		wrong = append(wrong, fault.Detail{Location: "body.evt_detected_ts", Message: "must not be after ts", Value: float64(event.DetectedTS)})
	}
	if raw, err := json.Marshal(event); err == nil && len(raw) > motion.MaxEvent {
		wrong = append(wrong, fault.Detail{Location: "body", Message: fmt.Sprintf("must not make an event of more than %d bytes", motion.MaxEvent)})
	}
	if kind, known := motion.EventKindOf(event.Event); known && !kind.Takes(event.Category) {
		wrong = append(wrong, fault.Detail{
			Location: "body.category", Message: "cannot be that of a " + kind.Name + ": want " + string(kind.Category), Value: event.Category,
		})
	}
	return wrong
}

// createdBy fills in what the records of the network say of a created event.
func createdBy(n *state.Network, event *motion.Event) error {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	master := n.Nodes[n.Record.MasterID].DeviceID
	if given := event.GuardianID; given != "" && given != n.Record.GuardianID && given != master {
		return fault.New(fault.Invalid, "guardian_id: not the guardian of network %d", n.ID)
	}
	event.GuardianID = n.Record.GuardianID
	for _, node := range n.Nodes {
		if event.DeviceID != "" && node.DeviceID == event.DeviceID {
			event.NodeID, event.NodeName = node.ID, node.Name
		}
	}
	event.Armed = nil
	if event.Category == motion.CategoryMotion {
		armed := n.Guardian.MotionEvents.Armed
		event.Armed = &armed
	}
	return nil
}

// settleCategory turns the categories that only creation knows into System, and
// keeps the given one in detail (payloads.md 4.8).
func settleCategory(event *motion.Event) {
	switch event.Category {
	case motion.CategoryUser, motion.CategoryDevice, motion.CategoryInternal:
	default:
		return
	}
	detail := event.Detail.Clone()
	if detail == nil {
		detail = motion.Document{}
	}
	detail["category"] = string(event.Category)
	event.Category, event.Detail = motion.CategorySystem, detail
}
