package series

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Codings of a stream of values.
const (
	codingRuns    = 0
	codingRice    = 1
	codingHuffman = 4

	ofLevels = 2 // more than these: the values are levels (floor.go)
)

// Adaptive Golomb–Rice coding (R. F. Rice, "Some practical universal noiseless coding
// techniques", JPL 79-22; adaptation after ITU-T T.87, JPEG-LS, annex A).
//
// A running mean predicts each value; the error, folded to 0, −1, 1, −2, … → 0, 1, 2, 3, …, is
// split at bit k: the upper part is written in unary as 1 bits and a 0 bit, then the lower k
// bits. k follows the running mean m of the folded errors, k = bits(m · ln 2). Bits fill bytes
// from the lowest up; the last byte is padded with 0. An upper part of escapeOnes or more is
// written as escapeOnes 1 bits and the value itself in 16 bits, of a sum (uint32) in 20.
const (
	escapeOnes  = 24
	longestRice = 45 // bits of a code: less than escapeOnes, a 0 and k, of a sum at most 21
	startK      = 5  // for the first error, which becomes the first mean
	meanShift   = 4  // fraction bits of the running mean of values
	meanRate    = 2  // the mean moves by 1/4 of each error
	errorShift  = 3  // fraction bits of the running mean of errors, which moves by 1/8
	ln2         = 11 // ÷ 16
)

// model is the state that writer and reader share before each value. Its methods take and return
// it by value, so that it stays in registers.
type model struct {
	mean   int // of the values, with meanShift fraction bits
	errors int // mean of the folded errors, with errorShift fraction bits
	k      uint
}

// number is a value of a stream: one value of a row, or a sum of up to 900.
type number interface{ uint16 | uint32 }

// plainBits returns the width in bits of an escaped value.
func plainBits[N number]() uint {
	if ^N(0) > math.MaxUint16 {
		return 20
	}
	return 16
}

func newModel[N number](first N) model {
	return model{mean: int(first) << meanShift, errors: -1, k: startK}
}

func (m model) foretold() int { return (m.mean + 1<<(meanShift-1)) >> meanShift }

// learned returns the model after value v.
func (m model) learned(v, folded int) model {
	m.mean += (v<<meanShift - m.mean) >> meanRate
	if m.errors < 0 {
		m.errors = folded << errorShift
	} else {
		m.errors += folded - m.errors>>errorShift
	}
	m.k = uint(bits.Len(uint(m.errors*ln2) >> (4 + errorShift)))
	return m
}

func fold(e int) int   { return e<<1 ^ e>>(bits.UintSize-1) }
func unfold(u int) int { return u>>1 ^ -(u & 1) }

// appendStream appends values, of which there is at least one, in the shortest coding.
func appendStream[N number](dst []byte, values []N) []byte {
	c := changesOf(values)
	if most := 1 + 5*c.runs; most <= max(6, len(values)/8) { // a run takes 2 to 5 bytes, a value in bits at least one
		return appendRuns(dst, values)
	}
	begin := len(dst)
	dst = appendBits(dst, values, c)
	middle := len(dst)
	if 1+2*c.runs > middle-begin {
		return dst
	}
	dst = appendRuns(dst, values)
	if len(dst)-middle > middle-begin {
		return dst[:middle]
	}
	return append(dst[:begin], dst[middle:]...)
}

// changes says how the values of a stream change.
type changes struct {
	runs        int // of equal values
	sum         int // of what values differ by from the one before
	least, most int // of the values
}

func changesOf[N number](values []N) changes {
	runs, sum := 1, 0
	least, most, before := values[0], values[0], values[0]
	for _, v := range values[1:] {
		by := int(v) - int(before)
		sum += max(by, -by)
		if by != 0 {
			runs++
		}
		least, most, before = min(least, v), max(most, v), v
	}
	return changes{runs, sum, int(least), int(most)}
}

// appendBits appends values, which are not all alike, in the shorter coding of bits.
func appendBits[N number](dst []byte, values []N, c changes) []byte {
	short := len(values) < shortStream
	if short && 2*c.runs > len(values) {
		return appendRice(dst, values)
	}
	begin := len(dst)
	h, size, follow := newHuffman(values, c)
	if short || follow {
		if dst = appendRice(dst, values); len(dst)-begin <= size {
			return dst
		}
	}
	return appendHuffman(dst[:begin], &h, values)
}

func appendRuns[N number](dst []byte, values []N) []byte {
	dst = append(dst, codingRuns)
	for i := 0; i < len(values); {
		end := i + 1
		for end < len(values) && values[end] == values[i] {
			end++
		}
		dst = binary.AppendUvarint(dst, uint64(values[i]))
		dst = binary.AppendUvarint(dst, uint64(end-i-1))
		i = end
	}
	return dst
}

