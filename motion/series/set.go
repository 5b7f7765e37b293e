package series

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Set holds the values of one network that answer a query. It is immutable and safe for
// concurrent use. It keeps the slices it was made of: they must not change.
type Set struct {
	tiers  []tierValues // finest first
	summed int64        // see Bound
}

// tierValues are the values of one tier in time order, at most one per block.
type tierValues struct {
	tier   Tier
	values []value
	since  int64 // rows before it are hidden
}

// NewSet returns the set of the given values, in any order and of any tiers. Of two values of
// the same tier and block the later argument counts: pass sealed values first, then open blocks.
// It skips damaged values (ErrDamaged, ErrVersion) and names them in the error; the set is never
// nil and usable anyway.
func NewSet(values ...[]byte) (*Set, error) {
	s, errs := &Set{}, []error(nil)
	for i, b := range values {
		v, err := parse(b)
		if err != nil {
			errs = append(errs, fmt.Errorf("read value %d: %w", i, err))
			continue
		}
		s.add(v)
	}
	sort.Slice(s.tiers, func(i, j int) bool { return s.tiers[i].tier < s.tiers[j].tier })
	for i := range s.tiers {
		s.tiers[i].sort()
	}
	return s, errors.Join(errs...)
}

// Bound returns s with the limits of the store that its values come from. Rows of a tier that
// begin before since(tier), in seconds, are past their retention: they are hidden, and the tier
// does not cover earlier times. Before second summed each tier holds sums of everything in the
// finer ones, so that answers read the coarsest tier that fits; after it the finer ones count.
func (s *Set) Bound(since func(Tier) int64, summed int64) *Set {
	bound := &Set{summed: summed}
	for _, tier := range Tiers() {
		t := tierValues{tier: tier, since: since(tier)}
		if i := slices.IndexFunc(s.tiers, func(t tierValues) bool { return t.tier == tier }); i >= 0 {
			t.values = s.tiers[i].values
		}
		bound.tiers = append(bound.tiers, t)
	}
	return bound
}

func (s *Set) add(v value) {
	i := slices.IndexFunc(s.tiers, func(t tierValues) bool { return t.tier == v.tier })
	if i < 0 {
		i = len(s.tiers)
		s.tiers = append(s.tiers, tierValues{tier: v.tier})
	}
	s.tiers[i].values = append(s.tiers[i].values, v)
}

// sort sorts the values by time and keeps only the last one of each block.
func (t *tierValues) sort() {
	block := func(v value) int64 { return t.tier.BlockStart(v.start) }
	sort.SliceStable(t.values, func(i, j int) bool { return block(t.values[i]) < block(t.values[j]) })
	kept := t.values[:0]
	for _, v := range t.values {
		if n := len(kept); n > 0 && block(kept[n-1]) == block(v) {
			kept = kept[:n-1]
		}
		kept = append(kept, v)
	}
	t.values = kept
}

// Series returns the sorted series of all values.
func (s *Set) Series() []ID {
	var ids []ID
	for _, t := range s.tiers {
		for _, v := range t.values {
			for name := range v.all() {
				if i, found := slices.BinarySearch(ids, ID(name)); !found {
					ids = slices.Insert(ids, i, ID(name))
				}
			}
		}
	}
	return ids
}

// between returns the values that may hold rows of [from, to).
func (t tierValues) between(from, to int64) []value {
	first, _ := slices.BinarySearchFunc(t.values, from, func(v value, from int64) int { return cmp.Compare(v.end(), from+1) })
	last, _ := slices.BinarySearchFunc(t.values, to, func(v value, to int64) int { return cmp.Compare(v.start, to) })
	return t.values[first:max(first, last)]
}

// stretch is a run of consecutive rows of one kind, with the streams of their column cut to it.
type stretch struct {
	streams
	kind  kind
	start int64 // second of the first row
	rows  int
}

// record returns row i, of step seconds, of a stretch that is not absent. Fields that were not
// decoded are 0: all but the seconds, or the totals.
func (s *stretch) record(i int, step int64) record {
	seconds := uint16(step)
	if len(s.seconds) > 0 {
		seconds = s.seconds[i]
	}
	switch {
	case len(s.values) == 0:
		return record{seconds: seconds}
	case len(s.motion) == 0:
		return plainRecord(step, s.values[i], s.densities[i])
	}
	r := record{seconds: seconds, peak: s.values[i], motion: s.motion[i]}
	if len(s.totals) > 0 {
		r.total = s.totals[i]
	}
	return r
}

// walk calls visit with the stretches of series id whose rows begin in [from, to), decoded to
// the given depth, in time order, including absent ones, as far as values exist. It stops when
// visit returns false.
func (t tierValues) walk(id ID, from, to int64, deep depth, visit func(stretch) bool) error {
	var d rows
	from = max(from, t.since)
	for _, v := range t.between(from, to) {
		column := v.column(id)
		if column == nil {
			continue
		}
		if err := d.decode(column, v.rows, t.tier.Step(), id.isLocation(), deep); err != nil {
			return fmt.Errorf("read series %q of block %d: %w", id, v.start, err)
		}
		if !d.visit(v.start, t.tier.Step(), from, to, visit) {
			return nil
		}
	}
	return nil
}

// visit cuts the runs of d, whose first row begins at start, to [from, to).
func (d *rows) visit(start, step, from, to int64, visit func(stretch) bool) bool {
	present, actives := 0, 0 // rows before the run
	for _, run := range d.runs {
		skip := rowsBefore(from-start, step, run.rows)
		stop := max(skip, rowsBefore(to-start, step, run.rows))
		s := stretch{kind: run.kind, start: start + int64(skip)*step, rows: stop - skip}
		if run.kind != absent {
			s.seconds = cut(d.seconds, present+skip, present+stop)
			present += run.rows
		}
		if run.kind == active {
			s.values, s.densities = cut(d.values, actives+skip, actives+stop), cut(d.densities, actives+skip, actives+stop)
			s.motion, s.totals = cut(d.motion, actives+skip, actives+stop), cut(d.totals, actives+skip, actives+stop)
			actives += run.rows
		}
		start += int64(run.rows) * step
		if s.rows > 0 && !visit(s) {
			return false
		}
	}
	return true
}

// cut returns values[from:to], or nothing of an empty stream.
func cut[N number](values []N, from, to int) []N {
	if len(values) == 0 {
		return nil
	}
	return values[from:to]
}

// rowsBefore returns how many of the given rows begin in the first seconds.
func rowsBefore(seconds, step int64, rows int) int {
	return int(min(max((seconds+step-1)/step, 0), int64(rows)))
}

// holds reports whether a row of series id that begins in [from, to) is present.
func (t tierValues) holds(id ID, from, to int64) (found bool, err error) {
	err = t.walk(id, from, to, runsOnly, func(s stretch) bool {
		found = s.kind != absent
		return !found
	})
	return found, err
}
