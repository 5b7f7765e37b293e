package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// CreateEvent stores and pushes an event that a caller has made up
// (interfaces.md 4.1 no. 5) and returns the stored record. Its time is kept as
// given: who calls is no device, and may tell of the past, as far as the history goes. A motion event is
// subject to motion_events.armed: while that is 0 it comes back with an empty ID,
// neither stored nor pushed. An id, tag or armed in event is not used.
func (e *Engine) CreateEvent(ctx context.Context, event motion.Event) (motion.Event, error) {
	n, err := e.network(event.NetworkID)
	if err != nil {
		return motion.Event{}, err
	}
	if wrong := e.wrongCreation(event); wrong != nil {
		return motion.Event{}, fault.Mistakes(wrong...)
	}
	if err := n.throttle(e.options.Now()); err != nil {
		return motion.Event{}, err
	}
	if err := n.createdBy(&event); err != nil {
		return motion.Event{}, err
	}
	if event.LinkID != "" {
		event.LinkDstName, event.LinkSrcName, _ = strings.Cut(event.LinkID, ".")
	}
	event.ID, event.Tag = "", motion.PadTag("")
	settleCategory(&event)
	return e.Record(ctx, event)
}

// wrongCreation returns what is wrong with a created event: a time that the history does
// not hold, or not yet, or a category that its kind cannot have.
func (e *Engine) wrongCreation(event motion.Event) (wrong []fault.Detail) {
	now := e.now()
	latest := now.Add(maxAhead)
	if e.clocks.unset(now) {
		latest = e.clocks.built.Add(builtBefore)
	}
	switch {
	case !(event.TS > e.db.EventsSince()):
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
func (n *network) createdBy(event *motion.Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	master := n.nodes[n.record.MasterID].DeviceID
	if given := event.GuardianID; given != "" && given != n.record.GuardianID && given != master {
		return fault.New(fault.Invalid, "guardian_id: not the guardian of network %d", n.id)
	}
	event.GuardianID = n.record.GuardianID
	for _, node := range n.nodes {
		if event.DeviceID != "" && node.DeviceID == event.DeviceID {
			event.NodeID, event.NodeName = node.ID, node.Name
		}
	}
	event.Armed = nil
	if event.Category == motion.CategoryMotion {
		armed := n.guardian.MotionEvents.Armed
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
