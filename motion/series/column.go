package series

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// kind classifies a row.
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
	hasSeconds   = 1 << 2
	hasMotion    = 1 << 3
	hasTotals    = 1 << 4
	firstKind    = 6 // shift
)

// full is the density of a row whose frames are all above 0.
const full = 100

// shareUnit is the unit of a stored share, in thousandths.
const shareUnit = 10

// run is a range of rows of one kind.
type run struct {
	kind kind
	rows int
}

// streams holds the values of a column. In a plain column, where all seconds of each present
// row are equal, seconds, motion and totals are empty; in any other one densities is empty, and
// so is seconds when all present rows are whole.
type streams struct {
	values    []uint16 // of the active rows: intensity or share × 1000
	densities []uint16 // of the active rows: percent
	seconds   []uint16 // of the present rows
	motion    []uint32 // of the active rows: record.motion
	totals    []uint32 // of the active rows: record.total; while they are appended, their levels

	levels []uint16 // memory of appendValues
}

// rows is a decoded column. It reuses its memory for the next decode.
type rows struct {
	streams
	step int64
	runs []run
}

// appendColumn appends the column of the given rows of step seconds. It uses the memory of s.
func (s *streams) appendColumn(dst []byte, records []record, step int64, share bool) []byte {
	head := len(dst)
	dst = append(dst, 0)
	current := run{}
	for i := range records {
		k := records[i].kind()
		if k == current.kind && current.rows > 0 {
			current.rows++
			continue
		}
		dst = appendRun(dst, head, current, k)
		current = run{k, 1}
	}
	dst = appendRun(dst, head, current, (current.kind+1)%kinds)
	if dst, ok := s.appendPlain(dst, head, records, step, share); ok {
		return dst
	}
	return s.appendSums(dst, head, records, step, share)
}

// appendPlain appends the streams of a plain column; ok is false, and nothing is appended, if
// the column is not plain.
func (s *streams) appendPlain(dst []byte, head int, records []record, step int64, share bool) (_ []byte, ok bool) {
	s.values, s.densities = s.values[:0], s.densities[:0]
	allFull := true
	for i := range records {
		r := &records[i]
		if r.seconds == 0 {
			continue
		}
		density, plain := r.plain(step)
		if !plain {
			return dst, false
		}
		if r.peak == 0 {
			continue
		}
		if share {
			s.values = append(s.values, r.peak/shareUnit)
			continue
		}
		s.values, s.densities = append(s.values, r.peak), append(s.densities, density)
		allFull = allFull && density == full
	}
	return s.appendPlainStreams(dst, head, share, allFull), true
}

// appendPlainStreams appends the values and, unless all are full or shares, the densities of a
// plain column.
func (s *streams) appendPlainStreams(dst []byte, head int, share, allFull bool) []byte {
	if len(s.values) == 0 {
		return dst
	}
	dst = s.appendValues(dst, head, share)
	if share || allFull {
		return dst
	}
	dst[head] |= hasDensities
	return appendStream(dst, s.densities)
}

// appendValues appends the values, of which there is at least one.
func (s *streams) appendValues(dst []byte, head int, share bool) []byte {
	dst[head] |= hasValues
	if share {
		return appendStream(dst, s.values)
	}
	var ok bool
	if s.levels, ok = levels(s.levels[:0], s.values); !ok {
		return appendStream(dst, s.values)
	}
	return appendLevels(dst, s.levels)
}

// appendLevels appends values that are levels.
func appendLevels[N number](dst []byte, levels []N) []byte {
	coding := len(dst)
	dst = appendStream(dst, levels)
	dst[coding] |= ofLevels
	return dst
}

