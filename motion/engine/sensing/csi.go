package sensing

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
)

// Taker takes in a batch of CSI that a link senses from: the link's name, the time of the first frame,
// and what tells the formats of its device apart (see RawCSI). It runs under the network's mutex: it
// must not block, and must not keep the batch.
type Taker = func(network motion.NetworkID, link string, b *csi.Batch, format uint16, base motion.Time)

// Record hands each batch of CSI that links sense from to take from now on; nil: to nobody any more.
func (se *Sensing) Record(take Taker) {
	if take == nil {
		se.recorder.Store(nil)
		return
	}
	se.recorder.Store(&take)
}

// RawCSI takes in a batch of CSI frames of one link (device-protocol.md 2.5). format tells apart what the
// device measures in another way on the same link: motion.NodeCSI.
func (se *Sensing) RawCSI(ctx context.Context, of *state.Network, s *state.Session, device motion.Device, payload motion.RawCSI, format uint16, now motion.Time) error {
	n := networkOf(of)
	s.Reading.Lock()
	defer s.Reading.Unlock()
	b := &s.Batch
	if err := csi.Decode(payload, b); err != nil {
		return fault.New(fault.Malformed, "%v", err)
	}
	key := fuse.Link{Src: b.Src, Dst: b.Dst}
	if err := se.ensureLink(ctx, n, device, key, int(b.Channel), now); err != nil {
		return err
	}
	last := len(b.Frames) - 1
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.linkHeard(key, int(b.Frames[last].RSSI), int(b.Channel), now)
	if n.Record.Paused() || !n.MayTakePart(key) {
		return nil
	}
	if !se.claim(n, state.OwnHolds, now) {
		return fault.New(fault.Conflict, "csi: the network's guardian reports motion itself; frames are not used")
	}
	sensor := n.sensor(key)
	sensor.csi.SetFormat(formatNumber(b, format))
	first := motion.Time(0)
	if b.HasClock() {
		first = b.Time(0)
	}
	base := sensor.clock.Base(&se.state.OwnClock, first, b.Time(last), now)
	span := motion.Seconds(b.Frames[last].Offset) / 1e6
	offset, usable := s.Alignment.Align(base.Add(span), n.Reach.Others(now, device.DeviceKey), now)
	if !usable {
		return nil
	}
	base = base.Add(offset)
	if take := se.recorder.Load(); take != nil {
		(*take)(n.ID, n.NameOf(key), b, format, base)
	}
	for i := range b.Frames {
		s.Amplitudes = b.Amplitudes(s.Amplitudes, i)
		at := base.Add(float64(b.Frames[i].Offset) / 1e6)
		sensor.csi.Push(at, s.Amplitudes, b.Ends, b.Frames[i].RSSI, sensor.emit)
	}
	n.Reach.Note(base.Add(span), now, device.DeviceKey)
	se.absorb(n)
	return nil
}

// formatNumber returns the number that batches have in common whose frames a detector may compare: those of
// one channel, with or without a locked gain, and of one format of the device.
func formatNumber(b *csi.Batch, format uint16) uint32 {
	number := uint32(format)<<16 | uint32(b.Channel)
	if b.Flags&csi.GainLocked != 0 {
		number |= 1 << 8
	}
	return number
}

// linkHeard notes a link's signal and channel, where they are not 0, and that it is
// alive.
func (n *network) linkHeard(key fuse.Link, rssi, channel int, now motion.Time) {
	if link := n.FactsOf(key).Link; link != nil {
		link.Heard = now
		if rssi != 0 {
			link.RSSI = rssi
		}
		if channel != 0 {
			link.Channel = channel
		}
	}
}
