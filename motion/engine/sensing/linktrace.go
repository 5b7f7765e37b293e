package sensing

import (
	"maps"
	"math"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// The trace of a link: what it could do in the last 24 hours. It is kept in memory alone, less than
// 2 KB a link; a restart begins it anew.
const (
	TraceStep motion.Seconds = 300

	traceSteps = 288
)

// traceStep is a link at the end of a step.
type traceStep struct {
	rate    uint16 // tenths a second
	rssi    int8   // dBm, 0: not known
	missing uint8  // percent
	can     uint8  // place in abilities; 0: not known
}

// abilities are what a link can do, as a traceStep has it.
func abilities() []string { return []string{"", LinkBlind, LinkSupports, LinkDecides} }

// linkTrace is the ring of a link's steps; that of number i is at i modulo its length.
type linkTrace struct {
	steps [traceSteps]traceStep
	last  int64 // number of the newest step
}

// traces are those of a network's links, by name. The network's mutex guards them.
type traces struct {
	links map[string]*linkTrace
	first int64 // number of the first step that was traced; 0: none was
	last  int64
	since motion.Time
}

// stepAt returns the number of the step that a time is in.
func stepAt(t motion.Time) int64 { return int64(math.Floor(float64(t) / TraceStep)) }

// begin begins anew.
func (t *traces) begin() { *t = traces{} }

// due reports whether a step is to be traced. A clock that was set back begins anew.
func (t *traces) due(now motion.Time) bool {
	step := stepAt(now)
	if step < t.last {
		t.begin()
	}
	return step > t.last
}

// add traces the links at now.
func (t *traces) add(links []LinkState, now motion.Time) {
	step := stepAt(now)
	if t.first == 0 {
		t.first, t.since, t.links = step, now, map[string]*linkTrace{}
	}
	t.last = step
	for i := range links {
		l := &links[i]
		trace := t.links[l.Link]
		if trace == nil {
			trace = &linkTrace{last: step}
			t.links[l.Link] = trace
		}
		for between := max(trace.last, step-traceSteps) + 1; between < step; between++ {
			trace.steps[between%traceSteps] = traceStep{} // it was not traced
		}
		trace.steps[step%traceSteps], trace.last = stepOf(l), step
	}
	maps.DeleteFunc(t.links, func(_ string, l *linkTrace) bool { return step-l.last >= traceSteps })
}

// stepOf returns a link as a step has it.
func stepOf(l *LinkState) traceStep {
	s := traceStep{
		rate: uint16(min(10*max(0, l.Rate), math.MaxUint16)), rssi: int8(max(-128, min(math.Round(l.RSSI), 0))),
		missing: uint8(math.Round(100 * max(0, min(l.Missing, 1)))),
	}
	for i, can := range abilities() {
		if can == l.Can {
			s.can = uint8(i)
		}
	}
	return s
}

// LinkTrace is what a link could do, step by step up to the present one.
type LinkTrace struct {
	Since motion.Time // nothing before it is known
	From  motion.Time // of the first step
	Steps []LinkStep  // each of TraceStep
}

// LinkStep is a link at the end of a step. Can is empty for one that is not known.
type LinkStep struct {
	Rate, RSSI, Missing float64
	Can                 string
}

// trace traces the links of a network when a step has begun.
func (n *network) trace(now motion.Time) {
	n.Mu.Lock()
	due := n.traces.due(now)
	n.Mu.Unlock()
	if !due {
		return
	}
	links := n.explainLinks(now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.traces.add(links, now)
}

// LinkTrace returns what a link could do in the last 24 hours. NotFound: the network or the link.
func (se *Sensing) LinkTrace(id motion.NetworkID, link string) (LinkTrace, error) {
	n, err := se.network(id)
	if err != nil {
		return LinkTrace{}, err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	trace := n.traces.links[link]
	if trace == nil && n.Links[link] == nil {
		return LinkTrace{}, fault.New(fault.NotFound, "link %q is not known", link)
	}
	t := LinkTrace{Since: n.traces.since, Steps: []LinkStep{}}
	if n.traces.first == 0 {
		return t, nil
	}
	from := max(n.traces.first, n.traces.last-traceSteps+1)
	t.From = motion.Time(float64(from) * TraceStep)
	for i := from; i <= n.traces.last; i++ {
		step := LinkStep{}
		if trace != nil && i <= trace.last && i > trace.last-traceSteps {
			s := trace.steps[i%traceSteps]
			step = LinkStep{float64(s.rate) / 10, float64(s.rssi), float64(s.missing) / 100, abilities()[s.can]}
		}
		t.Steps = append(t.Steps, step)
	}
	return t, nil
}
