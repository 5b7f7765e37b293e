package sensing

import (
	"context"
	"math"
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/feed"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter"
)

// Times of live motion.
const (
	liveQueue   = 64               // frames a reader may be behind
	LiveRenewal = 30 * time.Second // between two live commands to a guardian (device-protocol.md 2.7)
)

// Subscription is a reader's queue of live messages.
type Subscription = feed.Subscription[motion.NetworkID, state.Message]

// liveState is what live readers are shown of a network; its network's mutex
// guards it.
type liveState struct {
	refresh motion.Time // wall clock until which live motion was asked for

	paused motion.Time // wall clock of the last frame of a pause
	begun  fuse.Sample // of the frame under way; Interval 0: none is
}

// Live subscribes to the live motion of a network and starts the stream.
func (se *Sensing) Live(id motion.NetworkID) (*Subscription, error) {
	s := se.state.LiveMotion.Subscribe(id, liveQueue) // first: the deletion of the network ends it
	n, err := se.network(id)
	if err != nil {
		s.Close()
		return nil, err
	}
	se.sendLive(n)
	return s, nil
}

// LiveEvents subscribes to the events of a network.
func (se *Sensing) LiveEvents(id motion.NetworkID) (*Subscription, error) {
	s := se.state.LiveEvents.Subscribe(id, liveQueue)
	if _, err := se.network(id); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Refresh starts the live motion stream and returns until when it is asked for.
func (se *Sensing) Refresh(id motion.NetworkID) (motion.Time, error) {
	n, err := se.network(id)
	if err != nil {
		return 0, err
	}
	n.Mu.Lock()
	n.live.refresh = se.state.Now().Add(float64(max(n.Guardian.LiveMotion.TimeoutS, 1)))
	until := n.live.refresh
	n.Mu.Unlock()
	se.sendLive(n)
	return until, nil
}

// wantsLive reports whether a network's guardian is to send live motion:
// somebody watches, or the appliance decides on what it sends
// (payloads.md 6 no. 4, b) or does not know yet whether it has to.
func (n *network) wantsLive(now motion.Time, readers int) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	decides := n.Source.Holder != state.OwnHolds && !n.Source.Events
	return decides || readers > 0 || n.live.refresh > now
}

// RenewLive repeats the live command to every guardian that is to send.
func (se *Sensing) RenewLive(context.Context) error {
	now := se.state.Now()
	for _, n := range se.state.All() {
		se.AskLive(n, now)
	}
	return nil
}

// AskLive asks a network's guardian for live motion if it is to send any.
func (se *Sensing) AskLive(of *state.Network, now motion.Time) {
	if n := networkOf(of); n.wantsLive(now, se.state.LiveMotion.Readers(n.ID)) {
		se.sendLive(n)
	}
}

// liveCommand is the live command (device-protocol.md 2.7).
type liveCommand struct {
	Enable   int `json:"enable"`
	Interval int `json:"interval"`
	TimeoutS int `json:"timeout_s"`
}

// sendLive asks a network's guardian for live motion, if it is connected.
func (se *Sensing) sendLive(n *network) {
	n.Mu.Lock()
	key := n.Record.GuardianKey()
	command := liveCommand{Enable: 1, Interval: n.Guardian.LiveMotion.Interval, TimeoutS: n.Guardian.LiveMotion.TimeoutS}
	if !n.Source.Events { // the event machine counts samples of 500 ms (device-protocol.md 3)
		command.Interval = min(command.Interval, 500)
	}
	n.Mu.Unlock()
	if !se.state.IsConnected(key) {
		return
	}
	se.state.Send(key, "live", command, false)
}

