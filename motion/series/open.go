package series

import (
	"math"
	"slices"
)

// MaxSeries is the limit of series per block, so that a device that invents link names cannot
// fill the memory.
const MaxSeries = 256

// aggregated is the frame count of a row that arrived as one finished value (history, journal):
// its number of frames above 0 is then its density in percent.
const aggregated = 100

// cellSize is the size of a cell in bytes.
const cellSize = 4

// cell is a row that still receives frames. frames = 0 means absent.
type cell struct {
	value  uint16 // motion: greatest intensity × 1000; share: sum of the frames' percents
	frames uint8  // frames seen, saturating
	above  uint8  // motion: frames with intensity > 0
}

func (c cell) present() bool { return c.frames > 0 }

// column is one series of an open block.
type column struct {
	id    ID
	share bool // of a location
	cells []cell
}

// Block is the block of one network and tier that is being filled in memory: four bytes per
// series and row, 17 KB for 600 s of a network with 6 links. It is not safe for concurrent use.
type Block struct {
	tier     Tier
	start    int64
	columns  []column
	likely   int  // column after the last one looked up
	changed  span // rows changed since the last increment
	inFlight span // rows of increments that may not be committed

	journal []int // columns in the order of their names in increments
	named   int   // number of these with committed names
}

// span is a half-open range of rows; empty when to is 0.
type span struct{ from, to int }

func (s span) join(o span) span {
	switch {
	case s.to == 0:
		return o
	case o.to == 0:
		return s
	}
	return span{min(s.from, o.from), max(s.to, o.to)}
}

// NewBlock returns the empty block of tier that holds second start.
func NewBlock(tier Tier, start int64) *Block {
	b := &Block{}
	b.Begin(tier, start)
	return b
}

// Begin makes b the empty block of tier that holds second start. It takes the memory of the rows before.
func (b *Block) Begin(tier Tier, start int64) {
	*b = Block{tier: tier, start: tier.BlockStart(start), columns: b.columns[:0]}
}

// Tier returns the resolution of the rows.
func (b *Block) Tier() Tier { return b.tier }

// Start returns the first second of the block, since the epoch.
func (b *Block) Start() int64 { return b.start }

// End returns the first second after the block.
func (b *Block) End() int64 { return b.start + b.tier.Span() }

// Bytes returns the memory of the rows in bytes.
func (b *Block) Bytes() int { return len(b.columns) * b.tier.Rows() * cellSize }

// Empty reports whether the block holds no row.
func (b *Block) Empty() bool {
	for _, c := range b.columns {
		if slices.ContainsFunc(c.cells, cell.present) {
			return false
		}
	}
	return true
}

// Index finds or adds series id. The index is valid for the life of the block. ok is false when
// the block already holds MaxSeries or id is longer than 255 bytes.
func (b *Block) Index(id ID) (i int, ok bool) {
	if i = b.likely; b.isAt(i, id) {
		b.likely++
		return i, true
	}
	return b.find(id)
}

// isAt reports whether series id is column i.
func (b *Block) isAt(i int, id ID) bool { return i < len(b.columns) && b.columns[i].id == id }

// find is Index of a series that is not the likely one.
func (b *Block) find(id ID) (i int, ok bool) {
	i = slices.IndexFunc(b.columns, func(c column) bool { return c.id == id })
	b.likely = i + 1
	if i >= 0 {
		return i, true
	}
	if len(b.columns) == MaxSeries || len(id) > maxName {
		return 0, false
	}
	i = len(b.columns)
	b.columns = slices.Grow(b.columns, 1)[:i+1]
	c := &b.columns[i] // has rows where a block before this one had a series
	if c.id, c.share = id, id.isLocation(); len(c.cells) != b.tier.Rows() {
		c.cells = make([]cell, b.tier.Rows())
	} else {
		clear(c.cells)
	}
	return i, true
}

// Add adds one live frame of series i at second ts. The intensity of a row is the maximum of its
// frames, the density the percentage above 0 (payloads.md 4.6); the share of a location is the
// mean. value is clipped to 0..1. Add returns false when ts is outside the block or value is not
// a number.
func (b *Block) Add(i int, ts int64, value float64) bool {
	r, ok := b.row(ts)
	if !ok || math.IsNaN(value) {
		return false
	}
	b.columns[i].add(r, value)
	b.changed = b.changed.join(span{r, r + 1})
	return true
}

