package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/series"
	"sensegate/store"
)

// maxNames bounds the link names that are remembered although no record explains
// them.
const maxNames = 1024

// matrix takes in the motion that a guardian has computed (device-protocol.md
// 2.2). As long as the guardian sends no events itself, the event machine runs
// on it, and as long as it reports no status, its links make the topology.
func (e *Engine) matrix(n *network, r motion.Matrix, now motion.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.record.Paused() {
		return nil
	}
	if !e.claim(n, guardianHolds, now) {
		return fault.New(fault.Conflict, "motion-matrix: the network is sensed by the appliance itself; samples are not used")
	}
	if added := n.newMatrixLinks(r.Links); len(added) > 0 && math.Abs(now.Since(n.named)) >= namedAgain {
		n.named = now
		e.recorder.append(inventoryEntry(n, e.addLinks(n, n.record, now, added...))) // live motion does not wait for it
	}
	e.takeMatrix(n, r, now)
	return nil
}

// namedAgain is the time between two tries to make the links of matrices known.
const namedAgain motion.Seconds = 10

// newMatrixLinks returns the links that a guardian names in its figures, that are not
// there, and that no status report will tell of: those from a leaf or node to a node
// that is known (device-protocol.md 2.5); n.mu is held.
func (n *network) newMatrixLinks(names []string) (added []sensedLink) {
	if n.status != nil {
		return nil
	}
	for _, name := range names {
		key := n.linkKey(name)
		to, _ := n.endOf(key.Dst)
		if _, known := n.endOf(key.Src); !known {
			_, src, _ := strings.Cut(name, ".")
			if mac, err := motion.ParseMAC(src); err != nil || mac.IsZero() {
				continue
			}
			delete(n.sensing.names, key) // the records will explain it
		}
		stable, _, _ := n.linkName(key)
		link := n.links[stable]
		if !to.mesh || link != nil && link.Online || link == nil && len(n.links)+len(added) >= maxLinks {
			continue
		}
		added = append(added, sensedLink{src: key.Src, dst: to.id, ifName: matrixInterface})
	}
	return added
}

// takeMatrix takes in the samples of a matrix; n.mu is held.
func (e *Engine) takeMatrix(n *network, r motion.Matrix, now motion.Time) {
	guardian := n.record.GuardianKey()
	interval := motion.Seconds(r.Interval) / 1000
	first, server := e.clocks.stamp(r.TS, now)
	if server { // the last step is what came now
		first = first.Add(-float64(r.Count-1) * interval)
	}
	n.heartbeat.MotionTripped = &r.MotionTripped
	n.heartbeat.LastMotion = max(n.heartbeat.LastMotion, shifted(r.LastMotion, r.TS, first))
	if len(n.sensing.names) > maxNames {
		clear(n.sensing.names)
	}
	keys := make([]fuse.Link, len(r.Links))
	for i, name := range r.Links {
		keys[i] = n.linkKey(name)
	}
	for step := range r.Count {
		at := first.Add(float64(step) * interval)
		s := fuse.FromLinks(at, interval, n.matrixLinks(r, keys, step), n.guardian.Leafblower.ZonePriorityList)
		if len(r.Loc) > 0 {
			if place := n.matrixPlace(r.Loc[0], keys); n.mayTakePart(place.Link) {
				s.Locate(place)
			}
		}
		e.takeSample(n, s)
		n.sensing.reach.note(at, now, guardian)
	}
	for _, key := range keys {
		n.linkHeard(key, 0, 0, now)
	}
}

// matrixLinks returns the links of one step of a matrix. A link that the settings
// deny is unknown, and one below its threshold does not move.
func (n *network) matrixLinks(r motion.Matrix, keys []fuse.Link, step int) []fuse.LinkSample {
	links := make([]fuse.LinkSample, len(keys))
	for i, key := range keys {
		links[i] = fuse.UnknownLink(key, n.zoneName(key))
		if !n.mayTakePart(key) {
			continue
		}
		read := func(figure string, into *fuse.Reading) {
			if values := r.Values[figure]; i < len(values) && step < len(values[i]) {
				*into = fuse.Reading(values[i][step])
			}
		}
		read("mkai", &links[i].Intensity)
		read("lraw", &links[i].Raw)
		read("throughput", &links[i].Throughput)
		read("msad", &links[i].MSAD)
		read("mconf", &links[i].MConf)
		links[i].Intensity = fuse.Reading(n.gated(float64(links[i].Intensity), float64(links[i].MSAD), n.sensOf(key)))
	}
	return links
}

