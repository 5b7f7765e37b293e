package samples

import (
	"encoding/binary"
	"hash/crc32"
	"iter"
	"math"

	"sensegate/motion"
)

// A value of a bucket of sealed blocks is a block, or a pack: blocks of several networks that begin
// at the same second. bbolt begins a page after two values that do not fit into one, so that of
// blocks of half a page each a quarter of the file would be empty.
//
// The key is be32(block start) ‖ be32(network), of a pack its last network: who looks for a network
// finds its block under the first key that is not before its own. Integers in a pack are unsigned
// LEB128 varints unless a width is given:
//
//	u8       packMark, with which no block begins
//	uvarint  bytes of the table, which has of each block, networks ascending
//	  uvarint  network − the one before
//	  uvarint  length of the block
//	u32      CRC32C (Castagnoli), little-endian, of all preceding bytes
//	         the blocks, in the order of the table
const packMark = 0

// packBytes is how large the blocks of a pack become. Of larger packs less is empty; but what comes
// late is written with the rest of its pack, and bbolt writes up to four values with the one that
// it puts beside them. 12 KiB take 2 to 3 % more of the disk, and 2 to 6 % less is written a minute.
const packBytes = 20 << 10

// block is the sealed block of a network.
type block struct {
	network motion.NetworkID
	value   []byte
}

// unpack yields the networks and blocks of a stored value. Of a pack whose table is damaged it
// yields the value, which is no block, with network 0: it may hold any network up to that of its key.
func unpack(key, value []byte) iter.Seq2[motion.NetworkID, []byte] {
	return func(yield func(motion.NetworkID, []byte) bool) {
		_, last := parseSampleKey(key)
		if len(value) == 0 || value[0] != packMark {
			yield(last, value)
			return
		}
		table, values, ok := splitPack(last, value)
		if !ok {
			yield(0, value)
			return
		}
		network := motion.NetworkID(0)
		for len(table) > 0 {
			step, length, n := parseEntry(table)
			network += motion.NetworkID(step)
			if !yield(network, values[:length]) {
				return
			}
			table, values = table[n:], values[length:]
		}
	}
}

// splitPack returns the table and the blocks of a pack. ok is false when the table is damaged, or
// is not that of the blocks and of the last network.
func splitPack(last motion.NetworkID, pack []byte) (table, values []byte, ok bool) {
	size, n := binary.Uvarint(pack[1:])
	begin := 1 + n
	if n <= 0 || size > uint64(len(pack)) || begin+int(size)+crc32.Size > len(pack) {
		return nil, nil, false
	}
	end := begin + int(size)
	if checksum(pack[:end]) != binary.LittleEndian.Uint32(pack[end:]) {
		return nil, nil, false
	}
	table, values = pack[begin:end], pack[end+crc32.Size:]
	network, rest := uint64(0), uint64(len(values))
	for left := table; len(left) > 0; {
		step, length, n := parseEntry(left)
		if n == 0 || step == 0 || step > math.MaxUint32 || length > rest {
			return nil, nil, false
		}
		left, network, rest = left[n:], network+step, rest-length
	}
	return table, values, network == uint64(last) && rest == 0
}

// parseEntry returns the first entry of a table and its bytes, 0 when it is none.
func parseEntry(table []byte) (step, length uint64, n int) {
	step, n = binary.Uvarint(table)
	length, m := binary.Uvarint(table[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, 0, 0
	}
	return step, length, n + m
}

// packOf returns the value of blocks of one start, in the order of their networks.
func packOf(blocks []block) []byte {
	if len(blocks) == 1 {
		return blocks[0].value
	}
	var table []byte
	last, size := motion.NetworkID(0), 0
	for _, b := range blocks {
		table = binary.AppendUvarint(table, uint64(b.network-last))
		table = binary.AppendUvarint(table, uint64(len(b.value)))
		last, size = b.network, size+len(b.value)
	}
	pack := make([]byte, 0, 1+binary.MaxVarintLen32+len(table)+crc32.Size+size)
	pack = binary.AppendUvarint(append(pack, packMark), uint64(len(table)))
	pack = checksummed(append(pack, table...))
	for _, b := range blocks {
		pack = append(pack, b.value...)
	}
	return pack
}

// checksummed appends the checksum of a slice to it.
func checksummed(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, checksum(b)) }

// cut yields blocks, pack by pack.
func cut(blocks []block) iter.Seq[[]block] {
	return func(yield func([]block) bool) {
		for len(blocks) > 0 {
			n, size := 1, len(blocks[0].value)
			for n < len(blocks) && size+len(blocks[n].value) <= packBytes {
				size += len(blocks[n].value)
				n++
			}
			if !yield(blocks[:n]) {
				return
			}
			blocks = blocks[n:]
		}
	}
}
