package series

import "errors"

// sum is the sum of the rows of a bucket, in the units of record.
type sum struct {
	seconds int64
	motion  int64
	total   int64
	peak    uint16
}

// add adds the given number of seconds of r, which holds at least as many.
func (s *sum) add(r record, seconds int64) {
	s.peak = max(s.peak, r.peak)
	s.seconds += seconds
	if of := int64(r.seconds); seconds == of {
		s.motion += int64(r.motion)
		s.total += int64(r.total)
	} else {
		s.motion += (int64(r.motion)*seconds + of/2) / of
		s.total += (int64(r.total)*seconds + of/2) / of
	}
}

// sums adds up the rows of series id in the buckets that overlap the parts, as far as m needs
// them; first is the number of the first bucket. Where tiers of a part overlap, the finest tier
// that holds a second counts.
func (p plan) sums(id ID, m Measure, parts []part) (first int, out []sum, err error) {
	first = p.index(parts[0].from)
	out = make([]sum, p.index(parts[len(parts)-1].to-1)+1-first)
	for _, t := range parts {
		a := adder{first: p.first + int64(first)*p.bucket, bucket: p.bucket, out: out, id: id, part: t}
		for k, tier := range t.tiers {
			a.tier = k
			a.held, a.next = a.next, covered{}
			if k+1 < len(t.tiers) {
				a.next = a.held.fold(t.tiers[k+1].tier.Step(), tier.extent(t.from, t.to))
			}
			a.step = tier.tier.Step()
			if err := errors.Join(tier.walk(id, t.from, t.to, m.depth(), a.add), a.err); err != nil {
				return 0, nil, err
			}
		}
	}
	return first, out, nil
}

// adder adds the rows of the tiers, one tier after the other, to their buckets.
type adder struct {
	first, bucket int64 // start of out[0], and seconds per bucket
	out           []sum
	step          int64   // of the current tier
	held          covered // by finer tiers, in slots of this tier's rows
	next          covered // by this and finer tiers, in slots of the next tier's rows

	id   ID
	part part
	tier int // index in part.tiers of the current tier
	err  error
}

func (a *adder) add(s stretch) bool {
	switch {
	case s.kind == absent:
	case len(s.values) == 0 && len(s.seconds) == 0 && len(a.held.seconds) == 0:
		a.addZeros(s.start, s.start+int64(s.rows)*a.step)
	case len(s.seconds) == 0 && len(a.held.seconds) == 0:
		a.addWhole(s)
	default:
		a.addRows(s)
	}
	return true
}

// addRows adds each row of s with the seconds that no finer tier holds.
func (a *adder) addRows(s stretch) {
	var bucket *sum
	stop := s.start // of bucket
	for i := range s.rows {
		ts := s.start + int64(i)*a.step
		if ts >= stop {
			n := (ts - a.first) / a.bucket
			bucket, stop = &a.out[n], a.first+(n+1)*a.bucket
		}
		r := s.record(i, a.step)
		seconds := int64(r.seconds) - a.held.at(ts)
		if seconds <= 0 {
			continue
		}
		if seconds < int64(r.seconds) && !r.alike(a.step, a.id.isLocation()) {
			a.subtract(&r, ts)
		}
		bucket.add(r, min(seconds, int64(r.seconds)))
		a.next.add(ts, seconds)
	}
}

// addWhole is addRows of active rows whose seconds all hold data and none of which a finer tier holds.
func (a *adder) addWhole(s stretch) {
	for i := 0; i < s.rows; {
		ts := s.start + int64(i)*a.step
		n := (ts - a.first) / a.bucket
		stop := i + rowsBefore(a.first+(n+1)*a.bucket-ts, a.step, s.rows-i)
		a.out[n].addWhole(&s, i, stop, a.step)
		a.next.add(ts, int64(stop-i)*a.step)
		i = stop
	}
}

