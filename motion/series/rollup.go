package series

import (
	"errors"
	"fmt"
	"slices"
)

// Rollup returns the value of tier's block at second start: its rows sum up those
// of the finer values, and are joined with what is held of the block already. Of
// two rows of the same time the one with more seconds of data stands, of equals
// the sum, then the earlier given, so that it may be repeated, after late rows came
// or finer blocks were deleted, and loses nothing. A value of another block, or a
// damaged one (ErrDamaged, ErrVersion), is left out and named in the error; the
// value is good all the same, and empty when there is no row at all. Series beyond
// MaxSeries are left out.
func Rollup(tier Tier, start int64, finer [][]byte, held ...[]byte) ([]byte, error) {
	u := union{tier: tier, start: start, columns: map[ID][]record{}}
	err := u.each(finer, func(sum *record, row record) { sum.add(row) })
	for _, b := range held {
		err = errors.Join(err, u.each([][]byte{b}, func(kept *record, row record) {
			if row.seconds > kept.seconds {
				*kept = row
			}
		}))
	}
	return u.appendValue(nil), err
}

// union is a block that is being made of values.
type union struct {
	tier    Tier
	start   int64
	columns map[ID][]record
}

// each calls take with each row of the values and the row of the block that it
// lies in. A column that is damaged is left out whole.
func (u *union) each(values [][]byte, take func(to *record, row record)) (err error) {
	var d rows
	for _, b := range values {
		v, damage := parse(b)
		switch {
		case damage != nil:
		case v.tier > u.tier, u.tier%v.tier != 0, v.start < u.start, v.end() > u.start+u.tier.Span():
			damage = fmt.Errorf("%w: it is of tier %v and second %d", ErrDamaged, v.tier, v.start)
		default:
			damage = u.eachColumn(v, &d, take)
		}
		if damage != nil {
			err = errors.Join(err, fmt.Errorf("roll up into tier %v at second %d: %w", u.tier, u.start, damage))
		}
	}
	return err
}

func (u *union) eachColumn(v value, d *rows, take func(to *record, row record)) (err error) {
	for name, column := range v.all() {
		id := ID(name)
		if damage := d.decode(column, v.rows, v.tier.Step(), id.isLocation(), everything); damage != nil {
			err = errors.Join(err, fmt.Errorf("series %q: %w", id, damage))
			continue
		}
		records := u.columns[id]
		if records == nil {
			if len(u.columns) == MaxSeries {
				continue
			}
			records = make([]record, u.tier.Rows())
			u.columns[id] = records
		}
		d.visit(v.start, d.step, v.start, v.end(), func(s stretch) bool {
			for i := range s.rows {
				if s.kind != absent {
					take(&records[(s.start+int64(i)*d.step-u.start)/u.tier.Step()], s.record(i, d.step))
				}
			}
			return true
		})
	}
	return err
}

// appendValue appends the block, nothing when it holds no row.
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
	w := newValueWriter(dst, u.tier, u.start, u.tier.Rows(), len(ids))
	for _, id := range ids {
		w.column(id, u.columns[id])
	}
	return w.close()
}