// gated returns the intensity of a sample that a device has measured: 0 unless its
// msad is above base_threshold times the sensitivity (device-protocol.md 3).
// NaN is unknown: a sample without msad has been gated by the device alone.
func (n *network) gated(intensity, msad float64, sens int) float64 {
	if msad <= n.radar.Measurement.BaseThreshold*float64(sens) && !math.IsNaN(intensity) {
		return 0
	}
	return intensity
}

// matrixPlace returns where a device thinks motion was: near the first of its
// links that has its source there.
func (n *network) matrixPlace(loc motion.MatrixLoc, keys []fuse.Link) fuse.Place {
	key := fuse.Link{Src: loc.MAC}
	if i := slices.IndexFunc(keys, func(k fuse.Link) bool { return k.Src == loc.MAC }); i >= 0 {
		key = keys[i]
	}
	return fuse.Place{Zone: n.zoneName(key), Link: key, Share: 1, Confidence: loc.Confidence}
}

// zoneName returns the zone of a link; one without a location is a zone of its
// own.
func (n *network) zoneName(key fuse.Link) string {
	if zone := n.zone(key); zone != "" {
		return zone
	}
	return key.Src.String()
}

// maxHistory is how long samples of 5 s are kept (payloads.md 6 no. 9).
const maxHistory motion.Seconds = 7 * 24 * 3600

// historySlot is the resolution of what devices report afterwards, in seconds.
const historySlot = int64(series.FiveSeconds)

// history takes in what a device measured while nobody watched (device-protocol.md
// 2.3): it fills gaps and raises no event.
func (e *Engine) history(n *network, s *session, r motion.History, now motion.Time) error {
	if r.TS.IsZero() {
		return fault.New(fault.Invalid, "motion-history: ts 0 is no time, and the receive time says nothing about the past")
	}
	end := r.TS.Add(float64(r.Count) * float64(r.Interval) / 1000)
	if e.clocks.unset(now) && !e.clocks.believable(r.TS, now) {
		return fault.New(fault.Invalid, "motion-history: ts is not believed while the appliance's own clock is not set")
	}
	if !e.clocks.unset(now) && (now.Since(r.TS) > maxHistory || now.Since(end) < -maxAhead) {
		return fault.New(fault.Invalid, "motion-history: want samples of the last 7 days: older ones are not kept, later ones have not happened")
	}
	if !e.clocks.believable(r.TS, now) && !e.clockTrusted(s) {
		return fault.New(fault.Invalid, "motion-history: over a day old from a device whose clock is not known to be right")
	}
	n.mu.Lock()
	unwanted := n.record.Paused() || n.guardian.MotionHistory.Enabled == 0
	for i, msad := range r.MSAD {
		r.MKAI[i] = n.gated(r.MKAI[i], msad, n.guardian.MotionEvents.Sens)
	}
	n.mu.Unlock()
	if unwanted {
		return nil
	}
	e.fill(n, r)
	return nil
}

// fill puts a history into the 5 s samples.
func (e *Engine) fill(n *network, r motion.History) {
	slots, order := slotsOf(r)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.deletions > 0 {
		return
	}
	for _, at := range order {
		e.samples.Fill(n.id, motion.Time(at), slots[at].values(r.MACs))
	}
}

// slot is what the samples of a history that fall into one 5 s sample come to.
type slot struct {
	peak   float64
	moving int       // samples in motion
	told   []bool    // by place: whether a sample told its share
	shares []float64 // by place, of the samples in motion
}

// slotsOf distributes a history over 5 s samples, and returns their times in order. A
// sample goes to each slot whose middle it covers, so that 60 samples of 5 s make 60
// whenever they begin; a shorter one that covers none goes to the slot it begins in.
func slotsOf(r motion.History) (slots map[int64]*slot, order []int64) {
	step := motion.Seconds(r.Interval) / 1000
	slots = map[int64]*slot{}
	for i, intensity := range r.MKAI {
		if math.IsNaN(intensity) {
			continue
		}
		from := r.TS.Add(float64(i) * step)
		first, stop := slotFrom(from), slotFrom(from.Add(step))
		if first >= stop {
			first = floorTo(from.Second(), historySlot)
			stop = first + historySlot
		}
		for at := first; at < stop; at += historySlot {
			if slots[at] == nil {
				slots[at] = &slot{told: make([]bool, len(r.MACs)), shares: make([]float64, len(r.MACs))}
				order = append(order, at)
			}
			slots[at].add(intensity, r, i)
		}
	}
	return slots, order
}

