package detect

import (
	"math"

	"sensegate/motion"
)

const (
	maxLag     = 6    // frames; K of lm1.md 2 no. 4
	maxBlocks  = 10   // of the longest window, 2.5 s
	maxFrames  = 2048 // in the window; excess frames are dropped
	minHistory = 64   // initial room for frames
)

// window holds the normalised frames of the last seconds, divided into blocks of one
// TickInterval. It adds up what a tick needs as frames arrive: per block the moments of each
// column, per frame the products with the frames before it. Rows are stored minus the first
// one, which changes no covariance and keeps the sums small.
type window struct {
	layout *layout
	base   []float64 // the first row
	gain0  []float64 // its gains

	first, next int // numbers of the oldest frame and of the next one
	mask        int // ring size − 1
	times       []motion.Time
	rssi        []int8
	rows        []float64 // per frame: columns
	gains       []float64 // per frame: parts
	products    []float64 // per frame: lag 0..maxLag, sum over pairs

	halves []float64 // neighbours of the last maxLag+1 rows
	blocks [maxBlocks + 1]moments
	open   int // block that frames are added to
	closed int // blocks before it, at most maxBlocks

	scratch scratch
}

// moments are sums over frames.
type moments struct {
	n         int
	p, pp, pg []float64 // per column: value, square, value × gain
	g, gg     []float64 // per part: gain, square
}

func newMoments(columns, parts int) moments {
	v := make([]float64, 3*columns+2*parts)
	return moments{
		p: v[:columns:columns], pp: v[columns : 2*columns : 2*columns], pg: v[2*columns : 3*columns : 3*columns],
		g: v[3*columns : 3*columns+parts : 3*columns+parts], gg: v[3*columns+parts:],
	}
}

func (m *moments) reset() {
	m.n = 0
	clear(m.p)
	clear(m.pp)
	clear(m.pg)
	clear(m.g)
	clear(m.gg)
}

func (m *moments) add(o *moments) {
	m.n += o.n
	addTo(m.p, o.p)
	addTo(m.pp, o.pp)
	addTo(m.pg, o.pg)
	addTo(m.g, o.g)
	addTo(m.gg, o.gg)
}

func newWindow(l *layout) *window {
	columns, parts := len(l.bins), len(l.parts)
	w := &window{
		layout: l,
		base:   make([]float64, columns),
		gain0:  make([]float64, parts),
		halves: make([]float64, (maxLag+1)*columns),
	}
	for i := range w.blocks {
		w.blocks[i] = newMoments(columns, parts)
	}
	w.scratch = newScratch(columns, parts)
	w.resize(minHistory)
	return w
}

// resize grows the ring to size frames, a power of two.
func (w *window) resize(size int) {
	columns, parts := len(w.layout.bins), len(w.layout.parts)
	old := *w
	w.mask = size - 1
	w.scratch.resize(size)
	w.times = make([]motion.Time, size)
	w.rssi = make([]int8, size)
	w.rows = make([]float64, size*columns)
	w.gains = make([]float64, size*parts)
	w.products = make([]float64, size*(maxLag+1))
	for f := w.first; f < w.next; f++ {
		w.times[f&w.mask] = old.times[f&old.mask]
		w.rssi[f&w.mask] = old.rssi[f&old.mask]
		copy(w.row(f), old.row(f))
		copy(w.gainsOf(f), old.gainsOf(f))
		copy(w.productsOf(f), old.productsOf(f))
	}
}

func (w *window) row(f int) []float64        { return ringRow(w.rows, f&w.mask, len(w.layout.bins)) }
func (w *window) gainsOf(f int) []float64    { return ringRow(w.gains, f&w.mask, len(w.layout.parts)) }
func (w *window) productsOf(f int) []float64 { return ringRow(w.products, f&w.mask, maxLag+1) }

// half returns the neighbours of row f, one of the last maxLag+1.
func (w *window) half(f int) []float64 {
	return ringRow(w.halves, f%(maxLag+1), len(w.layout.bins))
}

func ringRow(ring []float64, i, width int) []float64 {
	return ring[i*width : (i+1)*width : (i+1)*width]
}

// clear removes all frames.
func (w *window) clear() {
	w.first, w.next, w.closed = 0, 0, 0
	w.blocks[w.open].reset()
}

// push adds a frame to the open block. It ignores frames beyond maxFrames, and those with an
// amplitude that is not a number.
func (w *window) push(t motion.Time, amp []float32, rssi int8) {
	if w.next-w.first == len(w.times) {
		if len(w.times) == maxFrames {
			return
		}
		w.resize(2 * len(w.times))
	}
	f := w.next
	row, gains := w.row(f), w.gainsOf(f)
	if !w.layout.normalise(row, gains, amp) {
		return
	}
	if w.first == w.next {
		copy(w.base, row)
		copy(w.gain0, gains)
	}
	w.times[f&w.mask], w.rssi[f&w.mask] = t, rssi
	w.next++
	subtract(row, w.base)
	subtract(gains, w.gain0)

	w.layout.neighbours(w.half(f), row)
	products := w.productsOf(f)
	for lag := 0; lag <= min(maxLag, f-w.first); lag++ {
		products[lag] = dot(w.half(f-lag), row)
	}
	w.blocks[w.open].gather(w.layout, row, gains)
}

// gather adds one frame to the sums.
func (m *moments) gather(l *layout, row, gains []float64) {
	m.n++
	for s, part := range l.parts {
		g := gains[s]
		m.g[s] += g
		m.gg[s] += g * g
		x := row[part.lo:part.hi]
		p, pp, pg := m.p[part.lo:part.hi], m.pp[part.lo:part.hi], m.pg[part.lo:part.hi]
		p, pp, pg = p[:len(x)], pp[:len(x)], pg[:len(x)]
		for k, v := range x {
			p[k] += v
			pp[k] += v * v
			pg[k] += v * g
		}
	}
}

// close ends the open block.
func (w *window) close() {
	if w.closed == maxBlocks {
		w.release(maxBlocks - 1)
	}
	w.closed++
	w.open = (w.open + 1) % len(w.blocks)
	w.blocks[w.open].reset()
}

// release keeps the newest n closed blocks and drops the frames before them.
func (w *window) release(n int) {
	for ; w.closed > n; w.closed-- {
		w.first += w.block(w.closed).n
	}
}

// block returns the age-th closed block, 1 = the newest.
func (w *window) block(age int) *moments {
	return &w.blocks[(w.open-age+len(w.blocks))%len(w.blocks)]
}

// count returns the number of frames in the newest n closed blocks. The open block must be
// empty, as it is at a tick.
func (w *window) count(n int) int {
	frames := 0
	for age := 1; age <= min(n, w.closed); age++ {
		frames += w.block(age).n
	}
	return frames
}

// signal returns the mean RSSI of the newest n frames in dBm, or 0 if none is known.
func (w *window) signal(n int) float64 {
	sum, known := 0.0, 0
	for f := w.next - n; f < w.next; f++ {
		if r := w.rssi[f&w.mask]; r != 0 {
			sum += float64(r)
			known++
		}
	}
	return sum / math.Max(1, float64(known))
}
