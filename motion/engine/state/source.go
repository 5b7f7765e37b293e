package state

import (
	"math"

	"sensegate/motion"
)

// SourceHold is how long a silent source keeps a network to itself
// (payloads.md 6 no. 4).
const SourceHold motion.Seconds = 600

// Holder is a kind of source that can decide about a network's motion.
type Holder string

// The holders: (a) and (b) of payloads.md 6 no. 4 are one guardian that
// does or does not send events of its own; (c) is the appliance's own engine.
const (
	nobody        Holder = ""
	GuardianHolds Holder = "guardian"
	OwnHolds      Holder = "own"
)

// Source says who decides about a network's motion. It survives a restart, so
// that a guardian that sends events is not doubled by the appliance meanwhile.
type Source struct {
	Holder Holder      `json:"holder"`
	Events bool        `json:"events"` // the guardian raises events itself
	Heard  motion.Time `json:"heard"`  // receive time of the holder's last motion report
}

// Claim reports whether a source of kind h may speak for the network at now. The
// first seen holds it until it has been silent for SourceHold.
func (s *Source) Claim(h Holder, now motion.Time) bool {
	silent := math.Abs(now.Since(s.Heard)) > SourceHold // either way: our clock may have been set back
	if s.Holder != h && s.Holder != nobody && !silent {
		return false
	}
	if s.Holder != h {
		*s = Source{Holder: h}
	}
	s.Heard = now
	return true
}

// GuardianDecides reports whether a guardian that raises events itself holds the network.
func (s Source) GuardianDecides() bool { return s.Holder == GuardianHolds && s.Events }
