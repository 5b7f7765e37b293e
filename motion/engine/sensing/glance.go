package sensing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"sensegate/motion"
)

// Figures of links waver when somebody moves: whoever reads them often enough knows when somebody is at
// home. Who has no part in the household gets those of a glance: taken by time and not by request, at
// most once in GlanceStep for each link, and rounded.
const GlanceStep motion.Seconds = 900

// glance is a link as it was when its figures were taken last.
type glance struct {
	state LinkState
	taken int64 // number of the step; 0: never
	heard bool  // it was heard at the last look
}

// Look takes the figures of links that are due. It is called once a minute: a link that is new, or is
// heard again, is taken at the second look, when its figures have settled.
func (se *Sensing) Look(context.Context) error {
	now := se.state.Now()
	for _, of := range se.state.All() {
		n := networkOf(of)
		_ = se.state.Contained.Run(fmt.Sprintf("look at the links of network %d", n.ID), func() error {
			links := n.explainLinks(now)
			n.Mu.Lock()
			defer n.Mu.Unlock()
			n.look(links, 1+int64(math.Floor(float64(now)/float64(GlanceStep)))) // 0 is never, also for a clock that begins in 1970
			return nil
		})
	}
	return nil
}

// look takes the figures of links in a step; n.Mu is held. A link that is removed keeps its glance
// until the step ends: otherwise whoever removes it gets new figures when it comes back.
func (n *network) look(links []LinkState, step int64) {
	if n.glances == nil {
		n.glances = map[string]*glance{}
	}
	listed := map[string]bool{}
	for i := range links {
		l := &links[i]
		g := n.glances[l.Link]
		if g == nil {
			g = &glance{}
			n.glances[l.Link] = g
		}
		heard := !l.cannotTell()
		if heard && g.heard && (step > g.taken || step < g.taken-1) { // far back: the clock was set
			g.state, g.taken = l.coarse(), step
		}
		g.heard, listed[l.Link] = heard, true
	}
	for name, g := range n.glances {
		if !listed[name] {
			if g.heard = false; g.taken != step {
				delete(n.glances, name)
			}
		}
	}
}

// cannotTell reports whether a link is blind for a reason that has nothing to do with its figures.
func (l *LinkState) cannotTell() bool {
	return l.Can == LinkBlind && len(l.Reasons) > 0 && slices.Contains([]Code{NetworkPaused, SoundingOff, SourceDenied, GuardianDecides, NotHeard, Silent, JustBegun}, l.Reasons[0].Code)
}

// wavers reports whether a reason comes and goes with a link's figures.
func (c Code) wavers() bool {
	return !slices.Contains([]Code{SignalStrength, DeviceFigures, Calibrating, Disturbed}, c)
}

// coarse returns a link with rounded figures, and with those of its reasons alone that waver.
func (l *LinkState) coarse() LinkState {
	c := *l
	c.Rate, c.RSSI, c.Amplitude, c.Missing = math.Round(l.Rate), coarseRSSI(l.RSSI), math.Round(l.Amplitude), coarseShare(l.Missing)
	c.Reasons = nil
	for _, why := range l.Reasons {
		if why.Code.wavers() {
			c.Reasons = append(c.Reasons, Reason{why.Code, why.Figures.coarse()})
		}
	}
	return c
}

// coarse returns rounded figures; what is below the least that is needed stays so.
func (f Figures) coarse() Figures {
	c := Figures{}
	least, needed := f["least"]
	for name, v := range f {
		switch {
		case name == "least":
			c[name] = v
		case name == "missing":
			c[name] = coarseShare(v)
		case needed:
			c[name] = max(0, min(math.Round(v), math.Ceil(least)-1))
		default:
			c[name] = math.Round(v)
		}
	}
	return c
}

func coarseRSSI(v float64) float64 { return 3 * math.Round(v/3) }

func coarseShare(v float64) float64 { return motion.Round(v, 1) }

