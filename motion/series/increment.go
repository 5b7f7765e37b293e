package series

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Format of an increment, which a flush adds to the journal of a block. Integers are unsigned
// LEB128 varints.
//
//	uvarint  names in the journal so far, 0..256: the new ones follow them
//	uvarint  new names, each as a length and the bytes of an ID
//	uvarint  number of the first row in the block
//	uvarint  rows
//	         a column (block.go) for each name, in the order of the journal, or the byte
//	         0x20 for the same bytes as the previous name's
//
// So the journal of a block holds each name once. In a home with 6 quiet links the names were
// nine tenths of the bytes per minute. Increments are only valid together and in the order in
// which they were written.

// asBefore replaces a column that equals the previous one.
const asBefore = 0x20

// Pending reports whether rows changed since the last committed increment.
func (b *Block) Pending() bool { return b.changed.to > 0 || b.inFlight.to > 0 }

// Journaled reports whether the journal holds rows of the block.
func (b *Block) Journaled() bool { return b.named > 0 }

// AppendIncrement appends the increment of the rows that changed since the last committed one,
// or nothing. The rows stay pending until Committed: if the write fails, the next increment
// repeats them.
func (b *Block) AppendIncrement(dst []byte) []byte {
	b.inFlight = b.inFlight.join(b.changed)
	b.changed = span{}
	if b.inFlight.to == 0 {
		return dst
	}
	for i := range b.columns {
		if !slices.Contains(b.journal, i) {
			b.journal = append(b.journal, i)
		}
	}
	memory := coders.Get().(*coder)
	defer coders.Put(memory)
	out := binary.AppendUvarint(memory.columns[:0], uint64(b.named))
	out = binary.AppendUvarint(out, uint64(len(b.journal)-b.named))
	for _, i := range b.journal[b.named:] {
		out = binary.AppendUvarint(out, uint64(len(b.columns[i].id)))
		out = append(out, b.columns[i].id...)
	}
	s := b.inFlight
	out = binary.AppendUvarint(out, uint64(s.from))
	out = binary.AppendUvarint(out, uint64(s.to-s.from))
	var before []byte
	for _, i := range b.journal {
		c, begin := &b.columns[i], len(out)
		out = memory.appendCells(out, c.cells[s.from:s.to], c.share)
		if column := out[begin:]; bytes.Equal(column, before) {
			out = append(out[:begin], asBefore)
		} else {
			before = column
		}
	}
	memory.columns = out
	return append(dst, out...)
}

// Committed marks the last increment as written to disk. Rows added since stay pending.
func (b *Block) Committed() { b.inFlight, b.named = span{}, len(b.journal) }

// Sealed marks the whole block, as of the last increment, as written to disk, and its journal
// as deleted. Rows added since stay pending.
func (b *Block) Sealed() { b.inFlight, b.named, b.journal = span{}, 0, nil }

// ReplayIncrement puts the rows of an increment into b: they replace rows held, and absent ones
// change nothing, so that replaying all increments in order restores the block. Replayed rows
// are not pending. A frame added to a replayed row changes its density only slightly. On
// ErrDamaged some series may have been put. Series beyond MaxSeries are ignored.
func (b *Block) ReplayIncrement(increment []byte) error {
	c := cursor{b: increment}
	if err := b.replayNames(&c); err != nil {
		return err
	}
	first, count := c.uvarint(), c.uvarint()
	if room := uint64(b.tier.Rows()); c.bad || count == 0 || count > room || first > room-count {
		return fmt.Errorf("%w: %d rows of an increment from row %d", ErrDamaged, count, first)
	}
	var d rows
	var before cursor
	for _, i := range b.journal {
		column := &c
		if len(c.b) > 0 && c.b[0] == asBefore {
			c.b, column = c.b[1:], &cursor{b: before.b}
		} else {
			before = c
		}
		if err := d.decodeFrom(column, int(count), b.tier.Step(), b.columns[i].share, everything); err != nil {
			return fmt.Errorf("replay series %q: %w", b.columns[i].id, err)
		}
		b.putRows(i, int(first), &d)
	}
	if len(c.b) > 0 {
		return fmt.Errorf("%w: increment of %d bytes too many", ErrDamaged, len(c.b))
	}
	return nil
}

// replayNames reads the names of an increment.
func (b *Block) replayNames(c *cursor) error {
	known, added := c.uvarint(), c.uvarint()
	if c.bad || known > uint64(len(b.journal)) || added > MaxSeries {
		return fmt.Errorf("%w: %d of %d names are missing", ErrDamaged, known, len(b.journal))
	}
	b.journal = b.journal[:known]
	for range added {
		id := ID(c.take(c.uvarint()))
		i, ok := b.Index(id)
		if c.bad || !ok || slices.Contains(b.journal, i) {
			b.named = len(b.journal)
			return fmt.Errorf("%w: name %q", ErrDamaged, id)
		}
		b.journal = append(b.journal, i)
	}
	b.named = len(b.journal)
	return nil
}

// Replay puts the rows of a value, the journal format of schema 1, into b like ReplayIncrement.
// The value must be of b's tier and block. On ErrDamaged or ErrVersion some series may have been
// put. Series beyond MaxSeries are ignored.
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

// putRows puts the present rows of d into series i from row r on. A sum becomes a row whose
// seconds are all equal.
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
