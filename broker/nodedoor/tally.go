package nodedoor

import (
	"cmp"
	"slices"
	"time"

	"sensegate/motion"
)

// span is how many seconds rates are of.
const span = 10

// maxLengths is how many lengths of frames are told apart.
const maxLengths = 8

// tally counts what arrives of a node.
type tally struct {
	arrived, used, same int64 // since the last second
	seconds             [span]struct{ arrived, used, same, backwards int64 }
	at                  int

	counted                                             int64 // frames that were used
	duplicates, backwards, restarts, identical, tooFast int64 // since the start
	before                                              int64 // backwards and restarts at the last second
	lengths                                             []frameLength
}

type frameLength struct {
	bytes int
	count int64
}

// length counts a frame of a length.
func (t *tally) length(bytes int) {
	i := slices.IndexFunc(t.lengths, func(l frameLength) bool { return l.bytes == bytes })
	if i < 0 {
		if len(t.lengths) == maxLengths {
			return
		}
		t.lengths = append(t.lengths, frameLength{bytes: bytes})
		i = len(t.lengths) - 1
	}
	t.lengths[i].count++
}

// second ends a second and returns the sums of the last ten.
func (t *tally) second() (arrived, used, same, backwards int64) {
	s := &t.seconds[t.at%span]
	t.at++
	back := t.backwards + t.restarts
	s.arrived, s.used, s.same, s.backwards = t.arrived, t.used, t.same, back-t.before
	t.arrived, t.used, t.same, t.before = 0, 0, 0, back
	for _, s := range t.seconds {
		arrived, used, same, backwards = arrived+s.arrived, used+s.used, same+s.same, backwards+s.backwards
	}
	return arrived, used, same, backwards
}

// Shares from which something is told.
const (
	backShare = 0.1
	sameShare = 0.1
)

// tell tells the engine what arrives of a node.
func (d *Door) tell(n *node, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.id == "" || d.nodes[n.id] != n {
		return
	}
	n.settle(func(mac motion.MAC) bool { return n.key.ID != "" && d.options.Engine.KnowsTransmitter(n.key, mac) }, d.config.Transmitters)
	t := &n.tally
	arrived, used, same, backwards := t.second()
	seconds := float64(min(t.at, span))
	f := motion.NodeFigures{
		Kind: n.source.kind, Address: n.at(), MAC: n.mac, Heard: motion.TimeOf(n.heard),
		Rate: motion.Round(float64(arrived)/seconds, 1), Used: motion.Round(float64(used)/seconds, 1),
		Lengths: []motion.FrameLength{}, Transmitters: []motion.Transmitter{}, Advice: []motion.NodeAdvice{},
		Counted: t.counted, Duplicates: t.duplicates, Backwards: t.backwards, Restarts: t.restarts, Identical: t.identical, TooFast: t.tooFast,
	}
	all := int64(0)
	for _, l := range t.lengths {
		all += l.count
	}
	for _, l := range t.lengths {
		f.Lengths = append(f.Lengths, motion.FrameLength{Bytes: l.bytes, Share: motion.Round(float64(l.count)/float64(all), 2)})
	}
	slices.SortFunc(f.Lengths, func(a, b motion.FrameLength) int { return cmp.Compare(b.Share, a.Share) })
	all = n.transmitted()
	for i := range n.transmitters {
		o := &n.transmitters[i]
		f.Transmitters = append(f.Transmitters, motion.Transmitter{
			MAC: o.mac, Share: motion.Round(float64(o.count)/float64(max(all, 1)), 2), Used: n.key.ID != "" && n.uses(o, len(d.config.Transmitters) > 0), Counted: o.counted,
		})
	}
	advise := func(yes bool, a motion.NodeAdvice) {
		if yes {
			f.Advice = append(f.Advice, a)
		}
	}
	advise(arrived == 0, motion.NothingArrives)
	advise(backwards > 0 && float64(backwards) > backShare*float64(arrived), motion.SecondSource)
	advise(same > 0 && float64(same) > sameShare*float64(arrived), motion.SameAgain)
	advise(n.key.ID != "" && all >= aloneAfter && arrived > 0 && used == 0, motion.NoTransmitter)
	advise(len(n.transmitters) >= maxTransmitters/2, motion.TooManyTransmitter)
	advise(t.tooFast > 0, motion.BeyondRate)
	advise(n.mac.IsZero() && n.source.where == "" && !n.source.address.IsLoopback(), motion.NeighbourUnknown)
	d.options.Engine.NodeFigures(n.id, &f)
}