// Value is one series' value at one moment.
type Value struct {
	ID    ID
	Value float64 // intensity or share, 0..1
}

// AddFrame calls Add for each value of a live frame; it adds missing series like Index.
func (b *Block) AddFrame(ts int64, frame []Value) {
	r, ok := b.row(ts)
	if !ok {
		return
	}
	added, next := false, 0 // the series that is likely next: frames name them in the order of the first
	for k := range frame {
		v := &frame[k]
		if math.IsNaN(v.Value) {
			continue
		}
		i := next
		if !b.isAt(i, v.ID) {
			if i, ok = b.find(v.ID); !ok {
				continue
			}
		}
		next = i + 1
		if c := &b.columns[i]; c.share { // as column.add, without a call
			c.cells[r].addShare(v.Value)
		} else {
			c.cells[r].addIntensity(intensity(v.Value))
		}
		added = true
	}
	if added {
		b.changed = b.changed.join(span{r, r + 1})
	}
}

// FillFrame calls Fill for each value of a frame.
func (b *Block) FillFrame(ts int64, frame []Value) {
	for _, v := range frame {
		if i, ok := b.Index(v.ID); ok {
			b.Fill(i, ts, v.Value)
		}
	}
}

// Fill stores one finished value of history, such as a row of a motion-history message
// (device-protocol.md 2.3): its density is 100 % if value is above 0. It never replaces a row.
// Fill returns false when the row is present, ts is outside the block or value is not a number.
func (b *Block) Fill(i int, ts int64, value float64) bool {
	r, ok := b.row(ts)
	if !ok || math.IsNaN(value) || b.columns[i].cells[r].frames > 0 {
		return false
	}
	density := uint16(full)
	if b.columns[i].share {
		density = quantise(value, full)
	}
	b.put(i, r, intensity(value), density)
	b.changed = b.changed.join(span{r, r + 1})
	return true
}

// row returns the row that holds second ts.
func (b *Block) row(ts int64) (r int, ok bool) {
	if ts < b.start || ts >= b.End() {
		return 0, false
	}
	return int((ts - b.start) / b.tier.Step()), true
}

// put replaces row r of series i with a finished one: milli is the intensity × 1000, density the
// percentage of frames above 0 or the share.
func (b *Block) put(i, r int, milli, density uint16) {
	c := &b.columns[i]
	switch {
	case milli == 0:
		c.cells[r] = cell{frames: aggregated}
	case c.share:
		c.cells[r] = cell{value: aggregated * density, frames: aggregated}
	default:
		c.cells[r] = cell{value: milli, frames: aggregated, above: uint8(density)}
	}
}

// add adds a frame to row r.
func (c *column) add(r int, value float64) {
	if c.share {
		c.cells[r].addShare(value)
	} else {
		c.cells[r].addIntensity(intensity(value))
	}
}

func (c *cell) addIntensity(milli uint16) {
	c.value = max(c.value, milli)
	above := uint8(min(milli, 1))
	if c.frames == math.MaxUint8 {
		c.above = max(c.above, above) // no row has an intensity and no frame above 0
		return
	}
	c.frames++
	c.above += above
}

func (c *cell) addShare(value float64) {
	if c.frames == math.MaxUint8 {
		return
	}
	c.value += quantise(value, 100)
	c.frames++
}

// kind returns the kind of the row.
func (c cell) kind() kind {
	switch {
	case c.frames == 0:
		return absent
	case c.value == 0:
		return zero
	}
	return active
}

// density returns the percentage of frames above 0; the cell must have such a frame.
func (c cell) density() uint16 {
	if c.above == c.frames {
		return full
	}
	return percent(100*int(c.above), int(c.frames))
}

// percent returns sum/n rounded, and 0 only if sum is 0.
func percent(sum, n int) uint16 {
	if sum == 0 {
		return 0
	}
	return uint16(max((sum+n/2)/n, 1))
}

// quantise returns value, clipped to 0..1, in steps of 1/scale: rounded, and 0 only if value is
// not above 0.
func quantise(value float64, scale float64) uint16 {
	switch {
	case value <= 0:
		return 0
	case value >= 1:
		return uint16(scale)
	}
	return max(uint16(value*scale+0.5), 1)
}
