package detect

// Levels are the verdicts of a tick at the sensitivity of each settings level, whatever the link's
// own: bit l−1 is level l of SensitivityOf. Each level has a baseline of its own, for a baseline
// follows the power only while the link is not in motion. So they are exactly what the link would
// have decided with that level in force since it began, or since the newest calibration.
type Levels struct{ On, Stay, Motion, Strict uint8 }

// set takes in the verdicts of a level.
func (l *Levels) set(level int, normal, strict Verdict) {
	at := level - 1
	l.On |= bit(normal.On) << at
	l.Stay |= bit(normal.Stay) << at
	l.Motion |= bit(normal.Motion) << at
	l.Strict |= bit(strict.Motion) << at
}

// Pin gives all levels the tick's own verdicts, for a link that keeps to a sensitivity of its own.
func (t *Tick) Pin() {
	t.Levels = Levels{}
	for level := 1; level <= levels; level++ {
		t.Levels.set(level, t.Normal, t.Strict)
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
