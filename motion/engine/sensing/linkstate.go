package sensing

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// What a link can do for the decision about its network's motion.
const (
	LinkDecides  = "decides"  // alone
	LinkSupports = "supports" // only together with another link
	LinkBlind    = "blind"    // nothing, as things are
)

// linkSilent is how long a link is silent until its last figures are no answer any
// more to whether it senses.
const linkSilent motion.Seconds = 5

// LinkState is what a person can know of how one link senses, and why it cannot.
// What is not known is 0 or null.
type LinkState struct {
	NetworkID motion.NetworkID `json:"network_id"`
	Link      string           `json:"link"`
	Zone      string           `json:"zone"`
	Source    string           `json:"source"` // what the detector works on: csi, intensity, rssi, or empty
	Can       string           `json:"can"`    // LinkDecides, LinkSupports or LinkBlind
	Why       []string         `json:"why"`    // what stands in the way, and what would help: Reasons in English
	Reasons   []Reason         `json:"reasons"`

	Rate      float64 `json:"rate_hz"`   // frames or figures a second
	Missing   float64 `json:"missing"`   // share of the last minute's decisions that had no data, 0..1
	RSSI      float64 `json:"rssi"`      // dBm
	Amplitude float64 `json:"amplitude"` // median over the subcarriers, counts

	Calibration   string      `json:"calibration"` // none, running or done
	CalibratedAt  motion.Time `json:"calibrated_at"`
	CalibratedFor float64     `json:"calibrated_for_s"` // how long ago that was, seconds
	Floor         *float64    `json:"noise_floor"`      // natural logarithm of the quiet link's power

	Disturbed bool  `json:"disturbed"` // somebody seems to have moved during the calibration
	Weak      bool  `json:"weak"`
	Coarse    bool  `json:"coarse"`
	Noisy     bool  `json:"noisy"`
	Late      int64 `json:"late"` // decisions that came too late to be fused

	Unauthenticated bool `json:"unauthenticated"` // an end is a node that shows no secret of its own: anybody on the Wi-Fi can imitate it

	Heard      motion.Time `json:"heard"`
	LastMotion motion.Time `json:"last_motion"`

	From, To LinkEnd  `json:"-"`
	Progress *float64 `json:"-"` // of a running calibration, 0..1
	Outcome  string   `json:"-"` // of its last calibration: NotCalibrated and the others
	Unknown  bool     `json:"-"` // no figures have been taken yet: see Glances
	Level    *Level   `json:"-"` // of the newest decision, nil without data
}

// LinkEnd is the node or leaf at an end of a link. What is not known is zero.
type LinkEnd struct {
	Node bool // a node, else a leaf
	ID   motion.NodeID
	Name string // its friendly name, else its stable one
	Room string
}

// Level is how much a link is disturbed, and from where on it starts motion at its sensitivity.
// Both are percent of coherence or, where ByPower, e-folds of power above the quiet; so only those
// of one link can be compared. Below the threshold it starts too when both rise together.
type Level struct {
	Value, Threshold float64
	ByPower          bool
}

// Scale names what a level is measured in: coherence or power.
func (l Level) Scale() string {
	if l.ByPower {
		return "power"
	}
	return "coherence"
}

// levelOf returns the level of a decision with data.
func levelOf(t *detect.Tick) Level {
	if t.On < 0 || math.IsNaN(t.Features.R) { // a threshold of power is the logarithm of a small number
		return Level{Value: t.Power - t.Baseline, Threshold: t.On - t.Baseline, ByPower: true}
	}
	return Level{Value: 100 * t.Features.R, Threshold: 100 * t.On}
}

// ExplainLinks returns how each link of a network senses, ordered by name; of all
// networks when id is 0. NotFound: the network.
func (se *Sensing) ExplainLinks(id motion.NetworkID) ([]LinkState, error) {
	networks := se.state.All()
	if id != 0 {
		n, err := se.state.Network(id)
		if err != nil {
			return nil, err
		}
		networks = []*state.Network{n}
	}
	slices.SortFunc(networks, func(a, b *state.Network) int { return cmp.Compare(a.ID, b.ID) })
	list, now := []LinkState{}, se.state.Now()
	for _, n := range networks {
		list = append(list, networkOf(n).explainLinks(now)...)
	}
	for i := range list {
		for _, why := range list[i].Reasons {
			list[i].Why = append(list[i].Why, why.Text())
		}
	}
	return list, nil
}

