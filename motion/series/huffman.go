package series

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// Canonical Huffman coding (D. A. Huffman, "A method for the construction of minimum-redundancy
// codes", 1952; canonical as in RFC 1951, 3.2.2) of a stream whose values are few and do not follow
// one another: noise, and rows most of which are full.
//
// Symbol i is the value base + i × step; the one after the last is the escape, which a value that
// has no symbol follows. After the coding comes
//
//	uvarint  base
//	uvarint  step, 1 or more
//	u8       symbols but for the escape, 1..31
//	u8…      the length of the code of each symbol and of the escape in bits, 0..8, two in a byte,
//	         the first in the lower half; 0: it does not occur
//	u8       width of an escaped value in bits, 1..20, when the escape occurs
//	         the codes, each from its first bit on, and escaped values from their lowest bit on. Bits
//	         fill bytes from the lowest up; the last byte is padded with 0
//
// Codes are given by length, and in the order of symbols among those of one length; they leave no
// bits that begin no code.
const (
	mostSymbols  = 31
	longestCode  = 8
	widestEscape = 20

	codesInFill = 56 / longestCode // that a bitReader has after a fill
)

// huffman is a code for the values of a stream.
type huffman struct {
	base, step uint32
	escape     int // the number of its symbol
	width      uint
	lengths    [mostSymbols + 1]uint8 // bits of the code of each symbol
}

// symbolCounts says how often each symbol occurs, the last is the escape.
type symbolCounts [mostSymbols + 1]int

// shortStream is the number of values below which the table of a Huffman code, of about ten bytes, is
// seldom worth its bytes.
const shortStream = 128

// newHuffman returns a code for values, which are not all alike, and the bytes of the stream.
// follow says that they change by less than values that are drawn at random, or that this is not
// known.
func newHuffman[N number](values []N, c changes) (h huffman, size int, follow bool) {
	h.base, h.step, h.width = uint32(c.least), commonStep(values, N(c.least)), uint(bits.Len(uint(c.most)))
	counts := countSymbols(&h, values)
	if counts[mostSymbols] > 0 {
		high := h
		high.base = uint32(c.most) - (mostSymbols-1)*h.step
		if of := countSymbols(&high, values); of[mostSymbols] < counts[mostSymbols] {
			h, counts = high, of
		}
	}
	h.escape = mostSymbols
	for counts[h.escape-1] == 0 {
		h.escape--
	}
	counts[h.escape] = counts[mostSymbols]
	used := counts[:h.escape+1]
	h.setLengths(used)
	follow = used[h.escape] > 0 || c.sum*10 < 9*int(h.step)*meanDifference(used)
	return h, h.streamSize(used), follow
}

// meanDifference returns by how many symbols n values with these counts differ from n that are drawn
// of the same (C. Gini's mean difference), in sum.
func meanDifference(counts []int) (sum int) {
	n, below := 0, 0
	for _, count := range counts {
		n += count
	}
	for _, count := range counts {
		below += count
		sum += 2 * below * (n - below)
	}
	return sum / n
}

// streamSize returns the bytes of a stream of symbols that occur so often.
func (h *huffman) streamSize(counts []int) int {
	size := counts[h.escape] * int(h.width)
	for symbol, n := range counts {
		size += n * int(h.lengths[symbol])
	}
	var table [32]byte
	return 1 + len(h.appendTable(table[:0])) + (size+7)/8
}

// commonStep returns the greatest step in which all values lie above the least.
func commonStep[N number](values []N, least N) uint32 {
	step := uint32(0)
	for _, v := range values {
		for rest := uint32(v - least); rest != 0; {
			step, rest = rest, step%rest
		}
		if step == 1 {
			break
		}
	}
	return step
}

// symbolOf returns the symbol of a value, mostSymbols for the escape.
func symbolOf(v, base, step uint32) uint32 {
	above := v - base // of a value below the base it is beyond every symbol
	if step != 1 {
		above /= step
	}
	return min(above, mostSymbols)
}

// countSymbols counts the symbols of values.
func countSymbols[N number](h *huffman, values []N) (counts symbolCounts) {
	base, step := h.base, h.step
	for _, v := range values {
		counts[symbolOf(uint32(v), base, step)]++
	}
	return counts
}

// setLengths finds the lengths of the codes of symbols that occur so often.
func (h *huffman) setLengths(counts []int) {
	var scaled symbolCounts
	copy(scaled[:], counts)
	for !h.tryLengths(scaled[:len(counts)]) {
		for i, n := range scaled {
			scaled[i] = (n + 1) / 2 // the rarest becomes less rare
		}
	}
}

// tryLengths finds the lengths of Huffman's codes. ok is false when one is longer than longestCode.
func (h *huffman) tryLengths(counts []int) (ok bool) {
	// Nodes of the tree: leaves in the order of their counts, then those that join two, which come to
	// be in that order.
	var leaves [mostSymbols + 1]uint8
	n := 0
	for symbol, count := range counts {
		if count == 0 {
			continue
		}
		i := n
		for ; i > 0 && counts[leaves[i-1]] > count; i-- {
			leaves[i] = leaves[i-1]
		}
		leaves[i] = uint8(symbol)
		n++
	}
	var weight [2*mostSymbols + 1]int
	var parent [2*mostSymbols + 1]uint8
	for i, symbol := range leaves[:n] {
		weight[i] = counts[symbol]
	}
	leaf, joint := 0, n
	for next := n; next < 2*n-1; next++ {
		for range 2 {
			least := &leaf
			if leaf == n || joint < next && weight[joint] < weight[leaf] {
				least = &joint
			}
			weight[next] += weight[*least]
			parent[*least] = uint8(next)
			*least++
		}
	}
	var depth [2*mostSymbols + 1]uint8
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
		if depth[i] > longestCode {
			return false
		}
	}
	for i, symbol := range leaves[:n] {
		h.lengths[symbol] = depth[i]
	}
	return true
}