// slotFrom returns the first slot whose middle is not before t.
func slotFrom(t motion.Time) int64 {
	return historySlot * int64(math.Ceil(float64(t)/float64(historySlot)-0.5))
}

// add takes in sample i of a history. Of a place that the history names and the sample
// says nothing of, nothing of the sample's motion was there: a list of shares may be empty
// (device-protocol.md 2.3). A share that is not a number is unknown.
func (s *slot) add(intensity float64, r motion.History, i int) {
	s.peak = max(s.peak, intensity)
	if intensity > 0 {
		s.moving++
	}
	if i >= len(r.Density) {
		return
	}
	for k := range r.MACs {
		share := 0.0
		if k < len(r.Density[i]) {
			share = r.Density[i][k]
		}
		switch {
		case math.IsNaN(share):
			continue
		case intensity > 0:
			s.shares[k] += share
		}
		s.told[k] = true
	}
}

// values returns the intensity, and of each place the mean share of the samples in motion.
func (s *slot) values(places []motion.MAC) []store.Value {
	values := []store.Value{{ID: series.Network, Value: s.peak}}
	for k, mac := range places {
		if s.told[k] {
			values = raise(values, series.Location(mac), s.shares[k]/float64(max(s.moving, 1)))
		}
	}
	return values
}

func floorTo(v, step int64) int64 { return v - v%step }

// deviceEvent takes in an event that a device raised (device-protocol.md 2.4). It
// returns when the event is stored.
func (e *Engine) deviceEvent(ctx context.Context, n *network, device motion.DeviceKey, r motion.EventReport, now motion.Time) error {
	event := r.Event
	at, server := e.clocks.stamp(event.TS, now)
	n.mu.Lock()
	if event.Category == motion.CategoryMotion {
		if n.record.Paused() || n.guardian.MotionEvents.Enabled == 0 {
			n.mu.Unlock()
			return nil
		}
		if !e.claim(n, guardianHolds, now) {
			n.mu.Unlock()
			return fault.New(fault.Conflict, "event: the network is sensed by the appliance itself; the event is not used")
		}
		e.guardianRaises(n, now)
		if event.DetectedTS == n.detected.device {
			event.DetectedTS = n.detected.stored
		}
		if event.Armed == nil {
			armed := n.guardian.MotionEvents.Armed
			event.Armed = &armed
		}
	}
	n.complete(&event)
	n.mu.Unlock()
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
	stored, err := e.recordEntry(ctx, entry{event: event, dedupe: dedupe, ofGuardian: device.Kind == motion.Guardian})
	if err == nil && event.Event == motion.MotionDetectedEvent {
		n.mu.Lock()
		n.detected = detectedAt{device: r.Event.TS, stored: stored.TS}
		n.mu.Unlock()
	}
	return err
}

// detectedAt is the time of a guardian's newest detection as it said it and as it
// was stored, which differ when its clock is wrong.
type detectedAt struct{ device, stored motion.Time }

// complete fills in what the appliance knows better than a device; n.mu is held.
func (n *network) complete(event *motion.Event) {
	event.NetworkID, event.GuardianID = n.id, n.record.GuardianID
	if event.Category != motion.CategoryMotion {
		event.Armed = nil
	}
	if event.LinkID != "" {
		event.LinkID, event.LinkDstName, event.LinkSrcName = n.linkName(n.linkKey(event.LinkID))
	}
	for i := range event.Loc {
		loc := &event.Loc[i]
		if mac, err := motion.ParseMAC(loc.MAC); err == nil {
			if end, ok := n.endOf(mac); ok {
				loc.Location, loc.FriendlyName = end.location, end.friendly
			}
		}
	}
	if event.LocName == "" && len(event.Loc) > 0 {
		event.LocName = n.placeName(event.Loc[0].MAC)
	}
}
