package devices

import (
	"context"
	"maps"

	"sensegate/motion"
	"sensegate/store"
)

// Why a device has to wait whose network goes to another box, and a node of another maker, which
// nobody can send there.
const (
	onItsWay   = "its network is on its way to another box"
	pointThere = "its network goes, or has gone, to another box: have the node send there"
)

// moved returns the network that the post is about, when that goes, or has gone, to another box:
// that of the adopted device, or else the one that it asks to join.
func (p *post) moved() (id motion.NetworkID, is bool) {
	for _, id := range []motion.NetworkID{p.device.NetworkID, p.place.ID} {
		if _, refuses := p.state.Away(id); id != 0 && refuses {
			return id, true
		}
	}
	return 0, false
}

// known reports whether the post comes from the device that it names, as far as that can be told.
func (p *post) known() (bool, error) {
	own, err := p.showsToken()
	return own || p.recognised(), err
}

// sendOver answers a device whose network goes, or has gone, to another box. Whether it is let in
// is for that one to say, so that every device that asks is sent there. known reports whether it is
// the one that it says it is: only then it counts as sent.
func (f *Fleet) sendOver(ctx context.Context, network motion.NetworkID, deviceID string, known bool) (motion.Admission, error) {
	to, _ := f.state.Away(network)
	if to == "" {
		return motion.Admission{TryAgain: onItsWay}, nil
	}
	f.Waiting.take(ofDevice(deviceID))
	if !known {
		return motion.Admission{Redirect: to}, nil
	}
	return motion.Admission{Redirect: to}, f.noteSent(ctx, network, deviceID)
}

// noteSent notes that an adopted device was sent to another box, once.
func (f *Fleet) noteSent(ctx context.Context, network motion.NetworkID, deviceID string) error {
	if f.state.IsSent(network, deviceID) {
		return nil
	}
	var now store.Handover
	err := f.state.DB.Update(ctx, func(tx *store.Tx) error {
		device, err := tx.Device(motion.DeviceKey{Kind: motion.RadarKind, ID: deviceID})
		if err != nil || device.NetworkID != network {
			return nil // one that nobody has adopted
		}
		h, found, err := tx.Handover(network)
		if err != nil || !found {
			return err
		}
		h.Sent = maps.Clone(h.Sent)
		if h.Sent == nil {
			h.Sent = map[string]motion.Time{}
		}
		h.Sent[deviceID] = tx.Now()
		now = h
		return tx.PutHandover(h)
	})
	if err != nil || now.Network == 0 {
		f.state.Log.Warn("not noted that a device was sent to another box", "device", deviceID, "err", err)
		return nil // it is sent all the same
	}
	f.state.SetAway(now)
	f.state.Log.Info("device sent to another box", "device", deviceID, "network", network)
	return nil
}
