package fuse

import (
	"math/bits"

	"sensegate/motion"
)

// Durations of the noise watch, in ticks at which the link had data.
const (
	noisyAfter   = 2400 // 10 min alone in motion (lm1.md 4 no. 5)
	noisyAlone   = 7200 // 30 min, for a link that no other one runs beside
	pauseTicks   = 40   // 10 s of quiet end a period of motion
	forgiveAfter = 7200 // 30 min of quiet remove the mark
)

// noise detects motion of one link that is not a person: a fan, a curtain, a failing device. The
// witnesses of a link are the other links of its zone, if one of them runs beside it: has its other end in the
// same room too. Else they are all other links of the network, with a limit three times as long, because a person may
// stay where only one link sees them, which may be a room that it crosses and in which it does not end.
//
// A link is marked after motion for noisyAfter without a pause of 10 s, while witnesses had data
// and none was in motion. The mark is removed when the link starts to move (after 10 s of quiet)
// while a witness is in motion, which a fan never does, or after 30 min of quiet. Time without
// data does not count.
type noise struct {
	marked lanes
	since  motion.Time      // of the mark in force
	ticks  int64            // with data
	moved  [laneCount]int64 // ticks at the end of the last motion
	alone  [laneCount]int32 // ticks in motion without an agreeing witness, in this period
	rhythm rhythm
	fan    bool // the rhythm is that of a fan
}

// doubtful reports whether the link may not decide alone.
func (n *noise) doubtful() bool { return n.marked.inForce() || n.fan }

// doubted returns the lanes in which a link may not decide alone by what it shows.
func (n *noise) doubted(e *evidence) lanes {
	if n.explains(e) {
		return 1<<laneCount - 1
	}
	return n.marked
}

// explains reports whether what a link reaches is no more than a fan does.
func (n *noise) explains(e *evidence) bool {
	return n.fan && !(float64(e.reach) > beyond*n.rhythm.most)
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
		if l.noise.marked.inForce() {
			learned.Noisy = append(learned.Noisy, NoisyLink{Link: l.key, Since: l.noise.since})
		}
	}
	return learned
}

// Noisy reports whether a link is marked, or near a fan.
func (f *Fuser) Noisy(key Link) bool {
	l, ok := f.byKey[key]
	return ok && l.noise.doubtful()
}

// Restore applies what Learned returned. It reports no change.
func (f *Fuser) Restore(learned Learned) {
	for _, noisy := range learned.Noisy {
		f.link(noisy.Link).noise = noise{marked: 1<<laneCount - 1, since: noisy.Since}
	}
}

// watch updates a link's noise mark with one tick.
func (f *Fuser) watch(l *link, e *evidence, v *votes) {
	l.noise.ticks++
	if v.sensing > 1 {
		l.noise.rhythm.add(e.index, float64(e.reach))
	} else { // nobody else would see what it explains
		l.noise.rhythm = rhythm{}
	}
	if l.noise.marked|e.moving == 0 {
		return
	}
	was := l.noise.marked.inForce()
	witnesses, agree, limit := f.witnesses(l, e.moving, v)
	l.noise.update(e.moving, witnesses, agree, limit)
	if l.noise.marked.inForce() == was {
		return
	}
	l.noise.since = f.step.Time
	f.step.Noisy = append(f.step.Noisy, NoiseChange{Link: l.key, Time: f.step.Time, Noisy: !was})
}

// witnesses reports whether other links can confirm l at this tick, in which lanes one does, and
// after how many ticks alone l is noisy.
func (f *Fuser) witnesses(l *link, moving lanes, v *votes) (present bool, agree lanes, limit int32) {
	beside := false
	for _, o := range f.links {
		if o != l && o.zone == l.zone && o.far == l.far && l.far >= 0 {
			beside, present = true, present || o.at(f.head) != nil
		}
	}
	if beside {
		return present, f.zones[l.zone].moving.without(moving), noisyAfter
	}
	return v.valid > 1, v.moving.without(moving), noisyAlone
}

// update sets or removes the marks after one more tick.
func (n *noise) update(moving lanes, witnesses bool, agree lanes, limit int32) {
	for rest := moving | n.marked; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(uint8(rest))
		bit := lanes(1) << i
		if moving&bit == 0 {
			if n.ticks-n.moved[i] >= forgiveAfter {
				n.marked &^= bit
			}
			continue
		}
		starts := n.ticks-1-n.moved[i] >= pauseTicks
		n.moved[i] = n.ticks
		if starts {
			n.alone[i] = 0
		}
		switch {
		case agree&bit != 0:
			n.alone[i] = 0
			if starts {
				n.marked &^= bit
			}
		case witnesses:
			n.alone[i] = min(n.alone[i]+1, limit)
			if n.alone[i] >= limit {
				n.marked |= bit
			}
		}
	}
}
