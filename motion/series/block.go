package series

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"sync"
)

// Format of a value, version 2. One value holds consecutive rows of all series of one network
// in one tier: the rows of a whole block. Integers are unsigned LEB128 varints
// (encoding/binary) unless a width is given.
//
//	u8       version: 2
//	uvarint  tier: the step in seconds
//	uvarint  number of the first row since the epoch: its second ÷ step
//	uvarint  rows, 1..span÷step; they do not cross the end of their block
//	uvarint  series, 0..256
//	         length table, one entry per series, IDs strictly ascending:
//	  uvarint  leading bytes of the ID shared with the previous ID
//	  uvarint  number of further bytes × 2; then these bytes, which are the rest of the ID. The
//	           number is odd, by 1 more, when they are hexadecimal digits of it, two in a byte
//	  uvarint  length of the column, 0: it is that of the previous series
//	         the columns, in the order of the table
//	u32      CRC32C (Castagnoli), little-endian, of all preceding bytes
//
// In version 1, of programs of schema 8 and before, the number of further bytes stands as it is, and
// each column is there.
//
// An ID is empty for the network, "DST.SRC" for a link, '@' and the six octets for a location.
// A value omits series without a present row.
//
// Column: a head byte, the kinds of all rows as a run list, then the streams of values that
// the head byte names, in the order of their bits.
//
//	u8       bits 0–5: streams; bits 6–7: kind of the first run
//	uvarint… runs until all rows are covered: (length−1)·2 + turn. The kind after
//	         kind k is (k + 1 + turn) mod 3. Kinds: 0 absent, 1 present with
//	         value 0, 2 active (present with a value above 0)
//	bit 0    stream of the active rows' values: greatest intensity × 1000
//	         (1..1000), of a location its share in percent (1..100). Set
//	         exactly when a row is active
//	bit 1    stream of the active rows' densities in percent (1..100). Clear:
//	         all are 100; never set for a location
//	bit 2    stream of the present rows' seconds that hold data (1..step).
//	         Clear: all are step
//	bit 3    stream of the active rows' motion, Σ seconds × density or share in
//	         percent (1..100 × step)
//	bit 4    stream of the active rows' Σ seconds × intensity × 1000
//	         (1..1000 × step); never set for a location, whose motion implies it
//
// A column is plain when in each present row all seconds are equal: bits 0 and 1 then suffice.
// Rows of live frames and of devices' history are plain. Any other column holds sums: it has
// bit 2 or 3, and not bit 1; if a row is active it has bit 3, and bit 4 unless it is a
// location's.
//
// Because streams follow the order of their bits, a reader can stop after those it knows:
// adding a stream keeps the version. Bit 5 is free.
//
// Stream of n values: u8 coding, then
//
//	0  runs: (uvarint value, uvarint length−1) until n values are covered
//	1  uvarint first value, then n−1 adaptive Golomb–Rice codes, see rice.go
//	2  as 0, and 3 as 1, of levels (of bits 0 and 4 alone, not of a location):
//	   an intensity below 0.2 in hundredths, from there on its thousandths − 180;
//	   the sum of a row whose densities are all 100: its mean in hundredths
//	   where that is below 0.2, else the sum − seconds × 200 + 20; any other
//	   sum as in 0 and 1
//
//	4  a Huffman code, see huffman.go
//	6  as 4, of levels
//
// 2 and 3 are for intensities that are whole hundredths below 0.2 and for sums; programs of schema 7 and
// before wrote 0 and 1 alone, those of schema 8 wrote 0 to 3.
//
// Other codings were tried and are larger in sum on both profiles of seriestest. Bytes for the
// active values, per row, sparse and noisy3: this one 0.068 and 0.75, bits of a fixed width per
// column 0.073 and 0.95, zigzag varints of deltas 0.091 and 1.03, byte planes 0.101 and 1.04.
// XOR of floats gains nothing on quantised values.
const version = 2

