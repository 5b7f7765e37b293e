package sim

import (
	"encoding/binary"

	"github.com/google/uuid"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// alarm is a guardian's event state machine (device-protocol.md 3): it raises a
// MotionDetectedEvent when enough of the last samples saw motion, and a
// MotionStoppedEvent after the cooldown without motion.
type alarm struct {
	home     Home
	links    []Link
	seed     uint64
	window   []float64 // the last density_window peaks, oldest first
	detected motion.Event
	tripped  bool
	last     motion.Time // last sample with motion
}

// take adds a sample and returns the event it raises, nil for none.
func (a *alarm) take(s *sample, config motion.MotionEvents) *motion.Event {
	length := max(1, config.DensityWindow)
	a.window = append(a.window, s.peak)
	if extra := len(a.window) - length; extra > 0 {
		a.window = append(a.window[:0], a.window[extra:]...)
	}
	if s.moved() {
		a.last = s.ts
	}
	switch {
	case config.Enabled != 1:
		return nil
	case a.tripped && s.ts.Since(a.last) >= float64(config.Cooldown):
		a.tripped = false
		return a.stopped(s.ts, config)
	case !a.tripped && s.moved() && a.share(length) >= config.DensityThreshold:
		a.tripped = true
		a.detected = a.event(motion.MotionDetectedEvent, s.ts, config)
		a.place(&a.detected, s)
		found := a.detected
		return &found
	}
	return nil
}

// reset forgets all samples and the detection in force.
func (a *alarm) reset() { a.window, a.tripped = a.window[:0], false }

// share returns the share of samples with motion in a window of length.
func (a *alarm) share(length int) float64 {
	moved := 0
	for _, v := range a.window {
		if v > 0 {
			moved++
		}
	}
	return float64(moved) / float64(length)
}

func (a *alarm) event(kind string, ts motion.Time, config motion.MotionEvents) motion.Event {
	armed := config.Armed
	return motion.Event{
		ID: eventID(a.seed, a.home.GuardianID, kind, ts), Category: motion.CategoryMotion, Event: kind,
		GuardianID: a.home.GuardianID, TS: ts, Armed: &armed, Detail: motion.Document{}, Tag: motion.PadTag(""),
	}
}

// place fills in where and how the sample saw motion.
func (a *alarm) place(e *motion.Event, s *sample) {
	e.IntensityWindow = append([]float64(nil), a.window[:len(a.window)-1]...)
	link := a.links[s.strongest]
	e.LinkID, e.LinkDstName, e.LinkSrcName = link.Name, link.DstName, link.SrcName
	e.NodeName = a.home.Nodes[link.Node].Name
	e.LocName = a.home.locationOf(link)
	loc := motion.EventLoc{MAC: link.Src.String(), Location: e.LocName, Confidence: s.confidence()}
	if link.Leaf >= 0 {
		loc.FriendlyName = a.home.Leafs[link.Leaf].FriendlyName
	} else {
		loc.FriendlyName = a.home.Nodes[link.Peer].FriendlyName
	}
	e.Loc = []motion.EventLoc{loc}
	e.Debug = &motion.EventDebug{LinkSens: map[string]float64{}}
	for i, v := range s.mkai {
		if v > 0 {
			e.Debug.Links = append(e.Debug.Links, a.links[i].Name)
			e.Debug.MSAD, e.Debug.MConf = append(e.Debug.MSAD, s.msad[i]), append(e.Debug.MConf, s.mconf)
		}
	}
}

// stopped returns the event that ends the detection in force.
func (a *alarm) stopped(ts motion.Time, config motion.MotionEvents) *motion.Event {
	e := a.event(motion.MotionStoppedEvent, ts, config)
	began := a.detected
	e.DetectedTS, e.IntensityWindow, e.Loc, e.LocName = began.TS, began.IntensityWindow, began.Loc, began.LocName
	e.LinkID, e.LinkDstName, e.LinkSrcName, e.NodeName = began.LinkID, began.LinkDstName, began.LinkSrcName, began.NodeName
	debug := *began.Debug
	debug.Sens = config.Sens
	e.Debug = &debug
	return &e
}

// locationOf returns the location of the source of a link.
func (h Home) locationOf(link Link) string {
	if link.Leaf >= 0 {
		return h.Leafs[link.Leaf].Location
	}
	return h.Nodes[link.Peer].Location
}

// eventID returns a UUID of version 7 (RFC 9562) that depends only on seed, home,
// kind and time.
func eventID(seed uint64, guardian, kind string, ts motion.Time) string {
	var id uuid.UUID
	key := []uint64{chance.Text(guardian), chance.Text(kind), uint64(ts.Micros())}
	binary.BigEndian.PutUint64(id[:], uint64(ts.Micros()/1000)<<16|chance.Mix(seed, key...)&0xfff)
	binary.BigEndian.PutUint64(id[8:], chance.Mix(seed+1, key...))
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
