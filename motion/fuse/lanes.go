package fuse

import "sensegate/motion/detect"

// lanes are answers to one question at five sensitivities, a bit for each: bit 0 at that in force,
// bit l at settings level l, for all links that have no sensitivity of their own. The rules of
// fusion run in all of them at once.
type lanes uint8

const laneCount = 5

// lanesOf returns the answer in force together with those at the settings levels.
func lanesOf(inForce bool, levels uint8) lanes { return lanes(levels)<<1 | lanes(count(inForce)) }

func (l lanes) inForce() bool { return l&1 != 0 }

// tally counts up to two, in each lane.
type tally struct{ once, twice lanes }

func (t *tally) add(l lanes) {
	t.twice |= t.once & l
	t.once |= l
}

// without returns the lanes in which others than l are counted; l was counted too.
func (t tally) without(l lanes) lanes { return t.twice | t.once&^l }

// Levels says at which settings levels a sample would have been in motion, and at which firmly (bit l−1, and l+3).
type Levels uint16

// judged is in the Levels of all samples of a Fuser.
const judged Levels = 1 << 8

func levelsOf(motion, firm lanes) Levels { return Levels(motion>>1) | Levels(firm>>1)<<4 | judged }

// Known reports whether the sample was judged at all levels. A device's own sample was not: it was
// measured by the thresholds of the device.
func (l Levels) Known() bool { return l&judged != 0 }

// Motion reports whether the sample would have been in motion at a level of detect.SensitivityOf.
func (l Levels) Motion(level int) bool { return l>>(level-1)&1 != 0 }

// Firm reports whether it would have been in motion firmly; see Sample.Firm.
func (l Levels) Firm(level int) bool { return l>>(level+3)&1 != 0 }

// verdicts returns the verdicts of a tick in all lanes.
func verdicts(t *detect.Tick) (on, stay, moving, strict lanes) {
	return lanesOf(t.Normal.On, t.Levels.On), lanesOf(t.Normal.Stay, t.Levels.Stay),
		lanesOf(t.Normal.Motion, t.Levels.Motion), lanesOf(t.Strict.Motion, t.Levels.Strict)
}