var (
	// ErrDamaged is the error for a value with a wrong checksum or structure.
	ErrDamaged = errors.New("series value is damaged")
	// ErrVersion is the error for a value that a newer program wrote.
	ErrVersion = errors.New("series value has an unknown version")
)

const crcSize = 4

// maxStart keeps all computations on seconds far from overflow (year 36812).
const maxStart = 1 << 40

// value is a value with a checked table; its columns are not checked.
type value struct {
	version byte
	tier    Tier
	start   int64 // second of the first row
	rows    int
	series  int
	table   []byte
	columns []byte
}

// Info describes a value.
type Info struct {
	Tier       Tier
	Start, End int64 // seconds, [Start, End)
	Series     []ID
}

// Inspect checks a value and describes it. The error is ErrDamaged or ErrVersion.
func Inspect(b []byte) (Info, error) {
	v, err := parse(b)
	if err != nil {
		return Info{}, err
	}
	return Info{Tier: v.tier, Start: v.start, End: v.end(), Series: v.ids()}, nil
}

// Only returns a value with nothing but the series in only of another one, for a query that asks
// for them alone; of none it returns a copy of all. What is returned holds no bytes of b. The error
// is ErrDamaged or ErrVersion.
func Only(b []byte, only ...ID) ([]byte, error) {
	if len(only) == 0 {
		return slices.Clone(b), nil
	}
	v, err := parse(b)
	if err != nil {
		return nil, err
	}
	n := 0
	for name := range v.all() {
		if asked(only, name) {
			n++
		}
	}
	w := newValueWriter(v.tier, v.start, v.rows, n)
	for name, column := range v.all() {
		if asked(only, name) {
			w.columns = append(w.columns, column...)
			w.name(ID(name))
		}
	}
	return w.appendTo(nil), nil
}

// asked reports whether a name is that of a series in only, which is not empty.
func asked(only []ID, name []byte) bool {
	return slices.ContainsFunc(only, func(id ID) bool { return string(id) == string(name) })
}

// AppendValue appends the whole block as a value, as for sealing. Queries use an open block in
// the same form, of the series in only when there are any there.
func (b *Block) AppendValue(dst []byte, only ...ID) []byte {
	order := make([]int, 0, len(b.columns))
	for i, c := range b.columns {
		if (len(only) == 0 || slices.Contains(only, c.id)) && slices.ContainsFunc(c.cells, cell.present) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(b.columns[i].id, b.columns[j].id) })
	w := newValueWriter(b.tier, b.start, b.tier.Rows(), len(order))
	for _, i := range order {
		c := &b.columns[i]
		w.columns = w.appendCells(w.columns, c.cells, c.share)
		w.name(c.id)
	}
	return w.appendTo(dst)
}

// coder is the memory in which columns are coded.
type coder struct {
	streams
	head, columns []byte
}

// coders are kept from one value to the next: a flush codes those of all networks.
var coders = sync.Pool{New: func() any { return new(coder) }}

// valueWriter makes a value series by series.
type valueWriter struct {
	*coder   // until appendTo
	tier     Tier
	previous ID
	begun    int // where the column of previous begins, or that which it is like
	ended    int // and where it ends: what is appended to columns is the next one
}

func newValueWriter(tier Tier, start int64, rows, series int) *valueWriter {
	w := &valueWriter{coder: coders.Get().(*coder), tier: tier}
	w.head, w.columns = append(w.head[:0], version), w.columns[:0]
	for _, n := range []uint64{uint64(tier.Step()), uint64(start / tier.Step()), uint64(rows), uint64(series)} {
		w.head = binary.AppendUvarint(w.head, n)
	}
	return w
}

// column appends series id, which must sort after the previous one.
func (w *valueWriter) column(id ID, records []record) {
	w.columns = w.appendColumn(w.columns, records, w.tier.Step(), id.isLocation())
	w.name(id)
}