// prefix is the code of a symbol, its first bit is the lowest.
type prefix struct{ bits, length uint8 }

// codes returns the code of each symbol.
func (h *huffman) codes() (codes [mostSymbols + 1]prefix) {
	code := uint8(0)
	for length := uint8(1); length <= longestCode; length++ {
		for symbol, of := range h.lengths[:h.escape+1] {
			if of == length {
				codes[symbol] = prefix{bits.Reverse8(code << (longestCode - length)), length}
				code++
			}
		}
		code <<= 1
	}
	return codes
}

// appendTable appends what comes before the codes.
func (h *huffman) appendTable(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(h.base))
	dst = binary.AppendUvarint(dst, uint64(h.step))
	dst = append(dst, byte(h.escape))
	for symbol := 0; symbol <= h.escape; symbol += 2 {
		pair := h.lengths[symbol]
		if symbol < h.escape {
			pair |= h.lengths[symbol+1] << 4
		}
		dst = append(dst, pair)
	}
	if h.lengths[h.escape] > 0 {
		dst = append(dst, byte(h.width))
	}
	return dst
}

// appendHuffman appends values in a code that was made for them.
func appendHuffman[N number](dst []byte, h *huffman, values []N) []byte {
	dst = h.appendTable(append(dst, codingHuffman))
	codes := h.codes()
	base, step, escape := h.base, h.step, uint32(h.escape)
	var pending uint64
	var size uint
	for _, v := range values {
		symbol := min(symbolOf(uint32(v), base, step), escape)
		code := codes[symbol]
		pending |= uint64(code.bits) << (size & 63)
		size += uint(code.length)
		if symbol == escape {
			pending |= uint64(v) << (size & 63)
			size += h.width
		}
		if size >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(pending))
			pending >>= 32
			size -= 32
		}
	}
	for ; size > 0; size -= min(size, 8) {
		dst = append(dst, byte(pending))
		pending >>= 8
	}
	return dst
}

// decodeHuffman appends n values of 1..limit to dst. The error is ErrDamaged.
func decodeHuffman[N number](c *cursor, dst []N, n int, limit N) ([]N, error) {
	var h huffman
	if !h.parseTable(c) {
		return dst, fmt.Errorf("%w: Huffman code", ErrDamaged)
	}
	table := h.decodingTable()
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	r := bitReader{b: c.b}
	for out := dst[at:]; len(out) > 0; {
		r.fill()
		bits, size, n, v := r.bits, r.size, 0, uint32(0) // in registers
		most := min(codesInFill, len(out))
		for ; n < most; n++ {
			entry := table[uint8(bits)]
			length := entry & 0xf
			bits >>= length
			size -= int(length)
			if v = entry >> 4; v-1 >= uint32(limit) { // the escape, which is 0, or too much
				break
			}
			out[n] = N(v)
		}
		r.bits, r.size = bits, size
		if n < most && v == 0 && size >= 0 {
			r.fill()
			v = uint32(r.bits & (1<<h.width - 1))
			r.skip(h.width)
			out[n] = N(v)
			n++
		}
		if v < 1 || v > uint32(limit) || r.size < 0 {
			return dst[:at], fmt.Errorf("%w: value stream", ErrDamaged)
		}
		out = out[n:]
	}
	c.b = c.b[len(c.b)-r.left():]
	return dst, nil
}

// parseTable reads what comes before the codes. ok is false when it is none of appendTable.
func (h *huffman) parseTable(c *cursor) (ok bool) {
	base, step, escape := c.uvarint(), c.uvarint(), c.byte()
	if base == 0 || base >= 1<<widestEscape || step == 0 || step >= 1<<widestEscape || escape == 0 || escape > mostSymbols {
		return false
	}
	h.base, h.step, h.escape = uint32(base), uint32(step), int(escape)
	room := 1 << longestCode // codes of the greatest length that are left
	for symbol := range h.escape + 1 {
		if symbol%2 == 0 {
			pair := c.byte()
			h.lengths[symbol], h.lengths[symbol|1] = pair&0xf, pair>>4
		}
		length := h.lengths[symbol]
		if length > longestCode {
			return false
		}
		if length > 0 {
			room -= 1 << (longestCode - length)
		}
	}
	if h.lengths[h.escape] > 0 {
		h.width = uint(c.byte())
	}
	return room == 0 && h.width <= widestEscape && !c.bad
}

// decodingTable returns by the next bits the value of their code, 0 for the escape, from bit 4 on,
// and the length of the code below.
func (h *huffman) decodingTable() (table [1 << longestCode]uint32) {
	for symbol, code := range h.codes() {
		if code.length == 0 {
			continue
		}
		entry := uint32(code.length)
		if symbol < h.escape {
			entry |= (h.base + uint32(symbol)*h.step) << 4
		}
		for next := int(code.bits); next < len(table); next += 1 << code.length {
			table[next] = entry
		}
	}
	return table
}
