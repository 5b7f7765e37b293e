package series

import (
	"slices"
)

// plan is how to answer a query: from which tiers, in which buckets.
type plan struct {
	parts  []part // in order of time
	bucket int64  // effective
	first  int64  // start of the first bucket
	points int
}

// part is the range of time [from, to) that some tiers cover: one tier, or several that
// overlap, finest first.
type part struct {
	tiers    []tierValues
	from, to int64
}

// plan selects the tiers and the effective bucket for the series ids in [from, to). It rounds
// the bucket up to a multiple of the step that covers the range (payloads.md 4.6, 6 no. 10), and
// to a multiple of 5 s if rows of 5 s cover seconds that are not held, so that no point hides
// data.
func (s *Set) plan(ids []ID, from, to, bucket int64) (plan, error) {
	from, to, bucket = min(max(from, 0), maxStart), min(to, maxStart), min(max(bucket, 1), maxStart)
	step, err := s.step(ids, from, to)
	if err != nil {
		return plan{}, err
	}
	p := plan{bucket: ceilTo(bucket, step)}
	if p.bucket%FiveSeconds.Step() != 0 {
		hides, err := s.hides(ids, from, to)
		if err != nil {
			return plan{}, err
		}
		if hides {
			p.bucket = ceilTo(p.bucket, FiveSeconds.Step())
		}
	}
	seconds := step == Second.Step()
	if !seconds {
		if seconds, err = s.of(Second).holdsAny(ids, from, to); err != nil {
			return plan{}, err
		}
	}
	from, to = ceilTo(from, step), ceilTo(to, step)
	p.first = floorTo(from, p.bucket)
	if from < to {
		p.points = int((to-1-p.first)/p.bucket) + 1
	}
	fitting := slices.DeleteFunc(slices.Clone(s.tiers), func(t tierValues) bool {
		return p.bucket%t.tier.Step() != 0 || t.tier == Second && !seconds // seconds behind the end are not asked for
	})
	p.parts = s.split(nil, fitting, from, to)
	return p, nil
}

// whole plans the sum of [from, to) as one bucket; rows of step seconds cover all of it.
func (s *Set) whole(step, from, to int64) plan {
	from, to = ceilTo(max(from, 0), step), ceilTo(min(to, maxStart), step)
	p := plan{first: from, bucket: max(to-from, 1), points: 1}
	p.parts = s.split(nil, s.tiers, from, to)
	return p
}

// step returns the step of the finest tier that covers the data in [from, to). Where there are
// no seconds, rows of 5 s are a device's history, and the step is 5 s.
func (s *Set) step(ids []ID, from, to int64) (int64, error) {
	for i, t := range s.tiers {
		covers, err := s.covers(i, ids, from, to)
		switch {
		case err != nil:
			return 0, err
		case !covers:
			continue
		case t.tier > FiveSeconds:
			return t.tier.Step(), nil
		}
		found, err := t.holdsAny(ids, from, to)
		if err != nil || found {
			return t.tier.Step(), err
		}
		if to <= s.summed {
			to -= FiveSeconds.Step() - 1 // a sum that crosses the end may be of later seconds
		}
		fives, err := s.holdsFives(ids, from, to)
		if err != nil || fives {
			return FiveSeconds.Step(), err
		}
		break
	}
	return Second.Step(), nil
}

// covers reports whether no tier coarser than tier i holds data from before the retention of
// tier i.
func (s *Set) covers(i int, ids []ID, from, to int64) (bool, error) {
	for _, coarser := range s.tiers[i+1:] {
		before := min(floorTo(s.tiers[i].since, coarser.tier.Step()), to)
		if found, err := coarser.holdsAny(ids, from, before); err != nil || found {
			return false, err
		}
	}
	return true, nil
}

// holdsFives reports whether a row of 5 s that begins in [from, to) is present.
func (s *Set) holdsFives(ids []ID, from, to int64) (bool, error) {
	return s.of(FiveSeconds).holdsAny(ids, from, to)
}

// hides reports whether an answer in seconds would hide data: whether a row of 5 s that begins
// in [from, to) covers more seconds than the rows of one second do.
func (s *Set) hides(ids []ID, from, to int64) (hidden bool, err error) {
	seconds, fives := s.of(Second), s.of(FiveSeconds)
	for _, id := range ids {
		held, err := seconds.spans(id, from, to)
		if err != nil {
			return false, err
		}
		told, err := fives.spans(id, from, to)
		if err != nil {
			return false, err
		}
		if held.cover(told) { // any part of a row's 5 seconds is known
			continue
		}
		slots := covered{}.fold(FiveSeconds.Step(), seconds.extent(from, to))
		for _, span := range held {
			slots.add(span[0], span[1]-span[0])
		}
		err = fives.walk(id, from, to, noTotals, func(r stretch) bool {
			hidden = r.kind != absent && r.tellsMore(slots, to)
			return !hidden
		})
		if err != nil || hidden {
			return hidden, err
		}
	}
	return false, nil
}

