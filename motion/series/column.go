package series

import (
	"encoding/binary"
	"fmt"
)

// kind says what a row holds.
type kind uint8

const (
	absent kind = iota // no data
	zero               // present, value 0
	active             // present, value above 0
	kinds
)

// Bits of a column's head byte.
const (
	hasValues    = 1 << 0
	hasDensities = 1 << 1
	firstKind    = 6 // shift
)

// full is the density of a row whose frames were all above 0.
const full = 100

// run is a stretch of rows of one kind.
type run struct {
	kind kind
	rows int
}

// rows is a decoded column: runs, and the values and densities of the active
// rows. It keeps its memory from one decode to the next.
type rows struct {
	runs      []run
	values    []uint16 // intensity × 1000; of a location its share × 1000
	densities []uint16 // percent
}

// appendColumn appends the column of the given cells.
func appendColumn(dst []byte, cells []cell, share bool) []byte {
	var values, densities [maxRows]uint16
	n, allFull := 0, true
	head := len(dst)
	dst = append(dst, 0)
	current := run{}
	for _, c := range cells {
		w := c.finish(share)
		if w.kind == active {
			values[n], densities[n] = w.value, w.density
			allFull = allFull && w.density == full
			n++
		}
		if w.kind == current.kind && current.rows > 0 {
			current.rows++
			continue
		}
		dst = appendRun(dst, head, current, w.kind)
		current = run{w.kind, 1}
	}
	dst = appendRun(dst, head, current, (current.kind+1)%kinds)
	if n == 0 {
		return dst
	}
	dst[head] |= hasValues
	dst = appendStream(dst, values[:n])
	if share || allFull {
		return dst
	}
	dst[head] |= hasDensities
	return appendStream(dst, densities[:n])
}

// appendRun appends r, after which a run of kind next begins. The run that has
// no rows stands before the first one, whose kind goes into the head byte.
func appendRun(dst []byte, head int, r run, next kind) []byte {
	if r.rows == 0 {
		dst[head] = byte(next) << firstKind
		return dst
	}
	turn := (next + kinds - r.kind - 1) % kinds
	return binary.AppendUvarint(dst, uint64(r.rows-1)<<1|uint64(turn))
}

// decode reads a column of n rows. The error is ErrDamaged.
func (d *rows) decode(column []byte, n int, share bool) error {
	c := cursor{b: column}
	head := c.byte()
	activeRows, err := d.decodeRuns(&c, kind(head>>firstKind), n)
	if err != nil {
		return err
	}
	if head&hasValues != 0 != (activeRows > 0) || share && head&hasDensities != 0 {
		return fmt.Errorf("%w: column head %02x", ErrDamaged, head)
	}
	limit := uint16(1000)
	if share {
		limit = full
	}
	d.values, err = decodeStream(&c, d.values[:0], activeRows, limit)
	if err != nil {
		return err
	}
	if share {
		d.densities = append(d.densities[:0], d.values...)
		for i := range d.values {
			d.values[i] *= 10
		}
		return nil
	}
	if head&hasDensities != 0 {
		d.densities, err = decodeStream(&c, d.densities[:0], activeRows, full)
		return err
	}
	d.densities = d.densities[:0]
	for range activeRows {
		d.densities = append(d.densities, full)
	}
	return nil
}

// decodeRuns reads the kinds of n rows and returns how many are active.
func (d *rows) decodeRuns(c *cursor, k kind, n int) (activeRows int, err error) {
	d.runs = d.runs[:0]
	for n > 0 {
		token := c.uvarint()
		length := token>>1 + 1
		if c.bad || k >= kinds || length > uint64(n) {
			return 0, fmt.Errorf("%w: run list", ErrDamaged)
		}
		d.runs = append(d.runs, run{k, int(length)})
		if k == active {
			activeRows += int(length)
		}
		n -= int(length)
		k = (k + 1 + kind(token&1)) % kinds
	}
	return activeRows, nil
}
