// Package sim simulates a home that speaks the device protocol over real sockets:
// access points bootstrap at the gatekeeper by HTTP, connect by MQTT 5, publish raw
// CSI or motion reports and answer commands. A scenario determines who walks where,
// the channel model what the radios measure. The package also replays captured CSI
// (Replay), generates plausible past days for a demonstration (Backfill), and puts
// an appliance under load with many networks (Load).
//
// Everything that happens in the home is a function of seed and time: the same seed
// gives the same people, intensities and CSI bytes at any speed. Only the
// connections are real.
//
// The package knows the device protocol and nothing of the appliance behind it:
// no store, no engine, no API. Its synthetic CSI serves protocol, load and
// demonstration; claims of accuracy need real frames.
package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"sensegate/motion"
)

// Mode says what the devices of a home send.
type Mode string

// The modes.
const (
	CSI    Mode = "csi"    // the nodes send raw CSI; there is no guardian agent
	Matrix Mode = "matrix" // the guardian sends motion-matrix while it is watched, and motion-history
	Event  Mode = "event"  // as Matrix, and the guardian raises events
)

// OldestStart is how far back a simulation may start. The appliance takes a time
// over a day old for a wrong clock (payloads.md 6 no. 14); an hour is left for
// devices that connect late or fall behind.
const OldestStart = 23 * time.Hour

const (
	maxSpeed   = 1000
	startSlack = time.Minute // between the caller's reading of the clock and New's
)

// Config configures New.
type Config struct {
	Seed       uint64
	Speed      float64   // simulated seconds per second, 1..1000; 0 = 1
	Start      time.Time // simulated time of the start, at most OldestStart back; zero = when the devices are connected
	Mode       Mode      // "" = CSI
	Gatekeeper string    // URL of the gatekeeper, such as http://127.0.0.1:8080/gatekeeper
	// AccessToken is the pre-shared token of the gatekeeper; "" waits for adoption.
	AccessToken string
	Home        Home // the zero Home = NewHome(0)
	// Scene returns what happens besides the day plan of a simulation that begins at
	// start; nil = OpeningScene.
	Scene func(home Home, start motion.Time) Scene
	// Unplugged reports whether node i of the home has no power, besides the outages of the
	// scene; nil = no node. It is called concurrently.
	Unplugged func(i int) bool
	Faults    Faults       // of the devices
	Steady    bool         // without the outages that days have; those of the scene happen
	Log       *slog.Logger // nil = no log
	// Now returns the present, which the simulation reaches and never overtakes, and
	// runs at the speed of real time; nil = time.Now.
	Now func() time.Time
}

// Sim is a simulated home. Run belongs to one goroutine; its other methods may be
// called concurrently with it.
type Sim struct {
	config Config
	world  *world
	fleet  *fleet
	ready  chan struct{}
	visits chan visit
}

// visit is the walks of somebody who comes.
type visit struct {
	walks  []Walk
	anyway bool // ends the visit under way
}