// publishLive shows a sample to the live readers, together with others when a frame is
// to be longer (guardian configuration, live_motion.interval); n.Mu is held.
func (se *Sensing) publishLive(n *network, s *fuse.Sample) {
	begun := &n.live.begun
	if se.state.LiveMotion.Readers(n.ID) == 0 {
		begun.Interval = 0
		return
	}
	const slack motion.Seconds = 0.01
	if begun.Interval > 0 && math.Abs(s.Time.Add(-s.Interval).Since(begun.Time)) > slack { // a gap ends a frame
		se.publishFrame(n, begun)
		begun.Interval = 0
	}
	length := motion.Seconds(n.Guardian.LiveMotion.Interval) / 1000
	switch {
	case begun.Interval > 0:
		begun.Join(s)
	case s.Interval < length-slack:
		links, zones := begun.Links, begun.Zones
		*begun = *s
		begun.Links, begun.Zones = append(links[:0], s.Links...), append(zones[:0], s.Zones...)
	default:
		se.publishFrame(n, s)
		return
	}
	if begun.Interval >= length-slack {
		se.publishFrame(n, begun)
		begun.Interval = 0
	}
}

// publishFrame sends a sample to the live readers; n.Mu is held.
func (se *Sensing) publishFrame(n *network, s *fuse.Sample) {
	frame := n.frame(s)
	raw, err := jsonwriter.LiveFrame(&frame)
	if err != nil {
		se.state.Log.Error("live frame not sent", "network", n.ID, "err", err)
		return
	}
	se.state.LiveMotion.Publish(n.ID, state.NewMessage(raw, &frame, nil))
}

// frame makes the live frame of a sample (payloads.md 4.7).
func (n *network) frame(s *fuse.Sample) motion.LiveFrame {
	f := motion.LiveFrame{
		TS: s.Time, Interval: int(math.Round(s.Interval * 1000)), Count: 1, Links: make([]string, len(s.Links)),
		Loc: []any{"nomotion"}, MotionEnabled: n.Guardian.MotionEvents.Enabled,
	}
	if n.Record.Paused() {
		f.MotionEnabled = 0
	}
	for i := range s.Links {
		f.Links[i] = n.NameOf(s.Links[i].Link)
	}
	f.Data = figuresOf(s.Links)
	if places := s.Location(); len(places) > 0 {
		for i, place := range places {
			mac := n.Served(place.Link).String()
			room := n.PlaceName(mac)
			if i == 0 {
				f.Loc, f.LocName = []any{mac, motion.Round(place.Confidence, 2)}, room
			}
			if room != "" && !slices.Contains(f.Rooms, room) {
				f.Rooms = append(f.Rooms, room)
			}
		}
		if n.Guardian.LiveMotion.LocConfEnable == 1 {
			for _, place := range places {
				f.LocConf = append(f.LocConf, motion.Round(place.Confidence, 2))
			}
		}
	}
	if last := n.LastMotion(); !last.IsZero() {
		f.LastMotion = &last
	}
	if s.Valid {
		f.MotionTripped = n.Tripped(n.Reach.Received)
	}
	return f
}

// figuresOf returns the figures of links for a live frame, in memory that all share; a reading that is absent
// is nil.
func figuresOf(links []fuse.LinkSample) motion.LiveData {
	const figures = 6
	values, shown := make([]float64, 0, figures*len(links)), make([]*float64, 0, figures*len(links))
	each := func(decimals int, of func(*fuse.LinkSample) fuse.Reading) []*float64 {
		begin := len(shown)
		for i := range links {
			var v *float64
			if r := of(&links[i]); r.Known() {
				values = append(values, motion.Round(float64(r), decimals))
				v = &values[len(values)-1]
			}
			shown = append(shown, v)
		}
		return slices.Clip(shown[begin:])
	}
	return motion.LiveData{
		MKAI:       each(3, func(l *fuse.LinkSample) fuse.Reading { return l.Intensity }),
		LRaw:       each(3, func(l *fuse.LinkSample) fuse.Reading { return l.Raw }),
		Throughput: each(3, func(l *fuse.LinkSample) fuse.Reading { return l.Throughput }),
		MConf:      each(2, func(l *fuse.LinkSample) fuse.Reading { return l.MConf }),
		MSAD:       each(2, func(l *fuse.LinkSample) fuse.Reading { return l.MSAD }),
		Reach:      each(2, func(l *fuse.LinkSample) fuse.Reading { return l.Reach }),
	}
}