// explainLinks is ExplainLinks for one network.
func (n *network) explainLinks(now motion.Time) []LinkState {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	sensors := n.sensorsByName()
	names := slices.Collect(maps.Keys(sensors))
	for name := range n.Links {
		if sensors[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []LinkState
	sensing := 0
	for _, name := range names {
		s := n.explainLink(name, sensors[name], now)
		if s.Can != LinkBlind {
			sensing++
		}
		list = append(list, s)
	}
	for i := range list {
		if s := &list[i]; sensing == 1 && s.Can == LinkSupports && !s.Noisy {
			s.Can = LinkDecides
			s.Reasons = append(s.Reasons, reason(OnlyLink, nil))
		}
	}
	return list
}

// sensorsByName returns the detectors that exist, by link name; n.Mu is held.
func (n *network) sensorsByName() map[string]*sensor {
	found := map[string]*sensor{}
	for key, s := range n.pipeline.sensors {
		name := n.NameOf(key)
		if other := found[name]; other == nil || other.last.Time < s.last.Time {
			found[name] = s
		}
	}
	return found
}

// explainLink describes a link; s is nil when nothing has come of it since the
// start. n.Mu is held.
func (n *network) explainLink(name string, s *sensor, now motion.Time) LinkState {
	l := LinkState{NetworkID: n.ID, Link: name, Can: LinkBlind, Why: []string{}, Reasons: []Reason{}, Calibration: "none", Missing: 1}
	key, _ := n.KeyOf(name)
	if s != nil {
		key = s.key
	}
	l.Zone, l.From, l.To = n.Zone(key), n.linkEnd(key.Src), n.linkEnd(key.Dst)
	l.Noisy, l.Unauthenticated = n.pipeline.fuser.Noisy(key), n.Unauthenticated(key)
	l.Late = n.pipeline.fuser.LateTicks(key)
	if record := n.Links[name]; record != nil {
		l.Heard, l.RSSI = max(record.Heard, record.LastHeard), float64(record.RSSI)
	}
	left := motion.Seconds(0)
	if s != nil {
		l.describe(s, now)
		left = l.learn(s, motion.Seconds(n.Radar.Sounding.WarmupS))
		l.Outcome = l.outcome(s.asked)
	} else {
		l.calibrated(n.remembered(key), now)
		l.Outcome = l.outcome(asked{})
	}
	if why, blind := n.whyBlind(&l, key, s, now); blind {
		l.Reasons = append(l.Reasons, why)
		return l
	}
	l.Can, l.Reasons = LinkDecides, append(l.Reasons, l.doubts(left)...)
	if l.Weak || l.Coarse || l.Noisy {
		l.Can = LinkSupports
	}
	return l
}

// linkEnd describes the end of a link at an address.
func (n *network) linkEnd(mac motion.MAC) LinkEnd {
	e, known := n.EndOf(mac)
	if !known {
		return LinkEnd{Name: mac.String()}
	}
	return LinkEnd{Node: e.Mesh, ID: e.ID, Name: cmp.Or(e.Friendly, e.Name), Room: e.Location}
}

// learn fills in how far a running calibration has come, and returns how long it still takes.
func (l *LinkState) learn(s *sensor, length motion.Seconds) motion.Seconds {
	left, running := s.calibrating()
	if running {
		progress := 1.
		if length > 0 {
			progress = motion.Round(min(1, max(0, 1-left/length)), 2)
		}
		l.Progress = &progress
	}
	return left
}

// describe fills in what a detector knows.
func (l *LinkState) describe(s *sensor, now motion.Time) {
	q := s.last.Quality
	l.Source = "csi"
	if s.active() != detector(s.csi) {
		l.Source = map[detect.Source]string{detect.Reported: "intensity", detect.Signal: "rssi"}[s.figures]
	}
	l.calibrated(s.active().Calibration(), now)
	l.Rate, l.Missing, l.Amplitude = motion.Round(q.Rate, 1), motion.Round(1-q.Valid, 2), motion.Round(q.Amplitude, 1)
	if q.RSSI != 0 {
		l.RSSI = motion.Round(q.RSSI, 1)
	}
	l.Weak, l.Coarse, l.LastMotion = q.Weak, q.Coarse, s.lastMotion
	if s.last.Valid {
		level := levelOf(&s.last)
		l.Level = &Level{motion.Round(level.Value, 2), motion.Round(level.Threshold, 2), level.ByPower}
	}
}

// calibrated fills in how far a detector knows its quiet.
func (l *LinkState) calibrated(c detect.Calibration, now motion.Time) {
	if c.Done {
		l.Calibration, l.CalibratedAt, l.Disturbed = "done", c.At, c.Disturbed
		if !c.At.IsZero() {
			l.CalibratedFor = max(0, now.Since(c.At))
		}
	}
	if c.Running {
		l.Calibration = "running"
	}
	if c.Done || c.Running {
		floor := motion.Round(c.Baseline, 2)
		l.Floor = &floor
	}
}

// remembered returns what an earlier run of the appliance has stored of a link's
// calibration; n.Mu is held.
func (n *network) remembered(key fuse.Link) detect.Calibration {
	stored, ok := n.pipeline.learned.Links[learnedKey(key)]
	for _, source := range []detect.Source{detect.Reported, detect.Signal} {
		if !ok || !stored.Calibrated {
			stored, ok = n.pipeline.learned.Coarse[coarseKey(key, source)]
		}
	}
	return detect.Calibration{Done: stored.Calibrated, At: stored.CalibratedAt, Disturbed: stored.Disturbed, Baseline: stored.Baseline}
}
