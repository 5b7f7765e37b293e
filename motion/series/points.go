package series

import "errors"

// Measure is the quantity that a query asks for.
type Measure uint8

// The measures (payloads.md 4.6).
const (
	Intensity Measure = iota + 1 // greatest in the bucket, 0..1, three decimals; of a location its greatest share
	Density                      // percentage of the bucket's samples above 0, two decimals; of a location its mean share (see Shares)
	State                        // 0 none, 1 low, 2 motion: derived from Intensity and Density
	Mean                         // intensity, mean of the seconds with data, 0..1, three decimals; of a location its mean share

	held // seconds with data
)

// Bounds of state 2 (payloads.md 4.6).
const (
	motionIntensity = 300 // ÷ 1000
	motionDensity   = 20  // percent
)

// Query asks for the points of one series.
type Query struct {
	Series   ID
	Measure  Measure
	From, To int64 // seconds, [From, To): rows that begin in it count
	Bucket   int64 // seconds, at least 1; the caller limits (To−From)/Bucket
}

// Points are equidistant values of a measure, null where there is no data. The zero Points are
// empty.
type Points struct {
	Start  int64 // of the first bucket, seconds; a multiple of Bucket
	Bucket int64 // seconds between points: the effective bucket
	scale  scale
	values []int32 // × scale; null
}

// null is the value of a bucket without data.
const null = -1

// scale is the number of steps between 0 and 1 of a measure.
type scale int32

const (
	whole scale = 1
	centi scale = 100
	milli scale = 1000
)

func (m Measure) scale() scale {
	switch m {
	case Intensity, Mean:
		return milli
	case Density:
		return centi
	}
	return whole
}

// of returns the measure of a bucket in steps of its scale.
func (m Measure) of(s sum) int32 {
	switch {
	case s.seconds == 0:
		return null
	case m == Intensity:
		return int32(s.peak)
	case m == Mean:
		return int32((s.total + s.seconds/2) / s.seconds)
	case m == Density:
		return int32((s.motion*100 + s.seconds/2) / s.seconds)
	case s.peak >= motionIntensity || s.motion >= motionDensity*s.seconds:
		return 2
	case s.motion > 0:
		return 1
	}
	return 0
}

// Points answers q. In the first and last bucket only rows inside [From, To) count. The bucket
// is rounded up, see plan. The error is ErrDamaged.
func (s *Set) Points(q Query) (Points, error) {
	p, err := s.plan([]ID{q.Series}, q.From, q.To, q.Bucket)
	if err != nil {
		return Points{}, err
	}
	return p.read(q.Series, q.Measure, nil)
}

// read answers for series id; as shares of the network's presence if network is not nil.
func (p plan) read(id ID, m Measure, network *presence) (Points, error) {
	out := Points{Start: p.first, Bucket: p.bucket, scale: m.scale(), values: make([]int32, p.points)}
	for i := range out.values {
		out.values[i] = null
	}
	for _, parts := range p.stretches() {
		if p.direct(parts[0]) {
			if err := p.copyRows(out.values, parts[0], id, m, network); err != nil {
				return Points{}, err
			}
			continue
		}
		first, sums, err := p.sums(id, m, parts)
		if err != nil {
			return Points{}, err
		}
		for i, s := range sums {
			if s, err = network.outOf(s, first+i); err != nil {
				return Points{}, err
			}
			out.values[first+i] = m.of(s)
		}
	}
	return out, nil
}

// copyRows writes the measures of the rows of a part; each row is a bucket.
func (p plan) copyRows(values []int32, t part, id ID, m Measure, network *presence) (err error) {
	walked := t.tiers[0].walk(id, t.from, t.to, m.rowDepth(), func(s stretch) bool {
		if s.kind == absent {
			return true
		}
		first := p.index(s.start)
		at := values[first:][:s.rows]
		switch {
		case s.kind == zero:
			clear(at)
		case network != nil && len(s.seconds) > 0:
			err = network.copyShares(at, &s, first, m)
		default:
			for i := range at {
				at[i] = m.ofRow(&s, i, p.bucket)
			}
		}
		return err == nil
	})
	return errors.Join(walked, err)
}

// presence counts the seconds of each bucket for which the network has data. It reads them when
// they are first needed.
type presence struct {
	plan
	sums  []sum
	known bool
}

// copyShares writes the measures of the rows of a location, starting with bucket first.
func (n *presence) copyShares(values []int32, s *stretch, first int, m Measure) error {
	for i := range values {
		share, err := n.outOf(s.sum(i, n.bucket), first+i)
		if err != nil {
			return err
		}
		values[i] = m.of(share)
	}
	return nil
}

// outOf returns the sum of a location in bucket i as a share of the network's seconds: seconds
// without data for the location count as no motion there. A location without any data stays
// without. On a nil presence it returns s.
func (n *presence) outOf(s sum, i int) (sum, error) {
	if n == nil || s.seconds == 0 || s.seconds >= n.bucket {
		return s, nil
	}
	if !n.known {
		first, sums, err := n.plan.sums(Network, held, n.parts)
		if err != nil {
			return s, err
		}
		n.sums, n.known = append(make([]sum, first, first+len(sums)), sums...), true
	}
	if i < len(n.sums) {
		s.seconds = max(s.seconds, n.sums[i].seconds)
	}
	return s, nil
}

// depth returns the decoding depth that sums need.
func (m Measure) depth() depth {
	switch m {
	case Mean:
		return everything
	case held:
		return secondsOnly
	}
	return noTotals
}

// rowDepth returns the decoding depth that ofRow needs.
func (m Measure) rowDepth() depth {
	if m == Intensity {
		return valuesOnly
	}
	return m.depth()
}

// ofRow returns the measure of row i, of step seconds, in an active stretch.
func (m Measure) ofRow(s *stretch, i int, step int64) int32 {
	if m == Intensity {
		return int32(s.values[i])
	}
	if m == Density && len(s.motion) == 0 {
		return int32(s.densities[i]) * 100
	}
	return m.of(s.sum(i, step))
}

// sum returns row i, of step seconds, as a sum.
func (s *stretch) sum(i int, step int64) (of sum) {
	r := s.record(i, step)
	of.add(r, int64(r.seconds))
	return of
}

// Len returns the number of points.
func (p Points) Len() int { return len(p.values) }

// At returns the value of point i and the start of its bucket; ok is false if the value is null.
func (p Points) At(i int) (value float64, ts int64, ok bool) {
	ts = p.Start + int64(i)*p.Bucket
	if p.values[i] == null {
		return 0, ts, false
	}
	return float64(p.values[i]) / float64(p.scale), ts, true
}

// Between returns the points whose buckets overlap [from, to).
func (p Points) Between(from, to int64) Points {
	if len(p.values) == 0 {
		return p
	}
	index := func(ts int64) int { return int(min(max(ts/p.Bucket, 0), int64(len(p.values)))) }
	first := index(floorTo(from, p.Bucket) - p.Start)
	stop := max(first, index(ceilTo(to, p.Bucket)-p.Start))
	p.Start += int64(first) * p.Bucket
	p.values = p.values[first:stop]
	return p
}
