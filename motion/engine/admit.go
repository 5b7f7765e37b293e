package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Admit decides about a device that posts to the gatekeeper: it is adopted and gets new
// tokens, or it is listed as pending and told to try again
// (device-protocol.md 1). A post that is refused writes at most an event.
func (e *Engine) Admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	if err := checkBootstrap(&b); err != nil {
		return motion.Admission{}, err
	}
	var p *post // read only, once the transaction is over
	var v verdict
	var about []motion.Network
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		if p, err = e.newPost(tx, b, c); err != nil {
			return err
		}
		if v, err = p.judge(); err != nil {
			return err
		}
		about, err = p.about()
		return err
	})
	if err != nil {
		return motion.Admission{}, err
	}
	if v.reason == "" {
		v.reason = p.tooOften(v.how)
	}
	shown := p.shown(v.reason)
	if v.reason == "" {
		if url := v.network.Meta.Text("gatekeeper_redirect"); url != "" {
			e.pending.take(ofDevice(b.Radar.DeviceID))
			e.tellLetIn(shown, v.network.ID, p.rivals)
			return motion.Admission{Redirect: url}, nil
		}
		admission, err := e.admit(context.WithoutCancel(ctx), b, c)
		if err != nil {
			return admission, err
		}
		if admission.TryAgain == "" {
			e.tellLetIn(shown, admission.Network, p.rivals)
			return admission, nil
		}
		shown.Reason = admission.TryAgain // a session or a window has begun or ended meanwhile
	}
	if v.reason == unclaimedFull && e.giveWay(context.WithoutCancel(ctx)) || v.reason == networkFull && e.nodeGivesWay(context.WithoutCancel(ctx), p.place.ID) {
		return e.Admit(ctx, b, c)
	}
	e.pending.note(shown, e.now())
	e.tellRefused(shown, about...)
	return motion.Admission{TryAgain: shown.Reason}, nil
}

// tooOften counts a device that is let in and returns why it has to wait, "" when it has not.
// One that a window lets in counts as a stranger, unless it is recognised in its own place;
// who was replaced has none.
func (p *post) tooOften(by how) string {
	now := p.options.Now()
	stranger := by == byWindow && !(p.node.ID != 0 && p.recognised())
	switch {
	case by == byApproval || by == byPreShared:
		return ""
	case stranger && p.entries.Take(p.place.ID, now) > 0:
		return tooManyLately
	case p.comings.Take(p.key, now) > 0:
		return tooOftenLately
	}
	return ""
}

// ofDevice matches the entries of the waiting list with a deviceId.
func ofDevice(id string) func(motion.PendingDevice) bool {
	return func(p motion.PendingDevice) bool { return p.DeviceID == id }
}

// errNotAdmitted rolls back what a post has changed.
var errNotAdmitted = fault.New(fault.Conflict, "not admitted")

// admit lets a device in, with its event, in one commit; the rules are asked again in
// it, and the answer can still be that it has to try again. ctx must not end before
// that, so that the memory follows.
func (e *Engine) admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	var in arrival
	var cause error // of ours; that of an arrival must not stop the writer of events
	var waited []motion.PendingDevice
	err := e.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		if in, cause = e.arrive(tx, b, c); cause != nil || in.admission.TryAgain != "" {
			return nil, errNotAdmitted
		}
		if waited = e.pending.take(ofDevice(b.Radar.DeviceID)); len(waited) > 0 {
			if cause = tx.SetPending(e.pending.list()); cause != nil {
				return nil, errNotAdmitted
			}
		}
		return in.events, nil
	})
	if err != nil {
		e.pending.putBack(waited)
	}
	switch {
	case cause != nil:
		return motion.Admission{}, cause
	case in.admission.TryAgain != "":
		return in.admission, nil
	case err != nil:
		return motion.Admission{}, err
	}
	for _, key := range in.ended {
		e.dismiss(key, "device replaced")
	}
	if err := e.moved(ctx, in.before, in.after, c); err != nil {
		return motion.Admission{}, err
	}
	e.log.Info("device admitted", "device", b.Radar.DeviceID, "network", in.after.NetworkID, "address", c.Address, "by", in.how)
	return in.admission, nil
}