// addWhole adds active rows [from, to) of a stretch, each with all its step seconds.
func (s *sum) addWhole(of *stretch, from, to int, step int64) {
	s.seconds += int64(to-from) * step
	for _, milli := range of.values[from:to] {
		s.peak = max(s.peak, milli)
	}
	if len(of.motion) > 0 {
		s.motion += added(of.motion[from:to])
		s.total += added(cut(of.totals, from, to))
		return
	}
	s.motion += step * added(of.densities[from:to])
	s.total += step * added(of.values[from:to])
}

// added returns the sum of values.
func added[N number](values []N) (all int64) {
	for _, v := range values {
		all += int64(v)
	}
	return all
}

// alike reports whether all seconds of a row of step seconds are equal, as in a device's
// history; its total may be unknown.
func (r record) alike(step int64, share bool) bool {
	switch {
	case int64(r.seconds) != step:
		return false
	case share:
		return shareUnit*int64(r.motion) == step*int64(r.peak)
	}
	return r.motion == 0 || r.motion == full*uint32(step)
}

// subtract subtracts the rows of the next finer tier, which were added before, from the sum r
// of the row that begins at ts and contains them.
func (a *adder) subtract(r *record, ts int64) {
	finer := a.part.tiers[a.tier-1]
	err := finer.walk(a.id, max(ts, a.part.from), min(ts+a.step, a.part.to), everything, func(s stretch) bool {
		for i := 0; i < s.rows && s.kind != absent; i++ {
			row := s.record(i, finer.tier.Step())
			r.seconds -= min(r.seconds, row.seconds)
			r.motion -= min(r.motion, row.motion)
			r.total -= min(r.total, row.total)
		}
		return true
	})
	a.err = errors.Join(a.err, err)
}

// addZeros adds rows with value 0 from second from to second to. Like addRows, it counts a last
// row that crosses the end whole in the last bucket.
func (a *adder) addZeros(from, to int64) {
	a.next.add(from, to-from)
	last := int64(len(a.out)) - 1
	for from < to {
		i, stop := (from-a.first)/a.bucket, to
		if i < last {
			stop = min(to, a.first+(i+1)*a.bucket)
		}
		a.out[i].seconds += stop - from
		from = stop
	}
}

// covered counts the seconds held, in slots of step seconds.
type covered struct {
	origin, step int64
	seconds      []int32
}

// extent returns the part of [from, to) that the values cover.
func (t tierValues) extent(from, to int64) [2]int64 {
	values := t.between(from, to)
	if len(values) == 0 {
		return [2]int64{from, from}
	}
	return [2]int64{max(from, values[0].start), min(to, values[len(values)-1].end())}
}

// fold returns c in wider slots of step seconds, with room for extent too.
func (c covered) fold(step int64, extent [2]int64) covered {
	end := c.origin + int64(len(c.seconds))*c.step
	if len(c.seconds) > 0 {
		extent = [2]int64{min(extent[0], c.origin), max(extent[1], end)}
	}
	wide := covered{origin: floorTo(extent[0], step), step: step}
	wide.seconds = make([]int32, max(0, (ceilTo(extent[1], step)-wide.origin)/step))
	for i, n := range c.seconds {
		wide.add(c.origin+int64(i)*c.step, int64(n))
	}
	return wide
}

// at returns the number of seconds held in the slot that begins at ts.
func (c covered) at(ts int64) int64 {
	if len(c.seconds) == 0 || ts < c.origin {
		return 0
	}
	if i := (ts - c.origin) / c.step; i < int64(len(c.seconds)) {
		return int64(c.seconds[i])
	}
	return 0
}

// add counts the given number of seconds from ts on as held.
func (c covered) add(ts, seconds int64) {
	for seconds > 0 && len(c.seconds) > 0 {
		i := (ts - c.origin) / c.step
		n := min(seconds, c.origin+(i+1)*c.step-ts)
		c.seconds[i] += int32(n)
		ts, seconds = ts+n, seconds-n
	}
}
