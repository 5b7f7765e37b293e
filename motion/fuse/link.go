package fuse

import (
	"math"

	"sensegate/motion/detect"
)

// pendingTicks is the number of a link's ticks that can wait for fusion: more than waitTicks,
// and a power of two.
const pendingTicks = 8

// never is the index of a tick before all others.
const never = math.MinInt64 / 2

// lowRateCoherence is the coherence R that a low-rate link needs to start motion (lm1.md 2
// no. 5).
const lowRateCoherence = 0.05

// link is the state of one link.
type link struct {
	key     Link
	zone    int   // index in Fuser.zones
	far     int   // that of its other end, −1 = unknown
	heard   int64 // newest tick that arrived in time
	sensed  int64 // newest tick that was valid when it was fused
	late    int64 // ticks that arrived after their time was fused
	pending [pendingTicks]evidence
	sample  LinkSample // the current sample
	noise   noise

	moved   lanes // of the newest tick: in motion
	doubted lanes // in motion, which began with a jump and nothing but it has shown since
}

// evidence is the part of a tick that fusion needs.
type evidence struct {
	index  int64 // of the tick, in tick intervals since the epoch
	valid  bool
	infirm bool // weak or coarse: may not decide alone

	on, stay, moving lanes // the verdict at the normal thresholds
	strict           lanes // in motion at the strict ones

	intensity, raw, msad, mconf, reach Reading
	share, scattered                   float64
}

// store keeps a tick until its time is fused.
func (l *link) store(index int64, t *detect.Tick) {
	e := evidence{index: index, valid: t.Valid}
	if !t.Valid {
		l.moved, l.doubted = 0, 0
	} else {
		e.on, e.stay, e.moving, e.strict = verdicts(t)
		l.doubt(&e, t.Jump)
		e.infirm = t.Quality.Weak || t.Quality.Coarse
		e.raw = Reading(unit((t.Power - t.Baseline) / 5))
		e.intensity = e.raw
		if t.Normal.Motion {
			e.intensity = Reading(unit(t.Intensity))
		}
		e.msad, e.mconf = margin(t)
		e.scattered = Scattered(t)
		e.reach = Reading(t.Reach)
		e.share = unit(t.Quality.Valid)
	}
	l.pending[index&(pendingTicks-1)] = e
}

// doubt takes away what a jump alone starts, until something else shows motion.
func (l *link) doubt(e *evidence, jump bool) {
	if jump {
		l.doubted |= e.moving &^ l.moved
		e.on = 0
	}
	l.doubted &= e.moving &^ e.on
	l.moved = e.moving
	e.moving &^= l.doubted
	e.strict &^= l.doubted
}

// at returns the evidence of tick index, or nil if the link had no tick or no data then.
func (l *link) at(index int64) *evidence {
	e := &l.pending[index&(pendingTicks-1)]
	if e.index != index || !e.valid {
		return nil
	}
	return e
}

// forget drops all pending ticks and the current sample.
func (l *link) forget() {
	for i := range l.pending {
		l.pending[i].index = never
	}
	l.heard, l.sensed = never, never
	l.sample.reset()
}

// margin returns a tick's msad = 100·R and mconf = 100·(the on threshold) (device-protocol.md
// 3). A low-rate link decides on power, which is not on the scale of R: its mconf is the coherence
// that it needs besides. Both are absent for a link without coherence (RSSI only, intensity only).
func margin(t *detect.Tick) (msad, mconf Reading) {
	r := Reading(t.Features.R)
	switch {
	case !r.Known():
		return Unknown(), Unknown()
	case t.On < 0: // a threshold on lm lies between −8 and −4
		return 100 * r, 100 * lowRateCoherence
	}
	return 100 * r, Reading(100 * t.On)
}

// weight returns the weight of a link's amplitude in the strength of its rooms.
func (l *link) weight(e *evidence) float64 {
	w := max(e.share, 0.1)
	if e.infirm {
		w *= 0.5
	}
	if l.noise.doubtful() {
		w *= 0.25
	}
	return w
}

// unit returns v limited to 0..1, and 0 for NaN.
func unit(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}
