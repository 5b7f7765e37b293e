package fuse

// minIntensity is the least intensity of a link that takes part in motion, so that intensity
// > 0 means motion (device-protocol.md 3).
const minIntensity = 0.01

// votes counts the links at one tick.
type votes struct {
	sensing int   // had data in the last 2 s
	valid   int   // have data at this tick
	on      tally // start motion at the normal thresholds; a link near a fan does if another one does too
	stay    tally // keep motion
	moving  tally // are in motion at the normal thresholds
}

// joint is motion that two links confirm together.
type joint struct {
	on   lanes
	last [laneCount]int64 // newest tick at which two links were on or at stay
}

// update starts joint motion when two links are on in the same tick, and ends it 2 s after two
// were last at stay.
func (j *joint) update(k int64, v *votes) {
	confirmed := v.on.twice | j.on&v.stay.twice
	j.on |= confirmed
	if j.on == 0 {
		return
	}
	for i := range j.last {
		switch bit := lanes(1) << i; {
		case confirmed&bit != 0:
			j.last[i] = k
		case k-j.last[i] >= holdTicks:
			j.on &^= bit
		}
	}
}

// fuse decides tick time k (lm1.md 4 no. 1 to no. 5) and emits it.
//
// The votes count the links of the network, not of a zone: a zone mostly has one link, and
// letting a single link of a zone decide at its normal thresholds would be the plain OR of
// links, which multiplies false alarms. A zone is in motion when one of its links takes part.
func (f *Fuser) fuse(k int64) {
	f.head = k
	v := f.count(k)
	if !f.started && v.valid == 0 {
		return // before the first data
	}
	f.started = true
	f.joint.update(k, &v)
	f.step = Step{Time: tickTime(k), Valid: v.valid > 0, Noisy: f.step.Noisy[:0]}
	var moves lanes
	var reached tally
	for _, l := range f.links {
		e := l.at(k)
		if e == nil {
			continue
		}
		part := l.decides(e, &v) | f.joint.on&(e.moving|e.stay&^v.moving.once)
		moves |= part
		reached.add(part & e.on)
		l.gather(e, part.inForce())
		f.watch(l, e, &v)
	}
	f.step.Motion = moves.inForce()
	f.moved |= moves
	f.reached.once |= reached.once
	f.reached.twice |= reached.twice
	if k%2 == 0 {
		f.step.Sample = f.complete()
	}
	f.emit(&f.step)
}

// count counts the votes of tick time k, for the network and for each zone.
func (f *Fuser) count(k int64) votes {
	for i := range f.zones {
		f.zones[i].moving = tally{}
	}
	var v votes
	rhythms := 0 // sensing links that come and go at one rhythm
	for _, l := range f.links {
		if l.at(k) != nil {
			l.sensed = k
			v.valid++
		}
		if k-l.sensed < liveTicks {
			v.sensing++
			rhythms += count(l.noise.rhythm.kept)
		}
	}
	fan := rhythms <= fanLinks && rhythms < v.sensing
	var fanned lanes // start motion, and a fan explains it
	for _, l := range f.links {
		l.noise.fan = fan && l.noise.rhythm.kept
		e := l.at(k)
		if e == nil {
			continue
		}
		if l.noise.explains(e) {
			fanned |= e.on
		} else {
			v.on.add(e.on)
		}
		v.stay.add(e.stay)
		v.moving.add(e.moving)
		f.zones[l.zone].moving.add(e.moving)
	}
	v.on.twice |= v.on.once & fanned
	return v
}

// decides reports whether a link alone decides motion of the network: at the strict thresholds
// unless it is weak or coarse; at the normal ones if it is the network's only link (then even if
// weak or coarse, which lowers the sample's confidence). A noisy link never does, nor one near a fan.
func (l *link) decides(e *evidence, v *votes) lanes {
	switch {
	case v.sensing == 1:
		return e.moving &^ l.noise.marked
	case e.infirm:
		return 0
	}
	return e.strict &^ l.noise.doubted(e)
}

// gather merges a tick into the link's sample by maximum.
func (l *link) gather(e *evidence, part bool) {
	s := &l.sample
	s.Intensity, s.Raw = s.Intensity.orZero(), max(s.Raw.orZero(), e.raw)
	if part || l.near(e) {
		s.scattered = max(s.scattered, e.scattered)
	}
	if part {
		s.Intensity = max(s.Intensity, e.intensity, minIntensity)
	}
	if !s.MSAD.Known() || e.msad > s.MSAD {
		s.MSAD, s.MConf = e.msad, e.mconf
	}
	s.Reach = max(s.Reach.orZero(), e.reach)
	s.Throughput = Reading(e.share)
	s.weight, s.Infirm, s.Noisy = l.weight(e), e.infirm, l.noise.doubtful()
}

// complete returns the sample that ends with this tick and starts the next.
func (f *Fuser) complete() *Sample {
	s := &f.sample
	s.Time, s.Interval, s.Links = f.step.Time, sampleInterval, s.Links[:0]
	for _, l := range f.links {
		s.Links = append(s.Links, l.sample)
		l.sample.reset()
	}
	s.compose()
	f.locate(s)
	firm := f.proof.add(f.reached) & f.moved
	s.Firm, s.Levels = firm.inForce(), levelsOf(f.moved, firm)
	f.moved, f.reached = 0, tally{}
	return s
}

// count returns 1 for true and 0 for false.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