// New checks the configuration and returns a home that is not running yet. With a
// Speed above 1, Start lies in the past: a run of real time D at speed S ends at the
// present if Start = now − D·(S − 1). When the simulation has caught up with the
// present it continues in real time.
func New(c Config) (*Sim, error) {
	if c.Speed == 0 {
		c.Speed = 1
	}
	if c.Speed < 1 || c.Speed > maxSpeed || math.IsNaN(c.Speed) {
		return nil, fmt.Errorf("speed %v: want 1 to %d", c.Speed, maxSpeed)
	}
	if c.Mode == "" {
		c.Mode = CSI
	}
	if c.Mode != CSI && c.Mode != Matrix && c.Mode != Event {
		return nil, fmt.Errorf("mode %q: want csi, matrix or event", c.Mode)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if now := c.Now(); !c.Start.IsZero() && (c.Start.Before(now.Add(-OldestStart-startSlack)) || c.Start.After(now)) {
		return nil, fmt.Errorf("start %s: want a time at most %s back, not in the future; run shorter or slower", c.Start.Format(time.RFC3339), OldestStart)
	}
	if c.Home.Nodes == nil {
		c.Home = NewHome(0)
	}
	if c.Home.Place == nil {
		return nil, fmt.Errorf("home: has no place, make it with NewHome or HomeOf")
	}
	if c.Scene == nil {
		c.Scene = OpeningScene
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	gate, err := newGatekeeper(c.Gatekeeper, c.AccessToken, c.Log)
	if err != nil {
		return nil, err
	}
	s := &Sim{
		config: c, fleet: newFleet(&c.Home, gate, c.Mode != CSI, c.Now, c.Log), ready: make(chan struct{}), visits: make(chan visit, 1),
	}
	s.fleet.present, s.fleet.refused = s.config.present, s.config.refused
	return s, nil
}

// Home returns the simulated home.
func (s *Sim) Home() Home { return s.config.Home }

// Network returns the network of the home, 0 before adoption.
func (s *Sim) Network() motion.NetworkID { return motion.NetworkID(s.fleet.network.Load()) }

// Visit lets somebody make the walks, whose times count from the next step, unless a visit is
// under way.
func (s *Sim) Visit(walks ...Walk) {
	select {
	case s.visits <- visit{walks: walks}:
	default:
	}
}

// Walk is Visit, but ends a visit that is under way. Without walks it only does that.
func (s *Sim) Walk(walks ...Walk) {
	for {
		select {
		case s.visits <- visit{walks: walks, anyway: true}:
			return
		default:
		}
		select {
		case <-s.visits: // nobody has begun it
		default:
		}
	}
}

// visit begins a visit at t.
func (s *Sim) visit(t motion.Time) {
	select {
	case v := <-s.visits:
		if v.anyway {
			s.world.leave()
		}
		s.world.visit(t, v.walks)
	default:
	}
}

// Ready returns a channel that Run closes when the devices are connected and the
// simulated time begins.
func (s *Sim) Ready() <-chan struct{} { return s.ready }

// Counters returns the counts so far.
func (s *Sim) Counters() Counters { return s.fleet.tally.counters() }

// Run bootstraps and connects the devices, waits for adoption without a limit, and
// simulates until ctx ends. It closes all connections, ends all goroutines and
// returns nil. It may be called once.
func (s *Sim) Run(ctx context.Context) error {
	defer s.fleet.stop()
	if !s.fleet.connect(ctx) {
		return nil
	}
	now := s.config.Now()
	start := s.config.Start
	if start.IsZero() {
		start = now
	}
	c := clock{start: motion.TimeOf(start), began: now, speed: s.config.Speed, now: s.config.Now}
	s.world = newWorld(s.config.Seed, s.config.Home, s.config.Scene(s.config.Home, c.start))
	s.world.hinder, s.world.place, s.world.steady = s.config.hinder, s.config.place, s.config.Steady
	close(s.ready)
	s.live(ctx, c)
	return nil
}

// live drives the home in steps of 500 ms of simulated time.
func (s *Sim) live(ctx context.Context, c clock) {
	var lead *guardian
	var csi *streamer
	if s.config.Mode == CSI {
		csi = newStreamer(s.world, s.fleet.radars, s.fleet.settings, c.speed)
	} else {
		lead = newGuardian(s.world, s.fleet.guardian, s.fleet.settings, s.config.Mode == Event, c.start)
	}
	tell := narrator{world: s.world, log: s.config.Log}
	for step := math.Floor(float64(c.start)/sampleStep) + 1; ; step++ {
		t := motion.Time(step * sampleStep)
		if c.wait(ctx, t) != nil {
			return
		}
		s.visit(t)
		s.fleet.power(ctx, s.world.up(t))
		s.fleet.tell()
		tell.step(t)
		if csi != nil {
			csi.step(ctx, t, c.present(t))
		} else {
			lead.step(ctx, t, s.Network())
		}
	}
}

// clock maps simulated to real time: it begins at start, runs speed times as fast as
// real time until it reaches the present, and continues in real time. A clock of
// speed 1 that began in the past stays behind by as much.
type clock struct {
	start motion.Time // simulated
	began time.Time   // real, when start was
	speed float64
	now   func() time.Time // real
}

// due returns the real time of the simulated time t.
func (c clock) due(t motion.Time) time.Time {
	fast := c.began.Add(time.Duration(t.Since(c.start) / c.speed * float64(time.Second)))
	if present := t.Std(); c.speed > 1 && present.After(fast) {
		return present
	}
	return fast
}

// wait waits until the simulated time is t, or returns ctx's error.
func (c clock) wait(ctx context.Context, t motion.Time) error {
	pause := c.due(t).Sub(c.now())
	if pause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// present reports whether the clock has reached the present at the simulated time t.
func (c clock) present(t motion.Time) bool { return !c.due(t).After(t.Std()) }
