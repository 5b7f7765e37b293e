package series

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Rollup returns the value of tier's block at second start: its rows are the sums of the finer
// values, merged with the block's held values. Of two rows of the same time the one with more
// seconds of data wins; of equal ones the sum, then the first given. So Rollup can be repeated
// after late rows arrive or finer blocks are deleted, and loses nothing. A held row of 5 s whose
// seconds are all equal, as in a device's history, supplies the seconds that the other row
// lacks. Rollup skips a value that is damaged (ErrDamaged, ErrVersion) or of another block and
// names it in the error; the returned value is valid anyway, and empty when there is no row.
// Series beyond MaxSeries are ignored.
func Rollup(tier Tier, start int64, finer [][]byte, held ...[]byte) ([]byte, error) {
	u := unions.Get().(*union)
	u.tier, u.start = tier, start
	err := errors.Join(u.each(finer, (*stretch).sumInto), u.each(held, (*stretch).putInto))
	value := u.appendValue(nil)
	for _, records := range u.columns {
		u.free = append(u.free, records)
	}
	clear(u.columns)
	unions.Put(u)
	return value, err
}

// unions are empty ones, in whose memory Rollup makes the next.
var unions = sync.Pool{New: func() any { return newUnion(0, 0) }}

// union is a block that is assembled from values.
type union struct {
	tier    Tier
	start   int64
	columns map[ID][]record

	decoded rows    // of the column that is taken
	taken   stretch // of it
	free    [][]record
}

func newUnion(tier Tier, start int64) *union {
	return &union{tier: tier, start: start, columns: map[ID][]record{}}
}

// recordsOf returns the records of a series, which are empty at first.
func (u *union) recordsOf(id ID) []record {
	records := u.columns[id]
	if records != nil {
		return records
	}
	if last := len(u.free) - 1; last >= 0 {
		records, u.free = u.free[last], u.free[:last]
	}
	if rows := u.tier.Rows(); cap(records) < rows {
		records = make([]record, rows)
	} else {
		records = records[:rows]
		clear(records)
	}
	u.columns[id] = records
	return records
}

// takeRows merges the rows of a stretch, of step seconds, into records of coarse seconds; the
// first row goes to the record at second at of the block.
type takeRows func(s *stretch, records []record, at, step, coarse int64)

// each calls take for all rows of the values. It skips a damaged column entirely.
func (u *union) each(values [][]byte, take takeRows) (err error) {
	for _, b := range values {
		v, damage := parse(b)
		switch {
		case damage != nil:
		case v.tier > u.tier, u.tier%v.tier != 0, v.start < u.start, v.end() > u.start+u.tier.Span():
			damage = fmt.Errorf("%w: it is of tier %v and second %d", ErrDamaged, v.tier, v.start)
		default:
			damage = u.eachColumn(v, take)
		}
		if damage != nil {
			err = errors.Join(err, fmt.Errorf("roll up into tier %v at second %d: %w", u.tier, u.start, damage))
		}
	}
	return err
}

func (u *union) eachColumn(v value, take takeRows) (err error) {
	d := &u.decoded
	for name, column := range v.all() {
		id := ID(name)
		if damage := d.decode(column, v.rows, v.tier.Step(), id.isLocation(), everything); damage != nil {
			err = errors.Join(err, fmt.Errorf("series %q: %w", id, damage))
			continue
		}
		if u.columns[id] == nil && len(u.columns) == MaxSeries {
			continue
		}
		records := u.recordsOf(id)
		d.visit(v.start, d.step, v.start, v.end(), func(s stretch) bool {
			if u.taken = s; s.kind != absent {
				take(&u.taken, records, s.start-u.start, d.step, u.tier.Step())
			}
			return true
		})
	}
	return err
}

// sumInto adds each row to its record.
func (s *stretch) sumInto(records []record, at, step, coarse int64) {
	for i := 0; i < s.rows; {
		to := &records[at/coarse]
		stop := min(s.rows, i+int((coarse-at%coarse)/step))
		at += int64(stop-i) * step
		if s.kind == zero && len(s.seconds) == 0 {
			to.seconds += uint16(int64(stop-i) * step)
			i = stop
		}
		if s.kind == active && len(s.motion) == 0 && len(s.seconds) == 0 {
			to.addPlain(step, s.values[i:stop], s.densities[i:stop])
			i = stop
		}
		for ; i < stop; i++ {
			to.add(s.record(i, step))
		}
	}
}

// putInto puts each row in place of a record with fewer seconds, or adds the seconds that the
// record lacks.
func (s *stretch) putInto(records []record, at, step, coarse int64) {
	for i := range s.rows {
		row := s.record(i, step)
		to := &records[(at+int64(i)*step)/coarse]
		_, alike := row.plain(step)
		switch {
		case row.seconds <= to.seconds:
		case alike && to.seconds > 0 && step == FiveSeconds.Step():
			to.add(row.part(row.seconds - to.seconds))
		default:
			*to = row
		}
	}
}

// appendValue appends the block, or nothing when it holds no row.
func (u *union) appendValue(dst []byte) []byte {
	ids := make([]ID, 0, len(u.columns))
	for id, records := range u.columns {
		if slices.ContainsFunc(records, func(r record) bool { return r.seconds > 0 }) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return dst
	}
	slices.Sort(ids)
	w := newValueWriter(u.tier, u.start, u.tier.Rows(), len(ids))
	for _, id := range ids {
		w.column(id, u.columns[id])
	}
	return w.appendTo(dst)
}
