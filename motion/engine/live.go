package engine

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"sensegate/motion"
	"sensegate/motion/feed"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// Times of live motion.
const (
	liveQueue   = 64               // frames a reader may be behind
	liveRenewal = 30 * time.Second // between two live commands to a guardian (device-protocol.md 2.7)
	sampleMS    = 500              // of a network's sample (device-protocol.md 3)
)

// Subscription is a reader's queue of live messages.
type Subscription = feed.Subscription[motion.NetworkID, Message]

// liveState is what live readers are shown of a network; its network's mutex
// guards it.
type liveState struct {
	values  []store.Value
	last    motion.Time // of the newest sample with data
	refresh motion.Time // wall clock until which live motion was asked for

	paused motion.Time // wall clock of the last frame of a pause
	begun  fuse.Sample // of the frame under way; Interval 0: none is
}

// Live subscribes to the live motion of a network and starts the stream.
func (e *Engine) Live(id motion.NetworkID) (*Subscription, error) {
	s := e.live.Subscribe(id, liveQueue) // first: the deletion of the network ends it
	n, err := e.network(id)
	if err != nil {
		s.Close()
		return nil, err
	}
	e.sendLive(n)
	return s, nil
}

// LiveEvents subscribes to the events of a network.
func (e *Engine) LiveEvents(id motion.NetworkID) (*Subscription, error) {
	s := e.events.Subscribe(id, liveQueue)
	if _, err := e.network(id); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Refresh starts the live motion stream and returns until when it is asked for.
func (e *Engine) Refresh(id motion.NetworkID) (motion.Time, error) {
	n, err := e.network(id)
	if err != nil {
		return 0, err
	}
	n.mu.Lock()
	n.live.refresh = e.now().Add(float64(max(n.guardian.LiveMotion.TimeoutS, 1)))
	until := n.live.refresh
	n.mu.Unlock()
	e.sendLive(n)
	return until, nil
}

// wantsLive reports whether a network's guardian is to send live motion:
// somebody watches, or the appliance decides on what it sends
// (payloads.md 6 no. 4, b) or does not know yet whether it has to.
func (n *network) wantsLive(now motion.Time, readers int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	decides := n.source.Holder != ownHolds && !n.source.Events
	return decides || readers > 0 || n.live.refresh > now
}

// renewLive repeats the live command to every guardian that is to send.
func (e *Engine) renewLive(context.Context) error {
	now := e.now()
	for _, n := range e.all() {
		if n.wantsLive(now, e.live.Readers(n.id)) {
			e.sendLive(n)
		}
	}
	return nil
}

// liveCommand is the live command (device-protocol.md 2.7).
type liveCommand struct {
	Enable   int `json:"enable"`
	Interval int `json:"interval"`
	TimeoutS int `json:"timeout_s"`
}

// sendLive asks a network's guardian for live motion, if it is connected.
func (e *Engine) sendLive(n *network) {
	n.mu.Lock()
	key := n.record.GuardianKey()
	command := liveCommand{Enable: 1, Interval: n.guardian.LiveMotion.Interval, TimeoutS: n.guardian.LiveMotion.TimeoutS}
	if !n.source.Events { // the event machine counts samples of half a second
		command.Interval = min(command.Interval, int(sampleMS))
	}
	n.mu.Unlock()
	if !e.connected(key) {
		return
	}
	e.send(key, "live", command, false)
}

// configCommand is the config command (device-protocol.md 2.7).
type configCommand struct {
	Rev            int             `json:"rev"`
	GuardianConfig motion.Document `json:"guardian_config"`
	RadarConfig    motion.Document `json:"radar_config"`
	Meta           configMeta      `json:"meta"`
}

type configMeta struct {
	MotionPaused int `json:"motion_paused"`
}

// sendConfig sends a network's configuration to one of its devices, retained; it
// reports whether it was taken.
func (e *Engine) sendConfig(n *network, device motion.DeviceKey) bool {
	n.mu.Lock()
	command := configCommand{
		Rev:            n.record.ConfigRev,
		GuardianConfig: motion.WithDefaults(n.guardian, n.record.GuardianConfig),
		RadarConfig:    motion.WithDefaults(n.radar, n.record.RadarConfig),
		Meta:           configMeta{MotionPaused: n.record.Meta.Int("motion_paused")},
	}
	n.mu.Unlock()
	return e.send(device, "config", command, true)
}

// send publishes a command and reports whether it was taken; what cannot be sent is
// logged, and said again by the next renewal or connection.
func (e *Engine) send(device motion.DeviceKey, command string, body any, retain bool) bool {
	payload, err := json.Marshal(body)
	if err == nil {
		err = e.devices.Send(device, command, payload, retain)
	}
	if err != nil {
		e.log.Warn("command not sent", "device", device.String(), "command", command, "err", err)
	}
	return err == nil
}

// publishLive shows a sample to the live readers, together with others when a frame is
// to be longer (guardian configuration, live_motion.interval); n.mu is held.
func (e *Engine) publishLive(n *network, s *fuse.Sample) {
	begun := &n.live.begun
	if e.live.Readers(n.id) == 0 {
		begun.Interval = 0
		return
	}
	const slack motion.Seconds = 0.01
	if begun.Interval > 0 && math.Abs(s.Time.Add(-s.Interval).Since(begun.Time)) > slack { // a gap ends a frame
		e.publishFrame(n, begun)
		begun.Interval = 0
	}
	length := motion.Seconds(n.guardian.LiveMotion.Interval) / 1000
	switch {
	case begun.Interval > 0:
		begun.Join(s)
	case s.Interval < length-slack:
		links, zones := begun.Links, begun.Zones
		*begun = *s
		begun.Links, begun.Zones = append(links[:0], s.Links...), append(zones[:0], s.Zones...)
	default:
		e.publishFrame(n, s)
		return
	}
	if begun.Interval >= length-slack {
		e.publishFrame(n, begun)
		begun.Interval = 0
	}
}

// publishFrame sends a sample to the live readers; n.mu is held.
func (e *Engine) publishFrame(n *network, s *fuse.Sample) {
	frame := n.frame(s)
	raw, err := json.Marshal(frame)
	if err != nil {
		e.log.Error("live frame not sent", "network", n.id, "err", err)
		return
	}
	e.live.Publish(n.id, Message{&message{JSON: raw, Frame: &frame}})
}

// frame makes the live frame of a sample (payloads.md 4.7).
func (n *network) frame(s *fuse.Sample) motion.LiveFrame {
	f := motion.LiveFrame{
		TS: s.Time, Interval: int(math.Round(s.Interval * 1000)), Count: 1, Links: make([]string, len(s.Links)),
		Loc: []any{"nomotion"}, MotionEnabled: n.guardian.MotionEvents.Enabled,
	}
	if n.record.Paused() {
		f.MotionEnabled = 0
	}
	for _, figures := range []*[]*float64{&f.Data.MKAI, &f.Data.LRaw, &f.Data.Throughput, &f.Data.MConf, &f.Data.MSAD} {
		*figures = make([]*float64, 0, len(s.Links))
	}
	for i := range s.Links {
		l := &s.Links[i]
		f.Links[i], _, _ = n.linkName(l.Link)
		f.Data.MKAI = append(f.Data.MKAI, shown(l.Intensity, 3))
		f.Data.LRaw = append(f.Data.LRaw, shown(l.Raw, 3))
		f.Data.Throughput = append(f.Data.Throughput, shown(l.Throughput, 3))
		f.Data.MConf = append(f.Data.MConf, shown(l.MConf, 2))
		f.Data.MSAD = append(f.Data.MSAD, shown(l.MSAD, 2))
	}
	if places := s.Location(); len(places) > 0 {
		mac := places[0].Link.Src.String()
		f.Loc, f.LocName = []any{mac, round(places[0].Confidence, 2)}, n.placeName(mac)
		if n.guardian.LiveMotion.LocConfEnable == 1 {
			for _, place := range places {
				f.LocConf = append(f.LocConf, round(place.Confidence, 2))
			}
		}
	}
	if last := n.lastMotion(); !last.IsZero() {
		f.LastMotion = &last
	}
	if s.Valid {
		f.MotionTripped = n.tripped(n.sensing.reach.received)
	}
	return f
}

// shown returns a reading for a live frame, nil when it is absent.
func shown(r fuse.Reading, decimals int) *float64 {
	if !r.Known() {
		return nil
	}
	v := round(float64(r), decimals)
	return &v
}

// lastMotion returns when motion was last seen.
func (n *network) lastMotion() motion.Time {
	return max(n.sensing.events.LastMotion(), n.heartbeat.LastMotion)
}

// tripped returns 1 while a detection is open, 0 while none is, and nil where that
// is not known: nothing was heard lately, or the network is paused. Our own event
// machine knows it when it runs on the samples, otherwise the guardian does.
func (n *network) tripped(now motion.Time) *int {
	sampled := now.Since(n.sensing.reach.received) <= silentAfter
	guardianDecides := n.source.Holder == guardianHolds && n.source.Events
	switch {
	case n.record.Paused():
		return nil
	case sampled && !guardianDecides:
		tripped := 0
		if _, open := n.sensing.events.Open(); open {
			tripped = 1
		}
		return &tripped
	case sampled || now.Since(n.reported) <= silentAfter:
		return n.heartbeat.MotionTripped
	}
	return nil
}
