package series

import "fmt"

// Pending reports whether rows changed since the last committed increment.
func (b *Block) Pending() bool { return b.changed.to > 0 || b.inFlight.to > 0 }

// AppendIncrement appends the journal's value of the rows that changed since the
// last committed increment, or nothing when none did. The rows stay pending
// until Committed; when the write fails, the next increment repeats them.
func (b *Block) AppendIncrement(dst []byte) []byte {
	b.inFlight = b.inFlight.join(b.changed)
	b.changed = span{}
	if b.inFlight.to == 0 {
		return dst
	}
	return b.appendRows(dst, b.inFlight)
}

// Committed says that the last increment is on disk. Rows added since it was
// made stay pending.
func (b *Block) Committed() { b.inFlight = span{} }

// Replay puts the rows of a value, increment or sealed block, into b: rows held
// are replaced, absent ones of the value change nothing, so that replaying in
// the order of writing, even twice, restores the block. Replayed rows are not
// pending. A frame added to a replayed row moves its density only a little. The
// value must be of b's tier and block; a damaged one is ErrDamaged or ErrVersion
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
