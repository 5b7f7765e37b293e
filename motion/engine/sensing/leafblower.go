package sensing

import (
	"cmp"
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// scoreStep is the difference between two scores that counts. A link that is sounded
// has a start of scoreStart, so that two links do not take turns.
const (
	scoreStep  = 0.1
	scoreStart = 0.2
)

// candidate is a link of a leaf that could be sounded.
type candidate struct {
	sensor *sensor
	link   *state.Link
	score  float64 // −1..1, as sounding clients show it
	rank   int     // of its zone in the priority list
	class  int     // its score in steps
	zone   string
	nth    int // of the links of its zone, 0 for the first
}

// chooseLinks decides which links of leafs take part in motion where the appliance
// senses itself: of those that score cutoff or more link_limit, the zones of the
// priority list first, then the best scores, and of equal ones every zone before a
// second link of one (guardian configuration, leafblower). Links between nodes are not
// counted. A guardian chooses its links itself; n.Mu is held.
func (n *network) chooseLinks(now motion.Time) {
	var list []*candidate
	for key, s := range n.pipeline.sensors {
		link := n.Links[n.NameOf(key)]
		if link == nil {
			s.leftOut = ""
			continue
		}
		if !s.last.Time.IsZero() {
			link.Throughput = n.successOf(key, s)
		}
		if link.Mesh || n.Source.Holder == state.GuardianHolds || s.last.Time.IsZero() || !n.LinkOnline(link, now) || n.Denied(link) {
			s.leftOut, link.LeftOut = "", ""
			continue
		}
		list = append(list, n.candidate(key, s, link, now))
	}
	orderCandidates(list)
	sounded := 0
	for _, c := range list {
		reason := ""
		switch {
		case c.score < n.Guardian.Leafblower.Cutoff:
			reason = state.ReasonLowScore
		case sounded >= n.Guardian.Leafblower.LinkLimit:
			reason = state.ReasonLinkLimit
		default:
			sounded++
		}
		c.sensor.leftOut, c.link.LeftOut = reason, reason
	}
}

// successOf returns the share of the sounding of a link that succeeds, 0..1: of what
// the detector finds and what the node reports the lesser.
func (n *network) successOf(key fuse.Link, s *sensor) fuse.Reading {
	return n.lesserThroughput(key, fuse.Reading(s.last.Quality.Valid), s.last.Time)
}

// candidate describes a link that could be sounded.
func (n *network) candidate(key fuse.Link, s *sensor, link *state.Link, now motion.Time) *candidate {
	c := &candidate{sensor: s, link: link, score: state.ScoreOf(link), zone: n.ZoneName(key)}
	if score, rated := n.Rated(key.Src, now); rated {
		c.score = score
	}
	priority := n.Guardian.Leafblower.ZonePriorityList
	if c.rank = slices.Index(priority, c.zone); c.rank < 0 {
		c.rank = len(priority)
	}
	start := 0.0
	if s.leftOut == "" {
		start = scoreStart
	}
	c.class = int(math.Round((c.score + start) / scoreStep))
	return c
}

// orderCandidates puts the links that are to be sounded first.
func orderCandidates(list []*candidate) {
	order := func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.class, a.class), cmp.Compare(a.nth, b.nth), cmp.Compare(a.link.Name, b.link.Name))
	}
	slices.SortFunc(list, order)
	seen := map[string]int{}
	for _, c := range list {
		c.nth = seen[c.zone]
		seen[c.zone]++
	}
	slices.SortFunc(list, order)
}
