package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// ReplayConfig configures Replay.
type ReplayConfig struct {
	Takes       []Take  // played in order
	Speed       float64 // 1..1000; 0 = 1
	Loop        bool    // start again at the end; later rounds run at speed 1
	Gatekeeper  string  // URL of the gatekeeper
	AccessToken string  // pre-shared token of the gatekeeper; "" waits for adoption
	Log         *slog.Logger
	// OnTake is called at the start of a take with the time that its start maps to;
	// may be nil.
	OnTake func(name string, start motion.Time)
}

// takeGap is the pause between two takes, in seconds: long enough to end the
// detector's window.
const takeGap motion.Seconds = 3

// Replay bootstraps, connects and publishes captured CSI as devices do: one node per
// receiver (csi-r-…), one leaf per take. It maps times so that at speed 1 the stream
// starts at the present, and at a higher speed it ends there. It waits for adoption
// without a limit, closes all connections and returns when everything is published
// or ctx ends.
func Replay(ctx context.Context, c ReplayConfig) (Counters, error) {
	if c.Speed == 0 {
		c.Speed = 1
	}
	if c.Speed < 1 || c.Speed > maxSpeed || math.IsNaN(c.Speed) {
		return Counters{}, fmt.Errorf("speed %v: want 1 to %d", c.Speed, maxSpeed)
	}
	if len(c.Takes) == 0 {
		return Counters{}, fmt.Errorf("takes: nothing to replay")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	back := motion.Seconds(0)
	for i := range c.Takes {
		back += (c.Takes[i].Duration() + takeGap) * (1 - 1/c.Speed)
	}
	if back > OldestStart.Seconds() {
		return Counters{}, fmt.Errorf("captures of %.0f h: faster than real time at most %s fit, replay fewer", back/3600, OldestStart)
	}
	gate, err := newGatekeeper(c.Gatekeeper, c.AccessToken, c.Log)
	if err != nil {
		return Counters{}, err
	}
	for _, take := range c.Takes {
		for _, recording := range take.Captures {
			if _, err := recording.Header.Flags(); err != nil {
				return Counters{}, fmt.Errorf("capture %s: %w", recording.Path, err)
			}
		}
	}
	home := replayHome(c.Takes)
	p := player{config: c, home: &home, fleet: newFleet(&home, gate, false, time.Now, c.Log)}
	p.run(ctx, back)
	return p.fleet.tally.counters(), nil
}

// player publishes takes.
type player struct {
	config  ReplayConfig
	home    *Home
	fleet   *fleet
	payload []byte
}

// run connects and plays all takes; they start back before the present.
func (p *player) run(ctx context.Context, back motion.Seconds) {
	running, stop := context.WithCancel(ctx)
	defer p.fleet.stop()
	defer stop()
	if !p.fleet.connect(running) {
		return
	}
	now := time.Now()
	at := clock{start: motion.TimeOf(now).Add(-back), began: now, speed: p.config.Speed, now: time.Now}
	start := at.start
	for {
		for i := range p.config.Takes {
			take := &p.config.Takes[i]
			if p.play(running, i, at, start) != nil {
				return
			}
			start = start.Add(take.Duration() + takeGap)
		}
		if !p.config.Loop {
			return
		}
	}
}

// play publishes a take that starts at start; the only error is ctx's.
func (p *player) play(ctx context.Context, number int, c clock, start motion.Time) error {
	take := &p.config.Takes[number]
	p.config.Log.Info("replaying", "recording", take.Name, "receivers", len(take.Captures),
		"seconds", math.Round(take.Duration()), "from", start.Std().Format(time.RFC3339Nano))
	if p.config.OnTake != nil {
		p.config.OnTake(take.Name, start)
	}
	tell := narration{log: p.config.Log, take: take, label: -1}
	leaf := p.home.Leafs[number]
	for _, s := range slicesOf(take) {
		if err := c.wait(ctx, start.Add(s.end())); err != nil {
			return err
		}
		batch := s.batch(start)
		batch.Src, batch.Dst = leaf.MAC, p.home.Nodes[s.receiver].AP24
		p.payload = csi.Append(p.payload[:0], batch)
		radar := p.fleet.radars[s.receiver]
		if radar.stream(ctx, wire.EventCSI, wire.FormatBin, p.payload) {
			radar.tally.frames.Add(int64(len(batch.Frames)))
		} else {
			radar.tally.dropped.Add(1)
		}
		if p.config.Speed > 1 {
			// A moment in which one receiver is not served would be seconds of its data, for
			// which the appliance does not wait.
			radar.settle(ctx)
		}
		tell.step(&s)
	}
	return nil
}

// replayHome returns a home with a node per receiver and a leaf per take.
func replayHome(takes []Take) Home {
	const house = 0xfe // index of its addresses, above those of simulated homes
	h := Home{GuardianID: guardianID(house)}
	receivers := 0
	for i := range takes {
		receivers = max(receivers, len(takes[i].Captures))
	}
	for i := range receivers {
		address := func(last byte) motion.MAC {
			return motion.MAC{0x02, 0xaa, 0, house, byte(i + 1), last}
		}
		h.Nodes = append(h.Nodes, Node{
			Name: fmt.Sprintf("RPL1%06d", i+1), DeviceID: "csi-r-" + address(0x10).Name(),
			FriendlyName: fmt.Sprintf("Receiver %d", i+1), Location: fmt.Sprintf("Receiver %d", i+1),
			IP: fmt.Sprintf("192.168.11.%d", i+1), Eth: address(0x10), AP24: address(0x12), AP5: address(0x13), Mesh: address(0x14),
		})
	}
	for i := range takes {
		h.Leafs = append(h.Leafs, Leaf{
			MAC:      motion.MAC{0x02, 0xbb, 0, house, byte(i >> 8), byte(i)},
			Hostname: takes[i].Name, FriendlyName: takes[i].Name, Location: "Transmitter",
		})
	}
	return h
}