// Glances returns the links of a network as ExplainLinks does, for somebody who must not learn when
// somebody is at home. Whether a link is heard and how its calibration goes is told as it is now; what
// wavers is that of its glance, and the level is left out. Unknown: it has none yet. NotFound: the
// network.
func (se *Sensing) Glances(id motion.NetworkID) ([]LinkState, error) {
	n, err := se.network(id)
	if err != nil {
		return nil, err
	}
	links := n.explainLinks(se.state.Now())
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for i := range links {
		links[i] = links[i].atGlance(n.glances[links[i].Link])
	}
	return links, nil
}

// atGlance returns a link as Glances shows it; g may be nil.
func (l *LinkState) atGlance(g *glance) LinkState {
	s := LinkState{
		NetworkID: l.NetworkID, Link: l.Link, Zone: l.Zone, Source: l.Source, Can: LinkBlind, Reasons: []Reason{}, Heard: l.Heard,
		Calibration: l.Calibration, CalibratedAt: l.CalibratedAt, CalibratedFor: l.CalibratedFor, Disturbed: l.Disturbed, Unauthenticated: l.Unauthenticated,
		From: l.From, To: l.To, Progress: l.Progress, Outcome: l.Outcome, Unknown: true,
	}
	known := g != nil && g.taken != 0
	if known {
		s.Rate, s.RSSI, s.Amplitude, s.Missing, s.Unknown = g.state.Rate, g.state.RSSI, g.state.Amplitude, g.state.Missing, false
	}
	switch {
	case l.cannotTell():
		s.Reasons = l.Reasons
		return s
	case !known:
		s.Reasons = append(s.Reasons, reason(JustBegun, nil))
		return s
	}
	s.Can, s.Reasons = g.state.Can, append(s.Reasons, g.state.Reasons...)
	if s.Can == LinkBlind {
		return s
	}
	s.addSteady(l)
	return s
}

// addSteady adds the reasons of a link that senses which do not waver: from its source and its
// calibration, and so those that are known while it has no data too.
func (s *LinkState) addSteady(l *LinkState) {
	for code, yes := range map[Code]bool{SignalStrength: l.Source == "rssi", DeviceFigures: l.Source == "intensity", Calibrating: l.Calibration == "running", Disturbed: l.Disturbed} {
		if yes {
			s.Reasons = append(s.Reasons, reason(code, nil))
		}
	}
	sort.SliceStable(s.Reasons, func(i, j int) bool { return s.Reasons[i].Code.rank() < s.Reasons[j].Code.rank() })
}

// rank orders the reasons of a link that senses as its doubts are ordered.
func (c Code) rank() int {
	return slices.Index([]Code{SignalStrength, DeviceFigures, SlowLink, WeakSignal, ByPower, NoisyLink, Gaps, Calibrating, Disturbed, OnlyLink}, c)
}

// CoarseStep is the length of a step of a trace for somebody who must not learn when somebody is at home.
const CoarseStep = glancesEvery * TraceStep

// glancesEvery is how many steps of a trace become one of a coarse trace: a quarter of an hour.
const glancesEvery = 3

// Coarse returns a trace of steps of CoarseStep, which begin with the quarters of an hour and are told when
// they are over: the link as it was at the end, with figures rounded as those of Glances are.
func (t LinkTrace) Coarse() LinkTrace {
	first := stepAt(t.From)
	skip := int((glancesEvery - first%glancesEvery) % glancesEvery)
	steps := t.Steps[min(skip, len(t.Steps)):]
	t.From, t.Steps = t.From.Add(motion.Seconds(skip)*TraceStep), []LinkStep{}
	for ; len(steps) >= glancesEvery; steps = steps[glancesEvery:] {
		s := steps[glancesEvery-1]
		s.Rate, s.RSSI, s.Missing = math.Round(s.Rate), coarseRSSI(s.RSSI), coarseShare(s.Missing)
		t.Steps = append(t.Steps, s)
	}
	if len(t.Steps) == 0 {
		t.From = 0
	}
	return t
}
