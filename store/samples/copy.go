package samples

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Block is a block of one network in the form in which it leaves the database.
type Block struct {
	Tier  series.Tier `json:"tier"`  // seconds of a row
	Start int64       `json:"start"` // s since the epoch
	Value []byte      `json:"value"` // as sealed (motion/series/block.go)
}

// Blocks returns the sealed blocks of a tier of a network from a second on, until they have so
// many bytes, and where to go on; next < 0: it came to the end. Damaged ones are left out and
// counted.
func (tx Tx) Blocks(network motion.NetworkID, tier series.Tier, from int64, most int) (blocks []Block, next int64, damaged int) {
	size := 0
	for start, value := range tx.shelf(tier).of(network, from, endOfKeys) {
		if !isBlock(tier, start, value) {
			damaged++
			continue
		}
		blocks = append(blocks, Block{tier, start, bytes.Clone(value)})
		if size += len(value); size >= most {
			return blocks, start + tier.Span(), damaged
		}
	}
	return blocks, -1, damaged
}

// Open returns the open blocks of a network, each whole.
func (s *Heads) Open(network motion.NetworkID) (blocks []Block) {
	for at, value := range s.open(network, 0, endOfKeys, nil) {
		blocks = append(blocks, Block{at.tier, at.start, value})
	}
	sort.Slice(blocks, func(i, j int) bool {
		a, b := &blocks[i], &blocks[j]
		return a.Tier < b.Tier || a.Tier == b.Tier && a.Start < b.Start
	})
	return blocks
}

// SealAll seals the open blocks of a network before their time.
func (s *Heads) SealAll(tx Tx, network motion.NetworkID) error {
	var parts []part
	for at, value := range s.open(network, 0, endOfKeys, nil) {
		parts = append(parts, part{network, at, value})
	}
	return tx.store(parts)
}

// ErrBlock says that what should be a block of samples is none.
var ErrBlock = errors.New("it is no block of samples")

// Import stores a block of a network, merged with what is there. ErrBlock: it is none of its place.
func (tx Tx) Import(network motion.NetworkID, b Block) error {
	if b.Start < 0 || b.Start >= endOfKeys || b.Tier.Span() == 0 || !isBlock(b.Tier, b.Start, b.Value) {
		return fmt.Errorf("second %d: %w", b.Start, ErrBlock)
	}
	return tx.store([]part{{network, blockKey{b.Start, b.Tier}, b.Value}})
}

// SumImported makes the sums of imported blocks that another database has not made, as it had
// summed up what ended before second from: those that end by second summed.
func (tx Tx) SumImported(network motion.NetworkID, from, summed int64) error {
	for _, tier := range series.Tiers() {
		coarser, ok := tier.Coarser()
		if !ok {
			return nil
		}
		for start := coarser.BlockStart(max(0, from)); start+coarser.Span() <= summed; start += coarser.Span() {
			if err := tx.rollUp(blockKey{start, coarser}, tier, []motion.NetworkID{network}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bytes returns how many bytes the sealed blocks of a network have.
func (tx Tx) Bytes(network motion.NetworkID) (size int64) {
	for _, tier := range series.Tiers() {
		for _, value := range tx.shelf(tier).of(network, 0, endOfKeys) {
			size += int64(len(value))
		}
	}
	return size
}