// appendTo appends the value, with which the writer is done.
func (w *valueWriter) appendTo(dst []byte) []byte {
	begin := len(dst)
	dst = slices.Grow(dst, len(w.head)+len(w.columns)+crcSize)
	dst = append(append(dst, w.head...), w.columns...)
	coders.Put(w.coder)
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[begin:]))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// parse checks everything but the columns.
func parse(b []byte) (value, error) {
	if len(b) > 0 && b[0] > version {
		return value{}, fmt.Errorf("%w: %d", ErrVersion, b[0])
	}
	if len(b) < 1+crcSize {
		return value{}, fmt.Errorf("%w: %d bytes are too few", ErrDamaged, len(b))
	}
	body, sum := b[:len(b)-crcSize], binary.LittleEndian.Uint32(b[len(b)-crcSize:])
	if got := checksum(body); got != sum {
		return value{}, fmt.Errorf("%w: CRC32C is %08x, stored is %08x", ErrDamaged, got, sum)
	}
	c := cursor{b: body[1:]}
	step, first, rows, series := c.uvarint(), c.uvarint(), c.uvarint(), c.uvarint()
	v := value{version: b[0], tier: Tier(step), series: int(series)}
	if c.bad || b[0] == 0 || step > maxRows*1024 || v.tier.Span() == 0 || first > maxStart/step {
		return value{}, fmt.Errorf("%w: header", ErrDamaged)
	}
	v.start = int64(first) * v.tier.Step()
	room := uint64(v.tier.BlockStart(v.start)+v.tier.Span()-v.start) / step
	if rows == 0 || rows > room || series > MaxSeries {
		return value{}, fmt.Errorf("%w: %d rows of %d series from second %d", ErrDamaged, rows, series, v.start)
	}
	v.rows = int(rows)
	return v.split(c.b)
}

// split checks the length table at the head of b and cuts b after it.
func (v value) split(b []byte) (value, error) {
	c, total := cursor{b: b}, uint64(0)
	var buffers [2][maxName]byte
	var previous []byte
	for i := range v.series {
		name, ok := v.readName(&c, append(buffers[i%2][:0], previous...))
		if !ok {
			return value{}, fmt.Errorf("%w: name of series %d", ErrDamaged, i)
		}
		if i > 0 && bytes.Compare(name, previous) <= 0 {
			return value{}, fmt.Errorf("%w: order of series %d", ErrDamaged, i)
		}
		previous = name
		size := min(c.uvarint(), 1<<32)
		if size == 0 && (i == 0 || v.version == 1) {
			return value{}, fmt.Errorf("%w: series %d has no column", ErrDamaged, i)
		}
		total += size
	}
	if c.bad || total != uint64(len(c.b)) {
		return value{}, fmt.Errorf("%w: length table", ErrDamaged)
	}
	v.table, v.columns = b[:len(b)-len(c.b)], c.b
	return v, nil
}

func (v value) end() int64 { return v.start + int64(v.rows)*v.tier.Step() }

// all yields the ID and the column of each series; the ID is valid until the next one.
func (v value) all() iter.Seq2[[]byte, []byte] {
	return func(yield func(id, column []byte) bool) {
		table, columns := cursor{b: v.table}, cursor{b: v.columns}
		var buffer [maxName]byte
		id, column := buffer[:0], []byte(nil)
		for range v.series {
			id, _ = v.readName(&table, id)
			if size := table.uvarint(); size > 0 || v.version == 1 {
				column = columns.take(size)
			}
			if !yield(id, column) {
				return
			}
		}
	}
}

// column returns the column of series id, or nil.
func (v value) column(id ID) []byte {
	for name, column := range v.all() {
		if string(name) == string(id) {
			return column
		}
	}
	return nil
}

func (v value) ids() []ID {
	ids := make([]ID, 0, v.series)
	for name := range v.all() {
		ids = append(ids, ID(name))
	}
	return ids
}

// cursor reads a byte slice; after reading past the end it is bad and yields zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) uvarint() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		n := c.b[0]
		c.b = c.b[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *cursor) byte() byte {
	if b := c.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return nil
	}
	head := c.b[:n]
	c.b = c.b[n:]
	return head
}
