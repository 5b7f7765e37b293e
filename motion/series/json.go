package series

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
)

// AppendJSON appends the same bytes as Points and Points.AppendJSON and returns the effective
// bucket. If the bucket is the step of the tier it writes directly from the runs of the columns.
func (s *Set) AppendJSON(dst []byte, q Query) (json []byte, bucket int64, err error) {
	p, err := s.plan([]ID{q.Series}, q.From, q.To, q.Bucket)
	if err != nil {
		return dst, 0, err
	}
	if p.points == 0 {
		return append(dst, "[]"...), p.bucket, nil
	}
	w := newWriter(dst, p.first, p.bucket, q.Measure.scale(), p.points)
	for _, parts := range p.stretches() {
		if err := w.part(p, parts, q); err != nil {
			return dst, 0, err
		}
	}
	w.fill("null", p.first+int64(p.points)*p.bucket)
	return w.close(), p.bucket, nil
}

// part writes the buckets that the parts cover.
func (w *writer) part(p plan, parts []part, q Query) error {
	if !p.direct(parts[0]) {
		first, sums, err := p.sums(q.Series, q.Measure, parts)
		if err != nil {
			return err
		}
		w.fill("null", p.first+int64(first)*p.bucket)
		for _, s := range sums {
			w.point(q.Measure.of(s))
		}
		return nil
	}
	return parts[0].tiers[0].walk(q.Series, parts[0].from, parts[0].to, q.Measure.rowDepth(), func(s stretch) bool {
		w.fill("null", s.start)
		w.stretch(s, q.Measure)
		return true
	})
}

// AppendJSON appends the points as [[value,ts],…] (payloads.md 4.6), with numbers exactly as
// encoding/json writes them.
func (p Points) AppendJSON(dst []byte) []byte {
	if len(p.values) == 0 {
		return append(dst, "[]"...)
	}
	w := newWriter(dst, p.Start, p.Bucket, p.scale, len(p.values))
	for _, v := range p.values {
		w.point(v)
	}
	return w.close()
}

// MarshalJSON returns the same as AppendJSON.
func (p Points) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// writer writes points, bucket by bucket. It has room for all of them from the start: what it
// writes to is one slice, whose length alone changes.
type writer struct {
	dst    []byte
	step   int64
	factor uint32 // thousandths in a step of the measure's scale
	clock  clock
}

// Sizes of a point in bytes.
const (
	pointSize   = len("[0.353,1764000000],")
	longestTime = len(",9223372036854775807],")
	longestText = len("100.123")
)

func newWriter(dst []byte, first, step int64, s scale, points int) *writer {
	if room := len(dst) + points*pointSize + longestText + longestTime; cap(dst) < room {
		dst = append(make([]byte, 0, room), dst...) // slices.Grow would clear memory that is clear
	}
	return &writer{dst: append(dst, '['), step: step, factor: uint32(milli / s), clock: newClock(first)}
}

// close ends the list, which must not be empty.
func (w *writer) close() []byte {
	w.dst[len(w.dst)-1] = ']'
	return w.dst
}

// next returns where the next point goes: at the end of what is written, with room for the
// longest one.
func (w *writer) next() []byte {
	n := len(w.dst)
	if cap(w.dst)-n < 1+longestText+longestTime {
		w.dst = slices.Grow(w.dst, max(n/4, 1+longestText+longestTime)) // numbers of more than ten digits
	}
	return w.dst[n : n+1+longestText+longestTime]
}

// point writes v, in steps of the scale, for the current bucket.
func (w *writer) point(v int32) {
	if v == null {
		w.text("null")
		return
	}
	p := w.next()
	w.end(p, 1+putThousandths(p[1:], uint32(v)*w.factor))
}

// text writes a text for the current bucket.
func (w *writer) text(text string) {
	p := w.next()
	w.end(p, 1+copy(p[1:], text))
}

// end completes a point, of which a bracket and the value take n bytes, and moves to the next.
func (w *writer) end(p []byte, n int) {
	p[0] = '['
	n += w.clock.put(p[n:])
	w.dst = w.dst[:len(w.dst)+n]
	w.clock.add(w.step)
}

// fill writes a text for each bucket before second to. A point serves as template for the next
// ones, which differ in the last four digits until these carry.
func (w *writer) fill(text string, to int64) {
	c := &w.clock
	for c.second < to {
		begin := len(w.dst)
		w.text(text)
		if c.low < w.step || c.size == 1 || c.second >= to {
			continue // they have just carried
		}
		size := len(w.dst) - begin
		n := ceilTo(min(to-c.second, lowest-c.low), w.step) / w.step
		w.dst = slices.Grow(w.dst, int(n)*size)
		at := w.dst[begin : begin+(int(n)+1)*size]
		for low := c.low; len(at) > size; low += w.step {
			copy(at[size:], at[:size])
			at = at[size:]
			putLow(at[size-len("0000],"):], low)
		}
		w.dst = w.dst[:begin+(int(n)+1)*size]
		c.add(n * w.step)
	}
}