// spans are disjoint ranges of seconds [from, to), in order, that do not touch.
type spans [][2]int64

// spans returns the seconds before to that rows of series id beginning in [from, to) cover.
func (t tierValues) spans(id ID, from, to int64) (list spans, err error) {
	err = t.walk(id, from, to, runsOnly, func(r stretch) bool {
		if r.kind == absent {
			return true
		}
		end := min(r.start+int64(r.rows)*t.tier.Step(), to)
		if n := len(list); n > 0 && list[n-1][1] >= r.start {
			list[n-1][1] = max(list[n-1][1], end)
		} else {
			list = append(list, [2]int64{r.start, end})
		}
		return true
	})
	return list, err
}

// cover reports whether s contains all of other.
func (s spans) cover(other spans) bool {
	for _, o := range other {
		for len(s) > 0 && s[0][1] < o[1] {
			s = s[1:]
		}
		if len(s) == 0 || s[0][0] > o[0] {
			return false
		}
	}
	return true
}

// tellsMore reports whether a row of the stretch, of 5 s, has more seconds before to than held.
func (s *stretch) tellsMore(held covered, to int64) bool {
	for i := range s.rows {
		ts := s.start + int64(i)*FiveSeconds.Step()
		seconds := FiveSeconds.Step()
		if len(s.seconds) > 0 {
			seconds = int64(s.seconds[i])
		}
		if seconds-max(0, ts+FiveSeconds.Step()-to) > held.at(ts) {
			return true
		}
	}
	return false
}

// of returns the values of a tier; none if the set has none.
func (s *Set) of(tier Tier) tierValues {
	if i := slices.IndexFunc(s.tiers, func(t tierValues) bool { return t.tier == tier }); i >= 0 {
		return s.tiers[i]
	}
	return tierValues{tier: tier}
}

func (t tierValues) holdsAny(ids []ID, from, to int64) (bool, error) {
	for _, id := range ids {
		if found, err := t.holds(id, from, to); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// split appends the parts that cover [from, to): the coarsest tier as far as sums exist, and
// the finer ones where its rows are cut or missing.
func (s *Set) split(parts []part, tiers []tierValues, from, to int64) []part {
	if from >= to || len(tiers) == 0 {
		return parts
	}
	last := len(tiers) - 1
	if last == 0 {
		return append(parts, part{tiers, from, to})
	}
	t := tiers[last].tier
	summed := min(max(floorTo(s.summed, t.Span()), from), to)
	first, end := ceilTo(from, t.Step()), floorTo(summed, t.Step())
	if first < end {
		parts = s.split(parts, tiers[:last], from, first)
		parts = append(parts, part{tiers[last:], first, end})
		parts = s.split(parts, tiers[:last], end, summed)
	} else {
		parts = s.split(parts, tiers[:last], from, summed)
	}
	if t > FiveSeconds {
		return s.split(parts, tiers[:last], summed, to)
	}
	if summed < to {
		parts = append(parts, part{tiers, summed, to})
	}
	return parts
}

// direct reports whether each bucket of a part is one row of its only tier.
func (p plan) direct(t part) bool {
	return len(t.tiers) == 1 && t.tiers[0].tier.Step() == p.bucket
}

// index returns the number of the bucket that holds second ts.
func (p plan) index(ts int64) int { return int((ts - p.first) / p.bucket) }

// stretches groups the parts so that no bucket overlaps two groups: a direct part, or the
// others between two direct ones.
func (p plan) stretches() [][]part {
	var groups [][]part
	summing := false
	for _, t := range p.parts {
		if direct := p.direct(t); summing && !direct {
			groups[len(groups)-1] = append(groups[len(groups)-1], t)
		} else {
			groups = append(groups, []part{t})
			summing = !direct
		}
	}
	return groups
}

// Need returns the ranges of [from, to) for which an answer in the given buckets reads rows of a
// tier, when each tier holds sums of everything before second summed (see Set.Bound). Of the
// coarsest tier that fits and of coarser ones that is all; of a finer one the ends, where the
// range may cut its rows, and what is not in sums yet. An answer does not need the rest of a
// finer tier; but if [from, to) does not begin with a row of the tier used and nothing is held
// at its ends, an answer without it may have one more null point.
func Need(tier Tier, from, to, bucket, summed int64) [][2]int64 {
	serves := Second
	for coarser, ok := serves.Coarser(); ok && bucket >= 1 && bucket%coarser.Step() == 0; coarser, ok = coarser.Coarser() {
		serves = coarser
	}
	if tier >= serves || from >= to {
		return [][2]int64{{from, to}}
	}
	next, _ := tier.Coarser()
	head := ceilTo(from, serves.Step())
	tail := min(floorTo(to, serves.Step()), floorTo(summed, next.Span()))
	if head >= tail {
		return [][2]int64{{from, to}}
	}
	return [][2]int64{{from, head}, {tail, to}}
}