// moved brings the memory up to date with a node that was admitted: of the network
// that it is in, and of the one that it was in.
func (e *Engine) moved(ctx context.Context, before, after motion.Node, c motion.Credentials) error {
	e.mu.Lock()
	if s := e.sessions[motion.DeviceKey{Kind: motion.RadarKind, ID: after.DeviceID}]; s != nil {
		s.device.NetworkID, s.device.NodeID, s.device.Address = after.NetworkID, after.ID, c.Address.String()
	}
	e.mu.Unlock()
	if before.NetworkID != 0 && before.NetworkID != after.NetworkID {
		if err := e.cancelCommands(ctx, before.NetworkID, after.ID); err != nil {
			return err
		}
		if err := e.reload(ctx, before.NetworkID); err != nil {
			return err
		}
	}
	return e.reload(ctx, after.NetworkID)
}

// checkBootstrap checks what a device must say of itself, and settles where its
// location id stands.
func checkBootstrap(b *motion.Bootstrap) error {
	if b.LocationID == "" {
		b.LocationID = b.Radar.LocationID
	}
	b.Radar.LocationID = b.LocationID
	if b.Radar.NodeName == "" {
		b.Radar.NodeName = b.Radar.DeviceID
	}
	switch {
	case !plainName(b.Radar.DeviceID):
		return fault.New(fault.Invalid, "radar_status.deviceId: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !plainName(b.Radar.NodeName):
		return fault.New(fault.Invalid, "radar_status.node_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !plainName(b.LocationID):
		return fault.New(fault.Invalid, "location_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	}
	return nil
}

// plainName reports whether s can be a client id and a level of a topic.
func plainName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == ':'
		if !plain {
			return false
		}
	}
	return true
}

// guardianOf returns the guardian id of the network that a radar leads, "" when it leads
// none.
func guardianOf(tx *store.Tx, radar string) (string, error) {
	device, err := tx.Device(motion.DeviceKey{Kind: motion.RadarKind, ID: radar})
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	network, err := tx.Network(device.NetworkID)
	if err != nil || network.MasterID != device.NodeID {
		return "", err
	}
	return network.GuardianID, nil
}

// RemoveDevice revokes a device: its tokens end at once and its session is closed, and of
// a network's master those of its guardian too. What
// waits with that deviceId, or as the entry of that id, is dropped from the list.
func (e *Engine) RemoveDevice(ctx context.Context, id string) error {
	var removed []motion.DeviceKey
	waited := e.pending.take(func(p motion.PendingDevice) bool { return p.ID == id || p.DeviceID == id })
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		guardian, err := guardianOf(tx, id)
		if err != nil {
			return err
		}
		removed = nil
		for _, key := range []motion.DeviceKey{{Kind: motion.RadarKind, ID: id}, {Kind: motion.Guardian, ID: guardian}, {Kind: motion.Guardian, ID: id}} {
			if key.Kind == motion.Guardian && key.ID == id && len(removed) > 0 {
				break // the guardian of another network, with the name of a radar
			}
			if _, err := tx.Device(key); err == nil {
				removed = append(removed, key)
				if err := tx.DeleteDevice(key); err != nil {
					return err
				}
			}
		}
		if len(removed)+len(waited) == 0 {
			return fault.New(fault.NotFound, "device %q is neither adopted nor pending: see device list", id)
		}
		return tx.SetPending(e.pending.list())
	})
	if err != nil {
		e.pending.putBack(waited)
		return err
	}
	for _, key := range removed {
		e.dismiss(key, "device removed")
	}
	return nil
}

// dismiss ends the session of a device that was removed.
func (e *Engine) dismiss(key motion.DeviceKey, why string) {
	e.forget(key) // first, so that one that is connecting just now finds itself removed
	e.returns.forget(key)
	e.devices.Disconnect(key, why)
}
