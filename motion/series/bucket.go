package series

// plan says how a question is answered: which tiers take part, in which buckets.
type plan struct {
	tiers    []tierValues // finest first; those that hold data and fit the bucket
	from, to int64
	bucket   int64 // effective
	first    int64 // start of the first bucket
	points   int
}

// plan chooses the tiers and the effective bucket for the series ids in
// [from, to): the bucket is rounded up to a multiple of the finest tier that
// holds data, and then of every coarser one that is not coarser than it
// (payloads.md 4.6, section 6 no. 10). Each step divides the next.
func (s *Set) plan(ids []ID, from, to, bucket int64) (plan, error) {
	p := plan{from: min(max(from, 0), maxStart), to: min(to, maxStart), bucket: min(max(bucket, 1), maxStart)}
	for _, t := range s.tiers {
		found, err := t.holdsAny(ids, p.from, p.to)
		if err != nil {
			return plan{}, err
		}
		if !found || len(p.tiers) > 0 && t.tier.Step() > p.bucket {
			continue
		}
		p.tiers = append(p.tiers, t)
		p.bucket = ceilTo(p.bucket, t.tier.Step())
	}
	step := int64(1)
	if len(p.tiers) > 0 {
		step = p.tiers[0].tier.Step()
	}
	start := ceilTo(p.from, step)
	p.first = floorTo(start, p.bucket)
	if start < p.to {
		p.points = int((p.to-1-p.first)/p.bucket) + 1
	}
	return p, nil
}

func (t tierValues) holdsAny(ids []ID, from, to int64) (bool, error) {
	for _, id := range ids {
		if found, err := t.holds(id, from, to); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// direct reports whether each bucket is one row of the only tier.
func (p plan) direct() bool { return len(p.tiers) == 1 && p.tiers[0].tier.Step() == p.bucket }

// sum is what a bucket's rows add up to.
type sum struct {
	percents int64 // Σ seconds × density (of a location: share), percent
	seconds  int64 // that hold data
	peak     uint16
}

func (s *sum) add(seconds int64, milli, percent uint16) {
	s.seconds += seconds
	s.percents += seconds * int64(percent)
	s.peak = max(s.peak, milli)
}

// sums adds up the rows of series id per bucket. Where tiers overlap, a second
// counts with the row of the finest tier that holds it.
func (p plan) sums(id ID) ([]sum, error) {
	a := adder{plan: p, out: make([]sum, p.points)}
	for k, t := range p.tiers {
		a.held, a.next = a.next, covered{}
		if k+1 < len(p.tiers) {
			a.next = a.held.fold(p.tiers[k+1].tier.Step(), t.extent(p.from, p.to))
		}
		a.step = t.tier.Step()
		if err := t.walk(id, p.from, p.to, a.add); err != nil {
			return nil, err
		}
	}
	return a.out, nil
}

// adder adds the rows of one tier after the other to their buckets.
type adder struct {
	plan
	out  []sum
	step int64   // of the tier being added
	held covered // by finer tiers, in slots of this tier's rows
	next covered // by this one too, in slots of the next tier's rows
}

func (a *adder) add(s stretch) bool {
	switch {
	case s.kind == absent:
	case s.kind == zero && len(a.held.seconds) == 0:
		a.addZeros(s.start, s.start+int64(s.rows)*a.step)
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
		seconds := a.step - a.held.at(ts)
		if seconds <= 0 {
			continue
		}
		if s.kind == zero {
			bucket.add(seconds, 0, 0)
		} else {
			bucket.add(seconds, s.milli[i], s.percents[i])
		}
		a.next.add(ts, seconds)
	}
}

// addZeros adds rows with value 0 from second from to second to. A last row that
// reaches over the end counts whole in the last bucket, as it does in addRows.
func (a *adder) addZeros(from, to int64) {
	a.next.add(from, to-from)
	last := int64(len(a.out)) - 1
	for from < to {
		i, stop := (from-a.first)/a.bucket, to
		if i < last {
			stop = min(to, a.first+(i+1)*a.bucket)
		}
		a.out[i].add(stop-from, 0, 0)
		from = stop
	}
}

// covered counts the seconds that are held, in slots of step seconds.
type covered struct {
	origin, step int64
	seconds      []int32
}

// extent returns the part of [from, to) that the values reach over.
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

// at returns the seconds held of the slot that begins at ts.
func (c covered) at(ts int64) int64 {
	if len(c.seconds) == 0 || ts < c.origin {
		return 0
	}
	if i := (ts - c.origin) / c.step; i < int64(len(c.seconds)) {
		return int64(c.seconds[i])
	}
	return 0
}

// add counts the given seconds from ts on as held.
func (c covered) add(ts, seconds int64) {
	for seconds > 0 && len(c.seconds) > 0 {
		i := (ts - c.origin) / c.step
		n := min(seconds, c.origin+(i+1)*c.step-ts)
		c.seconds[i] += int32(n)
		ts, seconds = ts+n, seconds-n
	}
}
