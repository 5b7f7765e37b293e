package series

import "strconv"

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

// writer writes points, bucket by bucket.
type writer struct {
	dst   []byte
	step  int64
	scale scale
	clock clock
}

// pointSize is the size of a typical point, "[0.353,1764000000],".
const pointSize = 19

func newWriter(dst []byte, first, step int64, s scale, points int) *writer {
	if free := cap(dst) - len(dst); free < points*pointSize {
		dst = append(make([]byte, 0, len(dst)+points*pointSize), dst...)
	}
	return &writer{dst: append(dst, '['), step: step, scale: s, clock: newClock(first)}
}

// close ends the list, which must not be empty.
func (w *writer) close() []byte {
	w.dst[len(w.dst)-1] = ']'
	return w.dst
}

// point writes v, in steps of the scale, for the current bucket.
func (w *writer) point(v int32) {
	w.dst = append(w.dst, '[')
	if v == null {
		w.dst = append(w.dst, "null"...)
	} else {
		w.dst = w.scale.append(w.dst, uint32(v))
	}
	w.end()
}

// end writes the time of the current bucket and moves to the next.
func (w *writer) end() {
	w.dst = append(w.dst, ',')
	w.dst = append(w.dst, w.clock.digits...)
	w.dst = append(w.dst, "],"...)
	w.clock.add(w.step)
}

// fill writes text as the value of each bucket before second to. A point serves as template for
// the next ones while only the last digit changes.
func (w *writer) fill(text string, to int64) {
	for w.clock.second < to {
		begin := len(w.dst)
		w.dst = append(append(w.dst, '['), text...)
		w.end()
		size := len(w.dst) - begin
		for w.clock.second < to && w.clock.lastOnly {
			w.dst = append(w.dst, w.dst[len(w.dst)-size:]...)
			w.dst[len(w.dst)-len("d],")] = w.clock.last()
			w.clock.add(w.step)
		}
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
		for i := range s.rows {
			w.point(m.ofRow(&s, i, w.step))
		}
	}
}

// append appends v ÷ s in the shortest decimal form, v ≤ 100 × s.
func (s scale) append(dst []byte, v uint32) []byte {
	units, rest := v/uint32(s), v%uint32(s)
	if units < 10 {
		dst = append(dst, '0'+byte(units))
	} else {
		dst = strconv.AppendUint(dst, uint64(units), 10)
	}
	if rest == 0 {
		return dst
	}
	rest *= uint32(milli / s)
	dst = append(dst, '.', '0'+byte(rest/100), '0'+byte(rest/10%10), '0'+byte(rest%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// clock counts seconds, at least 0, in decimal digits.
type clock struct {
	second   int64
	digits   []byte
	lastOnly bool // the last step changed only the last digit
}

func newClock(second int64) clock {
	return clock{second: second, digits: strconv.AppendInt(nil, second, 10)}
}

func (c *clock) last() byte { return c.digits[len(c.digits)-1] }

// add advances the clock by step seconds.
func (c *clock) add(step int64) {
	c.second += step
	c.lastOnly = int64(c.last()-'0')+step < 10
	if step < 10 {
		for i := len(c.digits) - 1; i >= 0; i-- {
			if c.digits[i] += byte(step); c.digits[i] <= '9' {
				return
			}
			c.digits[i] -= 10
			step = 1
		}
	}
	c.digits = strconv.AppendInt(c.digits[:0], c.second, 10)
}
