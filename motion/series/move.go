package series

import "fmt"

// Move moves the rows of a value that begin in [from, to) by the given number of seconds, all
// rounded to the step of its tier, to correct samples with a wrong clock. rest is the value
// without these rows, empty when none is left; moved holds the values with them, by the start
// of their block. The error is ErrDamaged or ErrVersion.
func Move(b []byte, from, to, by int64) (rest []byte, moved map[int64][]byte, err error) {
	v, err := parse(b)
	if err != nil {
		return nil, nil, fmt.Errorf("move samples: %w", err)
	}
	step := v.tier.Step()
	from, to, by = floorTo(from, step), ceilTo(to, step), floorTo(by+step/2, step)
	stay := newUnion(v.tier, v.tier.BlockStart(v.start))
	places := map[int64]*union{}
	var d rows
	for name, column := range v.all() {
		id := ID(name)
		if err := d.decode(column, v.rows, step, id.isLocation(), everything); err != nil {
			return nil, nil, fmt.Errorf("move samples of series %q: %w", id, err)
		}
		d.visit(v.start, step, v.start, v.end(), func(s stretch) bool {
			for i := 0; i < s.rows && s.kind != absent; i++ {
				u, at := stay, s.start+int64(i)*step
				if at >= from && at < to {
					at += by
					u = placeOf(places, v.tier, at)
				}
				u.put(id, at, s.record(i, step))
			}
			return true
		})
	}
	moved = make(map[int64][]byte, len(places))
	for start, u := range places {
		moved[start] = u.appendValue(nil)
	}
	return stay.appendValue(nil), moved, nil
}

// placeOf returns the block of a tier that holds second at; it creates a missing one.
func placeOf(places map[int64]*union, tier Tier, at int64) *union {
	start := tier.BlockStart(at)
	u := places[start]
	if u == nil {
		u = newUnion(tier, start)
		places[start] = u
	}
	return u
}

// put puts a row at second at, which must be in the block.
func (u *union) put(id ID, at int64, row record) {
	u.recordsOf(id)[(at-u.start)/u.tier.Step()] = row
}
