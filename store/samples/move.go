package samples

import (
	"bytes"
	"fmt"

	"sensegate/motion/series"
)

// Move moves the samples of [from, to) by so many seconds. Open blocks are sealed for it;
// what comes of them later joins them.
func (s *Heads) Move(tx Tx, from, to, by int64) error {
	sealed := s.touching(from, to)
	if _, err := tx.seal(sealed); err != nil {
		return err
	}
	for _, tier := range series.Tiers() {
		if err := tx.moveBlocks(tier, from, to, by); err != nil {
			return err
		}
	}
	tx.OnCommit(func() {
		for _, p := range sealed {
			s.mark(p, func(h *head, _ *series.Block) {
				delete(h.blocks, p.at)
				h.recent = nil
			})
		}
	})
	return nil
}

// touching copies out the open blocks that hold seconds of [from, to).
func (s *Heads) touching(from, to int64) (parts []part) {
	for network, h := range s.snapshot() {
		h.mu.Lock()
		for at, b := range h.blocks {
			if b.Start() < to && b.End() > from && !b.Empty() {
				parts = append(parts, part{network, at, b.AppendValue(nil)})
			}
		}
		h.mu.Unlock()
	}
	return parts
}

// moveBlocks moves the rows of a tier's sealed blocks in [from, to). A block that is
// damaged stays where it is, and is named.
func (tx Tx) moveBlocks(tier series.Tier, from, to int64, by int64) error {
	sealed := tx.shelf(tier)
	var old []part
	for start, blocks := range sealed.values(tier.BlockStart(from), to) {
		for network, value := range blocks {
			old = append(old, part{network, blockKey{start, tier}, bytes.Clone(value)})
		}
	}
	var arrived []part
	for _, p := range old {
		rest, moved, err := series.Move(p.value, from, to, by)
		if err != nil {
			tx.Logger.Warn("damaged samples not stamped anew", "network", p.network, "second", p.at.start, "err", err)
			continue
		}
		if err := sealed.drop(p.at.start, p.network); err != nil {
			return fmt.Errorf("move samples: %w", err)
		}
		if len(rest) > 0 {
			arrived = append(arrived, part{p.network, p.at, rest})
		}
		for start, value := range moved {
			if start >= 0 && start < endOfKeys {
				arrived = append(arrived, part{p.network, blockKey{start, tier}, value})
			}
		}
	}
	return tx.store(arrived)
}