// appendCells appends the column of an open block's rows, like appendColumn of their records.
func (s *streams) appendCells(dst []byte, cells []cell, share bool) []byte {
	values, densities := slices.Grow(s.values[:0], len(cells))[:len(cells)], slices.Grow(s.densities[:0], len(cells))[:len(cells)]
	n, head, current, allFull := 0, len(dst), run{}, true
	dst = append(dst, 0)
	for i := 0; i < len(cells); {
		begin, k := i, cells[i].kind()
		dst = appendRun(dst, head, current, k)
		switch {
		case k != active:
			for ; i < len(cells) && cells[i].kind() == k; i++ {
			}
		case share:
			for ; i < len(cells) && cells[i].kind() == active; i++ {
				values[n] = percent(int(cells[i].value), int(cells[i].frames))
				n++
			}
		default:
			for ; i < len(cells) && cells[i].kind() == active; i++ {
				density := cells[i].density()
				values[n], densities[n] = cells[i].value, density
				allFull = allFull && density == full
				n++
			}
		}
		current = run{k, i - begin}
	}
	s.values, s.densities = values[:n], densities[:n]
	dst = appendRun(dst, head, current, (current.kind+1)%kinds)
	return s.appendPlainStreams(dst, head, share, allFull)
}

// appendSums appends the streams of a column that is not plain.
func (s *streams) appendSums(dst []byte, head int, records []record, step int64, share bool) []byte {
	values, seconds, motion, totals := s.values[:0], s.seconds[:0], s.motion[:0], s.totals[:0]
	whole := true
	for i := range records {
		r := &records[i]
		if r.seconds == 0 {
			continue
		}
		seconds = append(seconds, r.seconds)
		whole = whole && int64(r.seconds) == step
		if r.peak == 0 {
			continue
		}
		peak := r.peak
		if share {
			peak /= shareUnit
		}
		values, motion, totals = append(values, peak), append(motion, r.motion), append(totals, levelOfTotal(r.total, r.motion, r.seconds))
	}
	s.values, s.seconds, s.motion, s.totals = values, seconds, motion, totals
	if len(s.values) > 0 {
		dst = s.appendValues(dst, head, share)
	}
	if !whole {
		dst[head] |= hasSeconds
		dst = appendStream(dst, s.seconds)
	}
	if len(s.values) == 0 {
		return dst
	}
	dst[head] |= hasMotion
	dst = appendStream(dst, s.motion)
	if share {
		return dst
	}
	dst[head] |= hasTotals
	return appendLevels(dst, s.totals)
}

// appendRun appends r, which a run of kind next follows. Before the first run r is empty and
// the kind of the first run goes into the head byte.
func appendRun(dst []byte, head int, r run, next kind) []byte {
	if r.rows == 0 {
		dst[head] = byte(next) << firstKind
		return dst
	}
	turn := (next + kinds - r.kind - 1) % kinds
	return binary.AppendUvarint(dst, uint64(r.rows-1)<<1|uint64(turn))
}

// depth is how much of a column to decode.
type depth uint8

const (
	runsOnly    depth = iota // which rows are present and which are active
	secondsOnly              // the runs, and the seconds of the present rows
	valuesOnly               // the runs, and the values of the active rows
	noTotals                 // all but the totals
	everything
)

// decode decodes a column of n rows of step seconds to the given depth. The error is
// ErrDamaged and concerns only the decoded part.
func (d *rows) decode(column []byte, n int, step int64, share bool, deep depth) error {
	return d.decodeFrom(&cursor{b: column}, n, step, share, deep)
}

