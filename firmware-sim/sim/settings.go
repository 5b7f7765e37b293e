package sim

import (
	"sync"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// settings are those that the appliance has sent to the home. They may be used
// concurrently.
type settings struct {
	mu        sync.Mutex
	rev       int
	guardian  motion.GuardianConfig
	radar     motion.RadarConfig
	paused    bool
	liveUntil time.Time // real time
	wantFull  bool      // a full status was requested
}

func newSettings() *settings {
	s := &settings{}
	s.reset()
	return s
}

// reset restores the factory defaults.
func (s *settings) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rev, s.paused, s.liveUntil = 0, false, time.Time{}
	s.guardian, s.radar = motion.DefaultGuardianConfig(), motion.DefaultRadarConfig()
}

// apply applies a configuration.
func (s *settings) apply(c wire.Config) {
	inForce := motion.Network{GuardianConfig: c.GuardianConfig, RadarConfig: c.RadarConfig}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rev, s.paused = c.Rev, c.Meta.MotionPaused == 1
	s.guardian, s.radar = inForce.Guardian(), inForce.Radar()
	s.wantFull = true
}

// watch starts or ends the live stream.
func (s *settings) watch(c wire.Live, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.liveUntil = time.Time{}
	if c.Enable == 1 {
		s.liveUntil = now.Add(time.Duration(c.TimeoutS) * time.Second)
	}
}

// askFull requests a full status with the next step.
func (s *settings) askFull() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wantFull = true
}

// snapshot is a copy of the settings at one moment.
type snapshot struct {
	rev      int
	guardian motion.GuardianConfig
	radar    motion.RadarConfig
	paused   bool
	live     bool
	wantFull bool
}

// take returns the settings at the real time now and clears wantFull.
func (s *settings) take(now time.Time) snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := snapshot{
		rev: s.rev, guardian: s.guardian, radar: s.radar, paused: s.paused,
		live: now.Before(s.liveUntil), wantFull: s.wantFull,
	}
	s.wantFull = false
	return v
}

// sounding returns the sounding configuration in force.
func (s *settings) sounding() motion.Sounding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.radar.Sounding
}

// revision returns the configuration revision that was applied.
func (s *settings) revision() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}
