package samples

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// shelf is the bucket of a tier's sealed blocks.
type shelf struct {
	*bolt.Bucket
	tier series.Tier
}

// shelfIn returns the shelf of a tier.
func shelfIn(tx *bolt.Tx, tier series.Tier) shelf {
	return shelf{tx.Bucket([]byte(Bucket(tier))), tier}
}

func (tx Tx) shelf(tier series.Tier) shelf { return shelfIn(tx.Bolt, tier) }

// values yields the stored values that begin in [from, to), each with its start.
func (s shelf) values(from, to int64) iter.Seq2[int64, iter.Seq2[motion.NetworkID, []byte]] {
	return func(yield func(int64, iter.Seq2[motion.NetworkID, []byte]) bool) {
		cursor := s.Cursor()
		for key, value := cursor.Seek(keyOf(uint32(max(0, from)))); key != nil; key, value = cursor.Next() {
			start, _ := parseSampleKey(key)
			if start >= to || !yield(start, unpack(key, value)) {
				return
			}
		}
	}
}

// of yields the blocks of a network that touch [from, to), each with its start.
func (s shelf) of(network motion.NetworkID, from, to int64) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		cursor := s.Cursor()
		for start := s.tier.BlockStart(max(0, from)); start < min(to, endOfKeys); {
			key, value := cursor.Seek(sampleKey(start, network))
			if key == nil {
				return
			}
			found, _ := parseSampleKey(key)
			if found > start {
				start = found // no network up to this one has blocks in between
				continue
			}
			if value := blockIn(key, value, network); value != nil && !yield(start, value) {
				return
			}
			start += s.tier.Span()
		}
	}
}

// blockIn returns the block of a network in a stored value, nil when it has none. Of a damaged pack
// it returns what is no block.
func blockIn(key, value []byte, network motion.NetworkID) []byte {
	for of, block := range unpack(key, value) {
		if of == network || of == 0 {
			return block
		}
	}
	return nil
}

// at returns the key and the value that hold the block of a network, or would hold it; nil: no
// network up to this one has a block at that second.
func (s shelf) at(start int64, network motion.NetworkID) (key, value []byte) {
	key, value = s.Cursor().Seek(sampleKey(start, network))
	if key != nil {
		if found, _ := parseSampleKey(key); found != start {
			return nil, nil
		}
	}
	return bytes.Clone(key), value
}

// get returns the block of a network that begins at a second, nil when there is none.
func (s shelf) get(start int64, network motion.NetworkID) []byte {
	key, value := s.at(start, network)
	if key == nil {
		return nil
	}
	return blockIn(key, value, network)
}

// put stores blocks that begin at a second, in the order of their networks, in place of what these
// have there.
func (s shelf) put(start int64, blocks []block) error {
	for len(blocks) > 0 {
		key, value := s.at(start, blocks[0].network)
		if key == nil {
			return s.replace(nil, start, blocks)
		}
		_, last := parseSampleKey(key)
		n := slices.IndexFunc(blocks, func(b block) bool { return b.network > last })
		if n < 0 {
			n = len(blocks)
		}
		stored := unpack(key, value)
		if isDamaged(key, value) {
			stored = func(func(motion.NetworkID, []byte) bool) {}
			if blocks[n-1].network < last {
				key = nil // it stays, for whoever else is in it
			}
		}
		if err := s.replace(key, start, join(blocks[:n], stored)); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

// isDamaged reports whether a stored value is a pack whose table is damaged.
func isDamaged(key, value []byte) bool {
	for network := range unpack(key, value) {
		return network == 0
	}
	return false
}

// join returns blocks, and those of other networks that are stored, in the order of networks.
func join(blocks []block, stored iter.Seq2[motion.NetworkID, []byte]) (all []block) {
	for network, value := range stored {
		for len(blocks) > 0 && blocks[0].network < network {
			all, blocks = append(all, blocks[0]), blocks[1:]
		}
		if len(blocks) == 0 || blocks[0].network != network {
			all = append(all, block{network, value})
		}
	}
	return append(all, blocks...)
}

// drop deletes the block of a network that begins at a second. A damaged pack that may hold it goes
// as a whole.
func (s shelf) drop(start int64, network motion.NetworkID) error {
	key, value := s.at(start, network)
	if key == nil || blockIn(key, value, network) == nil {
		return nil
	}
	var others []block
	for of, value := range unpack(key, value) {
		if of != network && of != 0 {
			others = append(others, block{of, value})
		}
	}
	return s.replace(key, start, others)
}

// fill is how full a page becomes before the next one is begun. Blocks come in the order of
// their keys and are seldom put again: room that is left in a page stays empty.
const fill = 1

// replace stores blocks that begin at a second, in the order of their networks, in place of the
// value of a key; nil: of none.
func (s shelf) replace(key []byte, start int64, blocks []block) error {
	s.FillPercent = fill
	kept := key == nil
	for pack := range cut(blocks) {
		to, value := sampleKey(start, pack[len(pack)-1].network), packOf(pack)
		kept = kept || bytes.Equal(to, key)
		if bytes.Equal(s.Get(to), value) {
			continue
		}
		if err := s.Put(to, value); err != nil {
			return fmt.Errorf("put samples: %w", err)
		}
	}
	if kept {
		return nil
	}
	if err := s.Delete(key); err != nil {
		return fmt.Errorf("delete samples: %w", err)
	}
	return nil
}
