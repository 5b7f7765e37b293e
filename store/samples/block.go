package samples

import (
	"bytes"
	"encoding/binary"
	"math"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// endOfKeys is the first second that a key has no room for (year 2106). What lies
// outside is not kept.
const endOfKeys = 1 << 32

// Bucket returns the bucket of a tier's sealed blocks.
func Bucket(tier series.Tier) string { return "samples_" + tier.String() }

// sampleKey is be32(block start) ‖ be32(network): time first, because blocks are
// written and deleted in the order of time.
func sampleKey(start int64, network motion.NetworkID) []byte {
	return keyOf(uint32(start), uint32(network))
}

// keyOf returns words one after the other, big-endian, so that keys sort as numbers do.
func keyOf(words ...uint32) (key []byte) {
	for _, word := range words {
		key = binary.BigEndian.AppendUint32(key, word)
	}
	return key
}

// parseSampleKey is the inverse of sampleKey.
func parseSampleKey(key []byte) (start int64, network motion.NetworkID) {
	return int64(binary.BigEndian.Uint32(key)), motion.NetworkID(binary.BigEndian.Uint32(key[4:]))
}

// isBlock reports whether a value is the block of a tier that begins at a second, by its checksum.
func isBlock(tier series.Tier, start int64, value []byte) bool {
	info, err := series.Inspect(value)
	return err == nil && info.Tier == tier && tier.BlockStart(info.Start) == start
}

// Starts returns the keys from which and before which lie all values with blocks of the starts that
// lie in [low, high), which are keys too; nil is no bound.
func Starts(low, high []byte) (from, before []byte) {
	if len(low) >= 4 {
		from = low[:4]
	}
	if len(high) >= 4 {
		if start := binary.BigEndian.Uint32(high); start < math.MaxUint32 {
			before = keyOf(start + 1)
		}
	}
	return from, before
}

// Whole reports whether a stored value of a tier and all blocks in it are what was written under
// its key, by their checksums.
func Whole(tier series.Tier, key, value []byte) bool {
	if len(key) != 8 {
		return false
	}
	start, _ := parseSampleKey(key)
	for _, value := range unpack(key, value) {
		if !isBlock(tier, start, value) {
			return false
		}
	}
	return true
}

// Salvage stores the blocks in a value of another database that are whole and of which there are
// none yet, of networks that exist. missing are those that are not whole or of no such network; less
// than 0: it cannot be read how many the value held.
func (tx Tx) Salvage(tier series.Tier, key, value []byte, exists func(motion.NetworkID) bool) (stored, missing int, err error) {
	if len(key) != 8 || isDamaged(key, value) {
		return 0, -1, nil
	}
	start, _ := parseSampleKey(key)
	sealed := tx.shelf(tier)
	var blocks []block
	for network, value := range unpack(key, value) {
		switch {
		case !isBlock(tier, start, value) || !exists(network):
			missing++
		case sealed.get(start, network) == nil:
			blocks = append(blocks, block{network, bytes.Clone(value)})
		}
	}
	return len(blocks), missing, sealed.put(start, blocks)
}

// deleteStep is how many blocks one Delete removes: what shares pages with them is written anew, a
// few MB.
const deleteStep = 64

// Delete removes some of the sealed blocks of a network; done: none is left. The finest go first, so
// that no sums are made of them meanwhile.
func (tx Tx) Delete(network motion.NetworkID) (done bool, err error) {
	for _, tier := range series.Tiers() {
		sealed := tx.shelf(tier)
		var starts []int64
		for start := range sealed.of(network, 0, endOfKeys) {
			if starts = append(starts, start); len(starts) == deleteStep {
				break
			}
		}
		for _, start := range starts {
			if err := sealed.drop(start, network); err != nil {
				return false, err
			}
		}
		if len(starts) == deleteStep {
			return false, nil
		}
	}
	return true, nil
}

// Damaged counts the sealed blocks, and the entries of the journal, that cannot be read.
func Damaged(tx *bolt.Tx) (n int, err error) {
	for _, tier := range series.Tiers() {
		for _, blocks := range shelfIn(tx, tier).values(0, endOfKeys) {
			for _, value := range blocks {
				if _, err := series.Inspect(value); err != nil {
					n++
				}
			}
		}
	}
	journal := tx.Bucket([]byte(Journal))
	return n, journal.ForEach(func(key, value []byte) error {
		at, _, ok := parseJournalKey(key, value)
		if ok && value == nil {
			_, err := parseJournal(at, journal.Bucket(key).Get([]byte{0}))
			ok = err == nil
		}
		if !ok {
			n++
		}
		return nil
	})
}

// BytesOfDay returns the bytes that a day of samples takes at all resolutions, as of the
// last days before second summed; 0: not known yet.
func BytesOfDay(tx *bolt.Tx, summed int64) (bytes int64) {
	for _, tier := range series.Tiers() {
		bytes += bytesOfDay(tx.Bucket([]byte(Bucket(tier))), tier, summed)
	}
	return bytes
}

// bytesOfDay returns the bytes of a day of a tier, as of its last whole blocks that
// span a day or more before second summed.
func bytesOfDay(b *bolt.Bucket, tier series.Tier, summed int64) int64 {
	const dayS = 24 * 3600
	end := tier.BlockStart(summed)
	first := end - max(tier.Span(), dayS)
	if first < 0 {
		return 0
	}
	bytes, oldest := int64(0), end
	cursor := b.Cursor()
	for key, value := cursor.Seek(keyOf(uint32(first))); key != nil; key, value = cursor.Next() {
		start, _ := parseSampleKey(key)
		if start >= end {
			break
		}
		bytes, oldest = bytes+int64(len(key)+len(value)), min(oldest, start)
	}
	if oldest == end {
		return 0
	}
	return bytes * dayS / (end - oldest)
}
