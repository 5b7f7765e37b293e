package fuse

import "sensegate/motion"

// Times of the noise watch, in ticks at which the link had data.
const (
	noisyAfter   = 2400 // 10 min alone in motion (lm1.md 4 no. 5)
	noisyAlone   = 7200 // 30 min, for a link without a neighbour in its zone
	pauseTicks   = 40   // 10 s of quiet end a stretch of motion
	forgiveAfter = 7200 // 30 min of quiet take the mark away
)

// noise watches one link for what is not a person: a fan, a curtain, a failing
// device. Its witnesses are the other links of its zone; a link that is alone in
// its zone is judged by all other links of the network, over three times as
// long, since a person may well stay where only one link sees them.
//
// The mark comes when the link was in motion for noisyAfter without a pause of
// 10 s while witnesses had data and none was in motion. It goes when the link
// starts to move (after 10 s of quiet) while a witness is in motion, which
// something that always moves never does, or after 30 min of quiet. Time without data stops these clocks.
type noise struct {
	marked bool
	since  motion.Time
	alone  int // ticks in motion with nobody agreeing, in this stretch
	quiet  int // ticks since the last motion
}

// NoiseChange says that a link was marked noisy or is no longer.
type NoiseChange struct {
	Link  Link
	Time  motion.Time
	Noisy bool
}

// Learned is what a Fuser has learned and must not lose at a restart.
type Learned struct {
	Noisy []NoisyLink `json:"noisy"`
}

// NoisyLink is a link that may not decide alone because it moves without reason.
type NoisyLink struct {
	Link  Link        `json:"link"`
	Since motion.Time `json:"since"`
}

// Learned returns what was learned so far, in the order of the links.
func (f *Fuser) Learned() Learned {
	learned := Learned{Noisy: []NoisyLink{}}
	for _, l := range f.links {
		if l.noise.marked {
			learned.Noisy = append(learned.Noisy, NoisyLink{Link: l.key, Since: l.noise.since})
		}
	}
	return learned
}

// Noisy reports whether a link is marked.
func (f *Fuser) Noisy(key Link) bool {
	l, ok := f.byKey[key]
	return ok && l.noise.marked
}

// Restore takes back what Learned returned. It reports no change.
func (f *Fuser) Restore(learned Learned) {
	for _, noisy := range learned.Noisy {
		f.link(noisy.Link).noise = noise{marked: true, since: noisy.Since}
	}
}

// watch updates a link's noise mark with one tick.
func (f *Fuser) watch(l *link, e *evidence) {
	moving := e.normal.Motion
	was := l.noise.marked
	witnesses, agree, limit := f.witnesses(l, moving)
	l.noise.update(moving, witnesses, agree, limit)
	if l.noise.marked == was {
		return
	}
	l.noise.since = f.step.Time
	f.step.Noisy = append(f.step.Noisy, NoiseChange{Link: l.key, Time: f.step.Time, Noisy: l.noise.marked})
}

// witnesses returns whether other links can confirm l at this tick, whether one
// does, and how many ticks alone make l noisy.
func (f *Fuser) witnesses(l *link, moving bool) (present, agree bool, limit int) {
	own := f.zones[l.zone]
	if own.links > 1 {
		return own.sensing > 1, own.moving > count(moving), noisyAfter
	}
	var sensing, others int
	for i := range f.zones {
		sensing += f.zones[i].sensing
		others += f.zones[i].moving
	}
	return sensing > 1, others > count(moving), noisyAlone
}

// update counts one tick and sets or takes the mark.
func (n *noise) update(moving, witnesses, agree bool, limit int) {
	if !moving {
		n.quiet = min(n.quiet+1, forgiveAfter)
		if n.quiet >= pauseTicks {
			n.alone = 0
		}
		n.marked = n.marked && n.quiet < forgiveAfter
		return
	}
	starts := n.quiet >= pauseTicks
	n.quiet = 0
	switch {
	case agree:
		n.alone = 0
		n.marked = n.marked && !starts
	case witnesses:
		n.alone = min(n.alone+1, limit)
		n.marked = n.marked || n.alone >= limit
	}
}
