// Package deflate compresses files that are compressed once and sent often. It takes a thousand
// times as long as compress/gzip at its best level, for about four percent: it looks for the
// cheapest way through all matches, with the costs that the last way had, again and again, and for
// the places where another code begins to pay. So does zopfli, after which it is made.
// RFC 1951 is the format of the blocks, RFC 1952 what stands around them.
package deflate

import (
	"encoding/binary"
	"hash/crc32"
)

// Gzip returns content as a gzip file without a name and a time: the same content gives the same
// file.
func Gzip(content []byte) []byte {
	out := writer{out: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}}
	blocks := compress(content)
	for i, b := range blocks {
		b.write(&out, i == len(blocks)-1)
	}
	file := out.bytes()
	file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(content))
	return binary.LittleEndian.AppendUint32(file, uint32(len(content)))
}

const rounds = 25 // ways that are tried for a block

// compress returns the blocks of content. The end of each is found on a first way through the
// whole; then each has a way of its own.
func compress(content []byte) (blocks []block) {
	if len(content) == 0 {
		return []block{newBlock(nil)}
	}
	m := findMatches(content)
	whole := m.best(0, len(content), nil)
	at := 0
	for _, part := range split(whole) {
		end := at
		for _, s := range part {
			end += s.bytes()
		}
		own := newBlock(m.best(at, end, part))
		if given := newBlock(part); given.size() < own.size() {
			own = given
		}
		blocks, at = append(blocks, own), end
	}
	return blocks
}

// step is a byte, or a match: so many bytes as they stand so far behind. length is 0 for a byte.
type step struct {
	literal          byte
	length, distance uint16
}

// bytes returns how many bytes of the content a step is.
func (s step) bytes() int { return max(1, int(s.length)) }

// writer writes bits, the lowest of a byte first.
type writer struct {
	out  []byte
	held uint64
	n    int
}

func (b *writer) add(value, n int) {
	b.held |= uint64(value) << b.n
	for b.n += n; b.n >= 8; b.n -= 8 {
		b.out = append(b.out, byte(b.held))
		b.held >>= 8
	}
}

// bytes returns all that was added, filled up to a byte.
func (b *writer) bytes() []byte {
	if b.n > 0 {
		b.out = append(b.out, byte(b.held))
		b.held, b.n = 0, 0
	}
	return b.out
}
