package devices

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Admit decides about a device that posts to the gatekeeper: it is adopted and gets new
// tokens, or it is listed as pending and told to try again
// (device-protocol.md 1). A post that is refused writes at most an event.
func (f *Fleet) Admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	if err := checkBootstrap(&b); err != nil {
		return motion.Admission{}, err
	}
	return f.decide(ctx, b, c)
}

// decide is Admit for a device that says of itself what it must.
func (f *Fleet) decide(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	var p *post // after the View its tx is over: only what is in memory may be asked
	var v verdict
	var about []motion.Network
	moved, away, known, gone := motion.NetworkID(0), false, false, ""
	err := f.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		if p, err = f.newPost(tx, b, c); err != nil {
			return err
		}
		if moved, away = p.moved(); away {
			known, err = p.known()
			return err
		}
		if gone = f.state.Departed(p.key.ID, b.LocationID); gone != "" && !p.adopted() {
			return nil
		}
		gone = ""
		if v, err = p.judge(); err != nil {
			return err
		}
		about, err = p.about()
		return err
	})
	if err != nil {
		return motion.Admission{}, err
	}
	if away {
		return f.sendOver(context.WithoutCancel(ctx), moved, b.Radar.DeviceID, known)
	}
	if gone != "" {
		return motion.Admission{Redirect: gone}, nil
	}
	if v.reason == "" {
		v.reason = p.tooOften(v.how)
	}
	shown := p.shown(v.reason)
	if v.reason == "" {
		if url := v.network.Meta.Text("gatekeeper_redirect"); url != "" {
			f.Waiting.take(ofDevice(b.Radar.DeviceID))
			f.tellLetIn(shown, v.network.ID, p.rivals)
			return motion.Admission{Redirect: url}, nil
		}
		admission, err := f.admit(context.WithoutCancel(ctx), b, c)
		if err != nil {
			return admission, err
		}
		if admission.TryAgain == "" {
			f.tellLetIn(shown, admission.Network, p.rivals)
			return admission, nil
		}
		shown.Reason = admission.TryAgain // a session or a window has begun or ended meanwhile
	}
	if v.reason == unclaimedFull && f.giveWay(context.WithoutCancel(ctx)) || v.reason == networkFull && f.nodeGivesWay(context.WithoutCancel(ctx), p.place.ID) {
		return f.decide(ctx, b, c)
	}
	f.Waiting.note(shown, f.state.Now())
	f.tellRefused(shown, about...)
	return motion.Admission{TryAgain: shown.Reason}, nil
}

// tooOften counts a device that is let in and returns why it has to wait, "" when it has not.
// One that a window lets in counts as a stranger, unless it is recognised in its own place;
// who was replaced has none.
func (p *post) tooOften(by how) string {
	now := p.state.Wall()
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
func (f *Fleet) admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	var in arrival
	var cause error // of ours; that of an arrival must not stop the writer of events
	var waited []motion.PendingDevice
	err := f.events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		if in, cause = f.arrive(tx, b, c); cause != nil || in.admission.TryAgain != "" {
			return nil, errNotAdmitted
		}
		if waited = f.Waiting.take(ofDevice(b.Radar.DeviceID)); len(waited) > 0 {
			if cause = f.Waiting.Store(tx); cause != nil {
				return nil, errNotAdmitted
			}
		}
		return in.events, nil
	})
	if err != nil {
		f.Waiting.putBack(waited)
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
		f.dismiss(key, "device replaced")
	}
	if err := f.moved(ctx, in.before, in.after, c); err != nil {
		return motion.Admission{}, err
	}
	f.state.Log.Info("device admitted", "device", b.Radar.DeviceID, "network", in.after.NetworkID, "address", c.Address, "by", in.how)
	return in.admission, nil
}

// moved brings the memory up to date with a node that was admitted: of the network
// that it is in, and of the one that it was in.
func (f *Fleet) moved(ctx context.Context, before, after motion.Node, c motion.Credentials) error {
	f.state.MoveSession(inventory.RadarOf(after), after.NetworkID, after.ID, c.Address.String())
	if before.NetworkID != 0 && before.NetworkID != after.NetworkID {
		if err := f.commands.Cancel(ctx, before.NetworkID, after.ID); err != nil {
			return err
		}
		if err := f.state.Reload(ctx, before.NetworkID); err != nil {
			return err
		}
	}
	return f.state.Reload(ctx, after.NetworkID)
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
	case motion.IsNodeID(b.Radar.DeviceID):
		return fault.New(fault.Invalid, "radar_status.deviceId: an id that begins with node: is that of a node of another maker, which does not come here")
	case !inventory.PlainName(b.Radar.DeviceID):
		return fault.New(fault.Invalid, "radar_status.deviceId: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !inventory.PlainName(b.Radar.NodeName):
		return fault.New(fault.Invalid, "radar_status.node_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !inventory.PlainName(b.LocationID):
		return fault.New(fault.Invalid, "location_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	}
	return nil
}
