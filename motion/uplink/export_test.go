package uplink

import (
	"time"

	"sensegate/motion/hook"
)

// Hurry has the uplinks of a set that does not run yet connect again soon.
func (s *Set) Hurry() {
	quick := hook.Backoff{First: time.Millisecond, Most: 20 * time.Millisecond}
	s.pace = pace{soon: quick, slow: quick, short: time.Minute}
	for _, r := range s.runners {
		r.pace = s.pace
		for _, part := range r.parts {
			if p, ok := part.(*historyPump); ok {
				p.tick = 10 * time.Millisecond
			}
		}
	}
}
