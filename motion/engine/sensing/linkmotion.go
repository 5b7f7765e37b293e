package sensing

import (
	"context"
	"math"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
)

// LinkMotions takes in figures that a node computed for its links itself
// (device-protocol.md 2.6).
func (se *Sensing) LinkMotions(ctx context.Context, of *state.Network, device motion.Device, r motion.LinkMotions, now motion.Time) error {
	n := networkOf(of)
	for _, l := range r.Links {
		if err := se.ensureLink(ctx, n, device, fuse.Link{Src: l.Src, Dst: l.Dst}, 0, now); err != nil {
			return err
		}
	}
	at, _ := se.state.OwnClock.Stamp(r.TS, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, l := range r.Links {
		n.linkHeard(fuse.Link{Src: l.Src, Dst: l.Dst}, int(l.RSSI), 0, now)
	}
	if n.Record.Paused() {
		return nil
	}
	if !se.claim(n, state.OwnHolds, now) {
		return fault.New(fault.Conflict, "link-motion: the network's guardian reports motion itself; figures are not used")
	}
	for _, l := range r.Links {
		key := fuse.Link{Src: l.Src, Dst: l.Dst}
		if !n.MayTakePart(key) {
			continue
		}
		sensor := n.sensor(key)
		n.reportThroughput(sensor.key, l.Throughput, at)
		sensor.decides = l.Decides
		source, figure := figureOf(l)
		sensor.push(n, source, at, figure)
		if source == detect.Reported && math.IsNaN(l.LRaw) {
			n.levels.cut = at
		}
	}
	n.Reach.Note(at, now, device.DeviceKey)
	se.absorb(n)
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