// stretch writes rows whose step equals the bucket.
func (w *writer) stretch(s stretch, m Measure) {
	switch s.kind {
	case absent:
		w.fill("null", s.start+int64(s.rows)*w.step)
	case zero:
		w.fill("0", s.start+int64(s.rows)*w.step)
	default:
		i := 0
		for n := 1; n > 0 && m == Intensity; i += n { // what is asked for most
			n = w.intensities(s.values[i:s.rows])
		}
		for ; i < s.rows; i++ {
			w.point(m.ofRow(&s, i, w.step))
		}
	}
}

// intensities writes points like point, in one loop, as far as they surely fit into what is free and the upper
// digits of the second stay the same, and returns how many.
func (w *writer) intensities(values []uint16) int {
	const longest = 1 + longestText + longestTime
	c := &w.clock
	if c.size == 1 || c.size > 8 { // seconds of another length than those of our days
		return 0
	}
	free := w.dst[len(w.dst):cap(w.dst)]
	n := min(len(values), len(free)/longest, int(ceilTo(lowest-c.low, w.step)/w.step))
	at, low := 0, c.low
	for _, v := range values[:n] {
		p := free[at : at+longest]
		p[0] = '['
		size := 1 + putThousandths(p[1:], uint32(v)*w.factor)
		binary.LittleEndian.PutUint64(p[size:], c.word)
		size += c.size
		putLow(p[size:], low)
		p[size+4], p[size+5] = ']', ','
		at += size + 6
		low += w.step
	}
	w.dst = w.dst[:len(w.dst)+at]
	c.add(int64(n) * w.step)
	return n
}

// putThousandths writes v ÷ 1000, at most 100, in the shortest decimal form and returns its
// length. b has longestText bytes.
func putThousandths(b []byte, v uint32) (n int) {
	units, rest := v/1000, v%1000
	if units < 10 {
		b[0], n = '0'+byte(units), 1
	} else {
		n = len(strconv.AppendUint(b[:0], uint64(units), 10))
	}
	f := &fractions[rest]
	*(*[4]byte)(b[n:]) = f.text
	return n + int(f.size)
}

// fractions are the texts of 0 to 999 thousandths behind the units, without zeros at the end: a
// table, because a processor cannot foretell how many zeros a noise has.
var fractions = func() (table [1000]struct {
	text [4]byte
	size uint8
}) {
	for v := range table {
		f := &table[v]
		f.text = [4]byte{'.', '0' + byte(v/100), '0' + byte(v/10%10), '0' + byte(v%10)}
		if v > 0 {
			f.size = uint8(len(bytes.TrimRight(f.text[:], "0")))
		}
	}
	return table
}()

// clock counts seconds, at least 0, and has all but their last four digits as text.
type clock struct {
	second int64
	low    int64             // second % lowest
	high   [longestTime]byte // a comma, and the digits of second ÷ lowest unless it is 0
	size   int               // of high
	word   uint64            // the first eight bytes of high
}

// lowest is what the last four digits count up to.
const lowest = 10_000

func newClock(second int64) clock {
	c := clock{second: second}
	c.carry()
	return c
}

// carry makes the text of the current second anew.
func (c *clock) carry() {
	c.low = c.second % lowest
	text := append(c.high[:0], ',')
	if high := c.second / lowest; high > 0 {
		text = strconv.AppendInt(text, high, 10)
	}
	c.size, c.word = len(text), binary.LittleEndian.Uint64(c.high[:])
}

// add advances the clock by step seconds.
func (c *clock) add(step int64) {
	c.second += step
	if c.low += step; c.low >= lowest {
		c.carry()
	}
}

// put writes the rest of a point, ",SECOND],", to b, which has longestTime bytes, and returns its
// length.
func (c *clock) put(b []byte) int {
	n := c.size
	if n == 1 {
		b[0] = ','
		n += len(strconv.AppendInt(b[1:1], c.low, 10))
		return n + copy(b[n:], "],")
	}
	binary.LittleEndian.PutUint64(b, c.word)
	if n > 8 {
		copy(b[8:], c.high[8:n])
	}
	putLow(b[n:], c.low)
	b[n+4], b[n+5] = ']', ','
	return n + 6
}

// putLow writes the last four digits of a second.
func putLow(b []byte, low int64) {
	upper, lower := uint32(low)/100, uint32(low)%100
	_ = b[3]
	b[0], b[1], b[2], b[3] = '0'+byte(upper/10), '0'+byte(upper%10), '0'+byte(lower/10), '0'+byte(lower%10)
}
