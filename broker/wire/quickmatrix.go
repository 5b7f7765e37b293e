package wire

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"sensegate/motion"
)

// matrixReader reads a motion-matrix as guardians send it, in one pass and without the objects between, several times as
// fast as parse and decodeMatrix. Of a message that has anything unusual in it, such as a number as text, a name twice, or a
// value out of its range, it says that it cannot: those two read it, or say what is wrong.
// Its memory is used again for the next.
type matrixReader struct {
	quick[[]byte]
	message motion.Matrix
	flat    []float64   // holds all figures
	rows    [][]float64 // of all figures, parts of flat
	found   uint        // names of the message, a bit each
	inData  uint        // names of the figures, a bit each
}

// read reads a motion-matrix into r.message; ok is false when only decodeMatrix can, or nobody.
func (r *matrixReader) read(payload []byte) (ok bool) {
	if len(payload) > MaxMessage {
		return false
	}
	commas := bytes.Count(payload, []byte{','})
	if commas > maxObjects/2 {
		return false
	}
	most := commas + 1 // values, and rows: those of a message stay where they are
	*r = matrixReader{
		quick:   quick[[]byte]{text: payload},
		message: motion.Matrix{Interval: defaultLiveMS, Count: 1, MotionEnabled: 1, Links: r.message.Links[:0], Loc: r.message.Loc[:0]},
		flat:    slices.Grow(r.flat[:0], most),
		rows:    slices.Grow(r.rows[:0], most),
	}
	ok = r.next() == '{' && r.fields(r.field) && r.next() == 0 && r.at == len(r.text) && r.agrees()
	r.text = nil
	return ok
}

// agrees reports whether the parts of the message fit together.
func (r *matrixReader) agrees() bool {
	m := &r.message
	if r.inData == 0 || checkSteps(m.Interval, m.Count) != nil || m.Count*len(m.Links) > maxCells {
		return false
	}
	for _, rows := range m.Values {
		if rows != nil && len(rows) != len(m.Links) {
			return false
		}
		for _, row := range rows {
			if len(row) != m.Count {
				return false
			}
		}
	}
	return true
}

// field reads the value of one name of the message.
func (r *matrixReader) field(name []byte) bool {
	m, bit := &r.message, uint(0)
	var read func() bool
	switch string(name) {
	case "ts":
		bit, read = 1<<0, func() bool { return r.time(&m.TS) }
	case "links":
		bit, read = 1<<1, r.links
	case "data", "motion":
		bit, read = 1<<2, func() bool { return r.next() == '{' && r.fields(r.figure) }
	case "loc":
		bit, read = 1<<3, r.loc
	case "interval":
		bit, read = 1<<4, func() bool { return r.whole(&m.Interval) }
	case "count":
		bit, read = 1<<5, func() bool { return r.whole(&m.Count) }
	case "motion_tripped":
		bit, read = 1<<6, func() bool { return r.whole(&m.MotionTripped) }
	case "last_motion":
		bit, read = 1<<7, func() bool { return r.time(&m.LastMotion) }
	case "motion_enabled":
		bit, read = 1<<8, func() bool { return r.whole(&m.MotionEnabled) }
	default:
		_, ok := r.value()
		return ok
	}
	if r.found&bit != 0 {
		return false
	}
	r.found |= bit
	return read()
}

func (r *matrixReader) float() (value float64, ok bool) {
	if r.next() == 0 {
		return 0, false
	}
	number, ok := r.number()
	if !ok {
		return 0, false
	}
	if value, ok = shortDecimal(number); ok {
		return value, true
	}
	value, err := strconv.ParseFloat(string(number), 64)
	return value, err == nil
}

// shortDecimal returns the value of a JSON number of at most 16 bytes without a sign or an exponent, as nearly all of a
// message are; ok is false for others. With decimals it has at most 15 digits, which a float holds exactly as it does the
// power of ten, so that their quotient is rounded once, as strconv.ParseFloat has it.
func shortDecimal(number []byte) (value float64, ok bool) {
	if len(number) > 16 {
		return 0, false
	}
	digits, decimals, inDecimals := int64(0), 0, 0
	for _, c := range number {
		switch {
		case c == '.':
			inDecimals = 1
		case c >= '0' && c <= '9':
			digits, decimals = 10*digits+int64(c-'0'), decimals+inDecimals
		default:
			return 0, false
		}
	}
	return float64(digits) / tens[decimals], true
}

// tens are powers of ten, which floats hold exactly up to 10^22.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

func (r *matrixReader) whole(into *int) bool {
	value, ok := r.float()
	*into = int(value)
	return ok && value == math.Trunc(value) && math.Abs(value) < 1<<31
}

func (r *matrixReader) time(into *motion.Time) bool {
	value, ok := r.float()
	*into = motion.Time(value)
	return ok && value >= 0 && value < endOfTime
}

func (r *matrixReader) links() bool {
	if r.next() != '[' {
		return false
	}
	r.message.Links = slices.Grow(r.message.Links, 8)
	return r.members(']', func() bool {
		if r.next() != '"' || len(r.message.Links) == maxItems {
			return false
		}
		text, ok := r.str()
		if !ok {
			return false
		}
		id, err := linkID(string(text))
		r.message.Links = append(r.message.Links, id)
		return err == nil
	})
}

func (r *matrixReader) loc() bool {
	if r.next() != '[' {
		return false
	}
	return r.members(']', func() bool {
		loc := &r.message.Loc
		if r.next() != '"' {
			share, ok := r.share(1)
			if !ok || len(*loc) == 0 {
				return false
			}
			(*loc)[len(*loc)-1].Confidence = share
			return true
		}
		text, ok := r.str()
		if !ok || string(text) == noMotion {
			return ok
		}
		mac, err := motion.ParseMAC(string(text))
		*loc = append(*loc, motion.MatrixLoc{MAC: mac, Confidence: 1})
		return err == nil && !mac.IsZero() && len(*loc) < maxMACs/2
	})
}

// figure reads a figure: of each link a value, or a list with one of each step.
func (r *matrixReader) figure(name []byte) bool {
	for i, most := range mostOf {
		if motion.Figure(i).String() != string(name) {
			continue
		}
		if r.inData&(1<<i) != 0 || r.next() != '[' {
			return false
		}
		r.inData |= 1 << i
		first := len(r.rows)
		ok := r.members(']', func() bool {
			from := len(r.flat)
			one := func() bool { return r.cell(most) }
			ok := false
			if r.next() == '[' {
				ok = r.members(']', one)
			} else {
				ok = one()
			}
			r.rows = append(r.rows, r.flat[from:len(r.flat):len(r.flat)])
			return ok
		})
		r.message.Values[i] = r.rows[first:len(r.rows):len(r.rows)]
		return ok
	}
	_, ok := r.value()
	return ok
}

// cell reads one value of a figure: a number, or none.
func (r *matrixReader) cell(most float64) bool {
	value := math.NaN()
	if r.next(); !r.word("null") && !r.word("NaN") {
		var ok bool
		if value, ok = r.share(most); !ok {
			return false
		}
	}
	r.flat = append(r.flat, value)
	return true
}

// share reads a number of 0..most.
func (r *matrixReader) share(most float64) (value float64, ok bool) {
	if value, ok = r.float(); !ok {
		return 0, false
	}
	value, err := within(value, 0, most)
	return value, err == nil
}
