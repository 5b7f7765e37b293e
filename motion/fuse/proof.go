package fuse

// Motion is firm (lm1.md 4 no. 6), at a sensitivity, when over the last 4 s links that take part were at their thresholds in four
// samples: two links in a sample count twice. What made a link reach its threshold stays in the link's window
// for up to 2.5 s, and its motion is held for 2 s more: a single disturbance makes motion of up to 4 s, and
// is not firm.
const (
	proofSamples = 8
	proofNeeded  = 4
)

// proof is what the motion of the last samples rests on, in each lane.
type proof struct {
	samples [proofSamples]tally // a ring
	at      int
}

// add takes the links of the next sample that take part in motion and were at their thresholds, and returns the
// lanes in which motion is firm now.
func (p *proof) add(t tally) (firm lanes) {
	p.samples[p.at] = t
	p.at = (p.at + 1) % proofSamples
	for lane := range laneCount {
		sum := 0
		for _, s := range p.samples {
			sum += int(s.once>>lane&1) + int(s.twice>>lane&1)
		}
		if sum >= proofNeeded {
			firm |= 1 << lane
		}
	}
	return firm
}