// decodeFrom is like decode but reads from c, which may hold more data. After decoding the
// whole column c is at its end.
func (d *rows) decodeFrom(c *cursor, n int, step int64, share bool, deep depth) error {
	d.step = step
	head := c.byte()
	present, activeRows, err := d.decodeRuns(c, kind(head>>firstKind), n)
	if err != nil {
		return err
	}
	if !soundHead(head, present, activeRows, share) {
		return fmt.Errorf("%w: column head %02x", ErrDamaged, head)
	}
	d.values, d.densities, d.seconds, d.motion, d.totals = d.values[:0], d.densities[:0], d.seconds[:0], d.motion[:0], d.totals[:0]
	if deep == runsOnly || deep == secondsOnly && head&hasSeconds == 0 {
		return nil
	}
	if share {
		d.values, err = decodeStream(c, d.values, activeRows, full)
	} else {
		err = d.decodeIntensities(c, activeRows)
	}
	if err != nil {
		return err
	}
	switch {
	case deep == secondsOnly:
		d.values = d.values[:0]
		d.seconds, err = decodeStream(c, d.seconds, present, uint16(d.step))
	case deep == valuesOnly:
	case head&(hasSeconds|hasMotion) != 0:
		err = d.decodeSums(c, head, present, activeRows, deep)
	case share:
		d.densities = append(d.densities, d.values...)
	case head&hasDensities != 0:
		d.densities, err = decodeStream(c, d.densities, activeRows, full)
	default:
		for range activeRows {
			d.densities = append(d.densities, full)
		}
	}
	if share {
		for i := range d.values {
			d.values[i] *= shareUnit
		}
	}
	return err
}

// decodeIntensities reads the values of n active rows that are no shares.
func (d *rows) decodeIntensities(c *cursor, n int) error {
	values, areLevels, err := decodeEither(c, d.values, n, 1000)
	if areLevels && err == nil {
		err = fromLevels(values)
	}
	d.values = values
	return err
}

// soundHead reports whether the streams that a head names are a valid combination.
func soundHead(head byte, present, activeRows int, share bool) bool {
	has := func(bit byte) bool { return head&bit != 0 }
	sums := has(hasMotion) || has(hasSeconds)
	return has(hasValues) == (activeRows > 0) &&
		!(has(hasDensities) && (share || sums || activeRows == 0)) &&
		!(has(hasSeconds) && present == 0) &&
		has(hasMotion) == (sums && activeRows > 0) &&
		has(hasTotals) == (has(hasMotion) && !share)
}

// decodeSums reads the streams that follow the values in a column that is not plain.
func (d *rows) decodeSums(c *cursor, head byte, present, activeRows int, deep depth) (err error) {
	if head&hasSeconds != 0 {
		if d.seconds, err = decodeStream(c, d.seconds, present, uint16(d.step)); err != nil {
			return err
		}
	}
	if head&hasMotion == 0 {
		return nil
	}
	if d.motion, err = decodeStream(c, d.motion, activeRows, full*uint32(d.step)); err != nil {
		return err
	}
	if deep < everything {
		return nil
	}
	if head&hasTotals != 0 {
		var areLevels bool
		if d.totals, areLevels, err = decodeEither(c, d.totals, activeRows, 1000*uint32(d.step)); err == nil && areLevels {
			d.totalsFromLevels()
		}
		return err
	}
	for _, m := range d.motion {
		d.totals = append(d.totals, shareUnit*m)
	}
	return nil
}

// totalsFromLevels turns levels of totals, whose other streams are decoded, into totals.
func (d *rows) totalsFromLevels() {
	present, i := 0, 0
	for _, r := range d.runs {
		for k := range r.rows {
			if r.kind != active {
				break
			}
			seconds := uint16(d.step)
			if len(d.seconds) > 0 {
				seconds = d.seconds[present+k]
			}
			d.totals[i] = totalOfLevel(d.totals[i], d.motion[i], seconds)
			i++
		}
		if r.kind != absent {
			present += r.rows
		}
	}
}

// decodeRuns reads the kinds of n rows and returns the number of present and of active rows.
func (d *rows) decodeRuns(c *cursor, k kind, n int) (present, activeRows int, err error) {
	d.runs = d.runs[:0]
	for n > 0 {
		token := c.uvarint()
		length := token>>1 + 1
		if c.bad || k >= kinds || length > uint64(n) {
			return 0, 0, fmt.Errorf("%w: run list", ErrDamaged)
		}
		d.runs = append(d.runs, run{k, int(length)})
		if k != absent {
			present += int(length)
		}
		if k == active {
			activeRows += int(length)
		}
		n -= int(length)
		k = (k + 1 + kind(token&1)) % kinds
	}
	return present, activeRows, nil
}
