package fuse

import (
	"slices"

	"sensegate/motion"
)

// Kind is the kind of a transition.
type Kind string

// The transitions, which always alternate.
const (
	Detected Kind = "detected"
	Stopped  Kind = "stopped"
)

// Reason is why a detection ended.
type Reason string

// The reasons.
const (
	Quiet    Reason = "quiet"    // no motion for the cooldown
	NoData   Reason = "no_data"  // no data for 10 minutes; motion may or may not have stopped
	Paused   Reason = "paused"   // motion_paused was set
	Disabled Reason = "disabled" // motion_events.enabled was cleared
	Rearmed  Reason = "armed"    // the network was armed while an unarmed detection was open
)

// Transition is one step of the event machine: an event without its ids and names.
type Transition struct {
	Kind      Kind
	Time      motion.Time // ts of the event; of Stopped never before Detection.Time
	Reason    Reason      // of Stopped
	Detection Detection   // of Stopped: the detection that ends; evt_detected_ts is its Time
}

// Detection is detected motion.
type Detection struct {
	Time      motion.Time `json:"time"`
	Armed     bool        `json:"armed"` // when it was detected; Stopped repeats it, so that pairs match
	Intensity float64     `json:"intensity"`
	Density   float64     `json:"density"` // share of the window in motion, 0..1
	Window    Readings    `json:"window"`  // the DensityWindow−1 intensities before it, oldest first
	Link      Link        `json:"link"`    // the strongest
	Places    []Place     `json:"places"`  // where it likely was, most likely first
	Links     []Link      `json:"links"`   // the links in motion, with their values below
	MSAD      Readings    `json:"msad"`
	MConf     Readings    `json:"mconf"`
}

// detection returns the detection of s, the newest sample of the window.
func (e *Events) detection(s *Sample) *Detection {
	d := &Detection{
		Time: s.Time, Armed: e.config.Armed,
		Intensity: float64(s.Intensity), Density: float64(e.Density()),
		Window: slices.Clone(e.window[:len(e.window)-1]),
		Places: slices.Clone(s.Location()),
	}
	if strongest, ok := s.StrongestLink(); ok {
		d.Link = strongest.Link
	}
	for i := range s.Links {
		if l := &s.Links[i]; l.Intensity > 0 {
			d.Links = append(d.Links, l.Link)
			d.MSAD = append(d.MSAD, l.MSAD)
			d.MConf = append(d.MConf, l.MConf)
		}
	}
	return d
}

// clone returns a deep copy.
func (d *Detection) clone() Detection {
	c := *d
	c.Window, c.MSAD, c.MConf = slices.Clone(d.Window), slices.Clone(d.MSAD), slices.Clone(d.MConf)
	c.Places, c.Links = slices.Clone(d.Places), slices.Clone(d.Links)
	return c
}

// State is the state of the event machine that survives a restart.
type State struct {
	Open      *Detection     `json:"open"` // nil: no open detection
	Window    Readings       `json:"window"`
	Last      motion.Time    `json:"last"`       // newest sample
	LastValid motion.Time    `json:"last_valid"` // newest sample with data
	Moved     motion.Time    `json:"moved"`      // newest sample in motion
	Quiet     motion.Seconds `json:"quiet"`      // of data without motion since then
}

// State returns a deep copy of the machine's state.
func (e *Events) State() State {
	s := State{Window: slices.Clone(e.window), Last: e.last, LastValid: e.lastValid, Moved: e.moved, Quiet: e.quiet}
	if e.open != nil {
		open := e.open.clone()
		s.Open = &open
	}
	return s
}

// Restore sets the state that State returned; the configuration stays. The next Advance ends an
// open detection if events have been paused or disabled, or if data stays away.
func (e *Events) Restore(s State) {
	e.open, e.last, e.lastValid, e.moved, e.quiet = nil, s.Last, s.LastValid, s.Moved, s.Quiet
	if s.Open != nil {
		open := s.Open.clone()
		e.open = &open
	}
	e.resize(s.Window)
}
