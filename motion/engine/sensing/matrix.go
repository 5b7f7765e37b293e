package sensing

import (
	"math"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
)

// Matrix takes in the motion that a guardian has computed (device-protocol.md
// 2.2). As long as the guardian sends no events itself, the event machine runs
// on it, and as long as it reports no status, its links make the topology.
func (se *Sensing) Matrix(of *state.Network, r *motion.Matrix, now motion.Time) error {
	n := networkOf(of)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Record.Paused() {
		return nil
	}
	if !se.claim(n, state.GuardianHolds, now) {
		return fault.New(fault.Conflict, "motion-matrix: the network is sensed by the appliance itself; samples are not used")
	}
	if math.Abs(now.Since(n.named)) >= namedAgain {
		if added := n.newMatrixLinks(r.Links); len(added) > 0 {
			n.named = now
			se.events.Queue(inventory.UpdateEntry(n.Network, se.addLinks(n, n.Record, now, added...))) // live motion does not wait for it
		}
	}
	se.takeMatrix(n, r, now)
	return nil
}

// namedAgain is the time between two tries to make the links of matrices known.
const namedAgain motion.Seconds = 10

// newMatrixLinks returns the links that a guardian names in its figures, that are not
// there, and that no status report will tell of: those from a leaf or node to a node
// that is known (device-protocol.md 2.5); n.Mu is held.
func (n *network) newMatrixLinks(names []string) (added []foundLink) {
	if n.Status != nil {
		return nil
	}
	for _, name := range names {
		if link := n.Links[name]; link != nil && link.Online {
			continue
		}
		key, _ := n.KeyOf(name)
		to, _ := n.EndOf(key.Dst)
		if !to.Mesh {
			continue
		}
		if _, known := n.EndOf(key.Src); !known {
			_, src, _ := strings.Cut(name, ".")
			if mac, err := motion.ParseMAC(src); err != nil || mac.IsZero() {
				continue
			}
			n.Explained(key)
		}
		link := n.Links[n.NameOf(key)]
		if link != nil && link.Online || link == nil && len(n.Links)+len(added) >= inventory.MaxLinks {
			continue
		}
		added = append(added, foundLink{src: key.Src, dst: to.ID, ifName: state.MatrixInterface})
	}
	return added
}

// takeMatrix takes in the samples of a matrix; n.Mu is held.
func (se *Sensing) takeMatrix(n *network, r *motion.Matrix, now motion.Time) {
	guardian := n.Record.GuardianKey()
	interval := motion.Seconds(r.Interval) / 1000
	first, server := se.state.OwnClock.Stamp(r.TS, now)
	if server { // the last step is what came now
		first = first.Add(-float64(r.Count-1) * interval)
	}
	tripped := r.MotionTripped
	n.Heartbeat.MotionTripped = &tripped
	n.Heartbeat.LastMotion = max(n.Heartbeat.LastMotion, state.Shifted(r.LastMotion, r.TS, first))
	keys := n.AppendKeys(n.pipeline.keys[:0], r.Links...)
	s := n.pipeline.spare()
	for step := range r.Count {
		at := first.Add(float64(step) * interval)
		s.SetLinks(at, interval, n.matrixLinks(s.Links[:0], &r.Values, keys, step), n.Guardian.Leafblower.ZonePriorityList)
		if len(r.Loc) > 0 {
			if place := n.matrixPlace(r.Loc[0], keys); n.MayTakePart(place.Link) {
				s.Locate(place)
			}
		}
		if n.walk != nil && n.walk.Running() {
			n.walkSample(s)
		}
		se.takeSample(n, s)
		n.Reach.Note(at, now, guardian)
	}
	if len(keys) <= inventory.MaxLinks { // what more take is not kept
		n.pipeline.free, n.pipeline.keys = append(n.pipeline.free, s), keys
	}
	for _, key := range keys {
		n.linkHeard(key, 0, 0, now)
	}
}

// matrixLinks appends the links of one step of a matrix to links, which has none. A link that the settings
// deny is unknown, and one below its threshold does not move.
func (n *network) matrixLinks(links []fuse.LinkSample, values *motion.Figures, keys []fuse.Link, step int) []fuse.LinkSample {
	for i, key := range keys {
		facts := n.FactsOf(key)
		links = append(links, fuse.UnknownLink(key, facts.ZoneName))
		if !facts.TakesPart {
			continue
		}
		l := &links[i]
		read := func(figure motion.Figure) fuse.Reading { return cell(values[figure], i, step) }
		l.Raw, l.Throughput, l.MSAD, l.MConf = read(motion.LRaw), read(motion.Throughput), read(motion.MSAD), read(motion.MConf)
		l.Intensity = fuse.Reading(n.gated(float64(read(motion.MKAI)), float64(l.MSAD), facts.Sens))
		on := fuse.Reading(n.gate(facts.Sens))
		if l.MConf > on { // both must be exceeded
			on = l.MConf
		}
		if on > 0 {
			l.Reach = l.MSAD / on
		}
	}
	return links
}

// cell returns the value of a figure for a link and a step.
func cell(rows [][]float64, link, step int) fuse.Reading {
	if link < len(rows) && step < len(rows[link]) {
		return fuse.Reading(rows[link][step])
	}
	return fuse.Unknown()
}

// gated returns the intensity of a sample that a device has measured: 0 unless its
// msad is above base_threshold times the sensitivity (device-protocol.md 3).
// NaN is unknown: a sample without msad has been gated by the device alone.
func (n *network) gated(intensity, msad float64, sens int) float64 {
	if msad <= n.gate(sens) && !math.IsNaN(intensity) {
		return 0
	}
	return intensity
}

// gate returns what msad must exceed at a sensitivity.
func (n *network) gate(sens int) float64 { return n.Radar.Measurement.BaseThreshold * float64(sens) }

// matrixPlace returns where a device thinks motion was: near the first of its
// links that has its source there.
func (n *network) matrixPlace(loc motion.MatrixLoc, keys []fuse.Link) fuse.Place {
	key := fuse.Link{Src: loc.MAC}
	if i := slices.IndexFunc(keys, func(k fuse.Link) bool { return k.Src == loc.MAC }); i >= 0 {
		key = keys[i]
	}
	return fuse.Place{Zone: n.ZoneName(key), Link: key, Share: 1, Confidence: loc.Confidence}
}
