package series

import "fmt"

// Replay puts the rows of a value, as the journal of schema 1 holds them, into b as
// ReplayIncrement does. The value must be of b's tier and block; a damaged one is ErrDamaged or ErrVersion
// and may have put some of its series. Series beyond MaxSeries are left out.
func (b *Block) Replay(bytes []byte) error {
	v, err := parse(bytes)
	if err != nil {
		return err
	}
	if v.tier != b.tier || v.start < b.start || v.end() > b.End() {
		return fmt.Errorf("replay value of tier %v from second %d into block of tier %v from %d", v.tier, v.start, b.tier, b.start)
	}
	var d rows
	for name, column := range v.all() {
		id := ID(name)
		if err := d.decode(column, v.rows, v.tier.Step(), id.isLocation(), everything); err != nil {
			return fmt.Errorf("replay series %q: %w", id, err)
		}
		if i, ok := b.Index(id); ok {
			b.putRows(i, int((v.start-b.start)/b.tier.Step()), &d)
		}
	}
	return nil
}

// putRows puts the present rows of d into series i from row r on. A sum becomes
// a row that is alike in all of its seconds.
func (b *Block) putRows(i, r int, d *rows) {
	d.visit(0, 1, 0, maxRows, func(s stretch) bool {
		for k := range s.rows {
			if s.kind != absent {
				record := s.record(k, d.step)
				b.put(i, r, record.peak, min(percent(int(record.motion), int(record.seconds)), full))
			}
			r++
		}
		return true
	})
}
