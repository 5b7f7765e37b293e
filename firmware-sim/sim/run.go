package sim

import (
	"context"
	"math"

	"sensegate/motion"
)

// Run bootstraps and connects the devices, waiting for adoption as long as it
// takes, and simulates until ctx ends. It returns nil then, with every connection
// closed and no goroutine left; it may be called once.
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
		s.fleet.power(ctx, s.world.up(t))
		tell.step(t)
		if csi != nil {
			csi.step(ctx, t, c.present(t))
		} else {
			lead.step(ctx, t, s.Network())
		}
	}
}
