package engine

import (
	"context"
	"math"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// maxLinks bounds the links that raw reports make known, so that a receiver that
// hears the whole neighbourhood does not fill the box: a block of samples holds
// 256 series, the network's and two of each link. Beyond it one gives way (yields).
const maxLinks = 120

// The interface names of links that no status report has listed: a report that lists
// one gives it its own.
const (
	sensedInterface = "csi"      // of links that raw reports have made known
	matrixInterface = "guardian" // of links that a guardian names in its figures alone
)

// sensedHere reports whether a link is known from what was measured alone, so that its
// silence is noticed here and not by a guardian.
func (l *linkState) sensedHere() bool { return sensedHere(l.Link) }

func sensedHere(link motion.Link) bool {
	return link.IfName == sensedInterface || link.IfName == matrixInterface
}

// rawCSI takes in a batch of CSI frames of one link (device-protocol.md 2.5).
func (e *Engine) rawCSI(ctx context.Context, n *network, s *session, device motion.Device, payload motion.RawCSI, now motion.Time) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	b := &s.batch
	if err := csi.Decode(payload, b); err != nil {
		return fault.New(fault.Malformed, "%v", err)
	}
	key := fuse.Link{Src: b.Src, Dst: b.Dst}
	if err := e.ensureLink(ctx, n, device, key, int(b.Channel), now); err != nil {
		return err
	}
	last := len(b.Frames) - 1
	n.mu.Lock()
	defer n.mu.Unlock()
	n.linkHeard(key, int(b.Frames[last].RSSI), int(b.Channel), now)
	if n.record.Paused() || !n.mayTakePart(key) {
		return nil
	}
	if !e.claim(n, ownHolds, now) {
		return fault.New(fault.Conflict, "csi: the network's guardian reports motion itself; frames are not used")
	}
	sensor := n.sensor(key)
	if format := (csiFormat{b.Channel, b.Flags&csi.GainLocked != 0}); format != sensor.format {
		if sensor.format != (csiFormat{}) {
			sensor.csi.Retune()
		}
		sensor.format = format
	}
	first := motion.Time(0)
	if b.HasClock() {
		first = b.Time(0)
	}
	base := sensor.clock.base(e.clocks, first, b.Time(last), now)
	span := motion.Seconds(b.Frames[last].Offset) / 1e6
	offset, usable := s.alignment.align(base.Add(span), n.sensing.reach.others(now, device.DeviceKey), now)
	if !usable {
		return nil
	}
	base = base.Add(offset)
	for i := range b.Frames {
		s.amplitudes = b.Amplitudes(s.amplitudes, i)
		at := base.Add(float64(b.Frames[i].Offset) / 1e6)
		sensor.csi.Push(at, s.amplitudes, b.Ends, b.Frames[i].RSSI, sensor.emit)
	}
	n.sensing.reach.note(base.Add(span), now, device.DeviceKey)
	e.absorb(n)
	return nil
}