func appendRice[N number](dst []byte, values []N) []byte {
	dst = binary.AppendUvarint(append(dst, codingRice), uint64(values[0]))
	m, plain := newModel(values[0]), plainBits[N]()
	dst = slices.Grow(dst, 6*len(values)+8) // a value takes 44 bits at most
	out, n := dst[:cap(dst)], len(dst)
	var pending uint64
	var size uint
	for _, v := range values[1:] {
		folded, k := fold(int(v)-m.foretold()), m.k&63 // a processor shifts by less than 64 in one instruction
		upper := uint(folded) >> k
		if upper < escapeOnes {
			lower := uint64(uint(folded) - upper<<k)
			pending |= ((lower<<1|1)<<upper - 1) << (size & 63)
			size += upper + 1 + k
		} else {
			pending |= (1<<escapeOnes - 1 | uint64(v)<<escapeOnes) << (size & 63)
			size += escapeOnes + plain
		}
		binary.LittleEndian.PutUint64(out[n:], pending) // all of it: what is no whole byte is written again
		n += int(size >> 3)
		pending >>= size &^ 7 & 63
		size &= 7
		m = m.learned(int(v), folded)
	}
	dst = out[:n]
	if size > 0 {
		dst = append(dst, byte(pending))
	}
	return dst
}

// decodeStream appends n values of 1..limit to dst. The error is ErrDamaged.
func decodeStream[N number](c *cursor, dst []N, n int, limit N) ([]N, error) {
	dst, areLevels, err := decodeEither(c, dst, n, limit)
	if areLevels && err == nil {
		err = fmt.Errorf("%w: levels where there are none", ErrDamaged)
	}
	return dst, err
}

// decodeEither is decodeStream of values that may be levels.
func decodeEither[N number](c *cursor, dst []N, n int, limit N) (_ []N, areLevels bool, err error) {
	if n == 0 {
		return dst, false, nil
	}
	coding := c.byte()
	areLevels = coding&ofLevels != 0
	switch coding &^ ofLevels {
	case codingRuns:
		if c.bad {
			return dst, false, fmt.Errorf("%w: stream is missing", ErrDamaged)
		}
		dst, err = decodeRuns(c, dst, n, limit)
	case codingRice:
		dst, err = decodeRice(c, dst, n, limit)
	case codingHuffman:
		dst, err = decodeHuffman(c, dst, n, limit)
	default:
		err = fmt.Errorf("%w: stream coding %d", ErrDamaged, coding)
	}
	return dst, areLevels, err
}

func decodeRuns[N number](c *cursor, dst []N, n int, limit N) ([]N, error) {
	for n > 0 {
		v, more := c.uvarint(), c.uvarint()
		if c.bad || v == 0 || v > uint64(limit) || more >= uint64(n) {
			return dst, fmt.Errorf("%w: run of values", ErrDamaged)
		}
		for range more + 1 {
			dst = append(dst, N(v))
		}
		n -= int(more) + 1
	}
	return dst, nil
}

func decodeRice[N number](c *cursor, dst []N, n int, limit N) ([]N, error) {
	first := c.uvarint()
	if c.bad || first == 0 || first > uint64(limit) {
		return dst, fmt.Errorf("%w: first value", ErrDamaged)
	}
	dst = append(dst, N(first))
	m := newModel(N(first))
	r, plain := bitReader{b: c.b}, plainBits[N]()
	word, size := r.bits, r.size // in registers
	for range n - 1 {
		if size < longestRice {
			r.bits, r.size = word, size
			r.fill()
			word, size = r.bits, r.size
		}
		var v, folded int
		if upper := uint(bits.TrailingZeros64(^word)); upper < escapeOnes {
			k := m.k & 63
			word >>= upper + 1
			folded = int(upper<<k | uint(word)&(1<<k-1))
			word >>= k
			size -= int(upper + 1 + k)
			v = m.foretold() + unfold(folded)
		} else {
			v = int(word >> escapeOnes & (1<<plain - 1))
			word >>= escapeOnes + plain
			size -= escapeOnes + int(plain)
			folded = fold(v - m.foretold())
		}
		if v < 1 || v > int(limit) || size < 0 {
			return dst, fmt.Errorf("%w: value stream", ErrDamaged)
		}
		dst = append(dst, N(v))
		m = m.learned(v, folded)
	}
	r.bits, r.size = word, size
	c.b = c.b[len(c.b)-r.left():]
	return dst, nil
}

// bitReader reads bits from the lowest of each byte up. Past the end it yields zeros and its
// size is negative.
type bitReader struct {
	b    []byte
	bits uint64
	size int
}

// fill makes at least 56 bits available, or all that are left.
func (r *bitReader) fill() {
	if len(r.b) >= 8 {
		r.bits |= binary.LittleEndian.Uint64(r.b) << r.size
		whole := (63 - r.size) >> 3
		r.b = r.b[whole:]
		r.size += whole << 3
		return
	}
	for r.size <= 56 && len(r.b) > 0 {
		r.bits |= uint64(r.b[0]) << r.size
		r.b = r.b[1:]
		r.size += 8
	}
}

func (r *bitReader) skip(n uint) {
	r.bits >>= n
	r.size -= int(n)
}

// left returns the number of bytes of which no bit was read.
func (r *bitReader) left() int { return len(r.b) + r.size/8 }
