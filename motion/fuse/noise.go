package fuse

import "sensegate/motion"

// Durations of the noise watch, in ticks at which the link had data.
const (
	noisyAfter   = 2400 // 10 min alone in motion (lm1.md 4 no. 5)
	noisyAlone   = 7200 // 30 min, for a link that is alone in its zone
	pauseTicks   = 40   // 10 s of quiet end a period of motion
	forgiveAfter = 7200 // 30 min of quiet remove the mark
)

// noise detects motion of one link that is not a person: a fan, a curtain, a failing device. The
// witnesses of a link are the other links of its zone. For a link alone in its zone they are all
// other links of the network, with a limit three times as long, because a person may stay where
// only one link sees them.
//
// A link is marked after motion for noisyAfter without a pause of 10 s, while witnesses had data
// and none was in motion. The mark is removed when the link starts to move (after 10 s of quiet)
// while a witness is in motion, which a fan never does, or after 30 min of quiet. Time without
// data does not count.
type noise struct {
	marked bool
	since  motion.Time
	alone  int // ticks in motion without an agreeing witness, in this period
	quiet  int // ticks since the last motion
}

// NoiseChange says that a link was marked noisy, or that the mark was removed.
type NoiseChange struct {
	Link  Link
	Time  motion.Time
	Noisy bool
}

// Learned is the state of a Fuser that must survive a restart.
type Learned struct {
	Noisy []NoisyLink `json:"noisy"`
}

// NoisyLink is a link that may not decide alone because of the noise watch.
type NoisyLink struct {
	Link  Link        `json:"link"`
	Since motion.Time `json:"since"`
}

// Learned returns the learned state, in the order of the links.
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

// Restore applies what Learned returned. It reports no change.
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

// witnesses reports whether other links can confirm l at this tick, whether one does, and after
// how many ticks alone l is noisy.
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

// update counts one tick and sets or removes the mark.
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