// linkMotions takes in figures that a node computed for its links itself
// (device-protocol.md 2.6).
func (e *Engine) linkMotions(ctx context.Context, n *network, device motion.Device, r motion.LinkMotions, now motion.Time) error {
	for _, l := range r.Links {
		if err := e.ensureLink(ctx, n, device, fuse.Link{Src: l.Src, Dst: l.Dst}, 0, now); err != nil {
			return err
		}
	}
	at, _ := e.clocks.stamp(r.TS, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range r.Links {
		n.linkHeard(fuse.Link{Src: l.Src, Dst: l.Dst}, int(l.RSSI), 0, now)
	}
	if n.record.Paused() {
		return nil
	}
	if !e.claim(n, ownHolds, now) {
		return fault.New(fault.Conflict, "link-motion: the network's guardian reports motion itself; figures are not used")
	}
	for _, l := range r.Links {
		key := fuse.Link{Src: l.Src, Dst: l.Dst}
		if !n.mayTakePart(key) {
			continue
		}
		sensor := n.sensor(key)
		n.reportThroughput(sensor.key, l.Throughput, at)
		source, figure := figureOf(l)
		sensor.push(n, source, at, figure)
	}
	n.sensing.reach.note(at, now, device.DeviceKey)
	e.absorb(n)
	return nil
}

// figureOf returns what of a link-motion entry the detector works on: the
// intensity before gating, else the gated one, else the signal strength.
func figureOf(l motion.LinkMotion) (detect.Source, float64) {
	switch {
	case !math.IsNaN(l.LRaw):
		return detect.Reported, l.LRaw
	case !math.IsNaN(l.MKAI):
		return detect.Reported, l.MKAI
	}
	return detect.Signal, l.RSSI
}

// linkHeard notes a link's signal and channel, where they are not 0, and that it is
// alive.
func (n *network) linkHeard(key fuse.Link, rssi, channel int, now motion.Time) {
	name, _, _ := n.linkName(key)
	if link := n.links[name]; link != nil {
		link.heard = now
		if rssi != 0 {
			link.RSSI = rssi
		}
		if channel != 0 {
			link.Channel = channel
		}
	}
}

// ensureLink makes sure that a sounding link has its records: the destination is
// part of the reporting node, the source is a known node or becomes a leaf, and
// the link is there and online.
func (e *Engine) ensureLink(ctx context.Context, n *network, device motion.Device, key fuse.Link, channel int, now motion.Time) error {
	n.mu.Lock()
	owner, known := n.byMAC[key.Dst]
	_, knownSrc := n.endOf(key.Src)
	name, _, _ := n.linkName(key)
	link := n.links[name]
	present := knownSrc && link != nil && link.Online
	full := link == nil && len(n.links) >= maxLinks
	record := n.record
	n.mu.Unlock()
	sensed := sensedLink{src: key.Src, dst: device.NodeID, ifName: sensedInterface, channel: channel}
	switch {
	case !known || owner != device.NodeID:
		return fault.New(fault.Invalid, "destination %q is not an address of the reporting node: it must be listed in its gatekeeper record", key.Dst.String())
	case key.Src.IsZero():
		return fault.New(fault.Invalid, "source 00:00:00:00:00:00 is no address")
	case present:
		return nil
	case full:
		return e.replaceLink(ctx, n, record, now, sensed)
	}
	return e.takeInventory(ctx, n, e.addLinks(n, record, now, sensed))
}

// sensedLink is a link that is known from what was measured.
type sensedLink struct {
	src     motion.MAC
	dst     motion.NodeID
	ifName  string
	channel int // 0: unknown
}

// addLinks makes links known, and the leafs at their sources.
func (e *Engine) addLinks(n *network, record motion.Network, now motion.Time, links ...sensedLink) takeInventory {
	return func(tx *store.Tx) (*inventory, error) {
		v := newInventory(tx, record, now)
		for _, link := range links {
			if err := e.addLink(v, n, link); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
}

// addLink takes one link into an inventory.
func (e *Engine) addLink(v *inventory, n *network, l sensedLink) error {
	node, err := v.tx.Node(l.dst)
	if err != nil {
		return err
	}
	if other, ok := n.nodeAt(l.src); ok {
		return v.link(motion.Link{
			NetworkID: n.id, Dst: node.ID, DstName: node.Name, Src: other.ID, SrcName: other.Name,
			Mesh: true, Sounding: true, IfName: l.ifName, Channel: l.channel,
		})
	}
	on := motion.Radar{Interfaces: []motion.Interface{{Name: l.ifName, WifiChannel: l.channel}}}
	return v.peer(node, on, motion.RadarLink{MAC: l.src, PeerType: motion.PeerClient, IfName: l.ifName}, nil)
}

// nodeAt returns the node that has an address.
func (n *network) nodeAt(mac motion.MAC) (motion.Node, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.byMAC[mac]
	return n.nodes[id], ok
}
