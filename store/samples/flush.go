package samples

import (
	"cmp"
	"iter"
	"slices"

	"sensegate/motion"
	"sensegate/motion/series"
)

// sealDelay is how long after its end a block is kept open for late frames, in
// seconds.
const sealDelay = 10

// keepValues is the largest memory of a flush that is kept for the next, in bytes: a minute of some hundred
// networks. One after a long outage takes more.
const keepValues = 1 << 20

// part is one block's part of a flush.
type part struct {
	network motion.NetworkID
	at      blockKey
	value   []byte // increment, or whole block
}

// Flush writes what is new in memory: the new rows of each open block to the
// journal, and each block that ended a while ago as a sealed block in place of
// its journal. It brings the coarser tiers up to date: every block that ended before
// second summed has been summed up, and before next now (sumUp).
func (s *Heads) Flush(tx Tx, summed int64) (next int64, err error) {
	s.failing.Add(1)
	if err := s.deleteUnknown(tx); err != nil {
		return summed, err
	}
	sealed, open := s.collect(tx.Now.Second())
	if err := tx.appendJournal(open); err != nil {
		return summed, err
	}
	changed, err := tx.seal(sealed)
	if err != nil {
		return summed, err
	}
	if next, err = tx.sumUp(changed, summed); err != nil {
		return summed, err
	}
	tx.OnCommit(func() { s.committed(sealed, open) })
	return next, nil
}

// seal stores whole blocks in place of their journal and returns their places.
func (tx Tx) seal(sealed []part) (changed blocks, err error) {
	changed = blocks{}
	for _, p := range sealed {
		changed.add(p.at, p.network)
	}
	if err := tx.store(sealed); err != nil {
		return nil, err
	}
	return changed, tx.deleteJournal(changed)
}

// collect copies out what has to be written, in the order of keys. The values are valid until the next call.
func (s *Heads) collect(wall int64) (sealed, open []part) {
	values := s.values[:0]
	for network, h := range s.snapshot() {
		h.mu.Lock()
		now := wall
		for at := range h.blocks {
			now = max(now, at.start) // the data's own clock goes on while ours is behind
		}
		for at, b := range h.blocks {
			begin := len(values)
			values = b.AppendIncrement(values)
			if b.End()+sealDelay > now {
				if len(values) > begin {
					open = append(open, part{network, at, values[begin:]})
				}
				continue
			}
			values = b.AppendValue(values[:begin])
			if len(values) > begin {
				sealed = append(sealed, part{network, at, values[begin:]})
			}
		}
		h.mu.Unlock()
	}
	if s.values = values; cap(values) > keepValues {
		s.values = nil
	}
	sortParts(open)
	return sealed, open
}

// sortParts brings parts into the order of keys; those of one block stay in their order.
func sortParts(parts []part) {
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(a.at.tier, b.at.tier), cmp.Compare(a.network, b.network))
	})
}

// byPlace yields sorted parts, those of one place together.
func byPlace(parts []part) iter.Seq2[blockKey, []part] {
	return func(yield func(blockKey, []part) bool) {
		for len(parts) > 0 {
			at, n := parts[0].at, 1
			for n < len(parts) && parts[n].at == at {
				n++
			}
			if !yield(at, parts[:n]) {
				return
			}
			parts = parts[n:]
		}
	}
}

// store stores whole blocks, merged with what is sealed of their time.
func (tx Tx) store(parts []part) error {
	sortParts(parts)
	for at, parts := range byPlace(parts) {
		sealed := tx.shelf(at.tier)
		if err := sealed.put(at.start, sealed.merged(parts)); err != nil {
			return err
		}
	}
	return nil
}

// merged returns the blocks of parts of one place, merged with what is sealed there.
func (s shelf) merged(parts []part) (blocks []block) {
	for _, p := range parts {
		if last := len(blocks) - 1; last >= 0 && blocks[last].network == p.network {
			blocks[last].value = p.at.merge(p.value, blocks[last].value)
			continue
		}
		blocks = append(blocks, block{p.network, p.at.merge(p.value, s.get(p.at.start, p.network))})
	}
	return blocks
}

// merge returns the value of a block of which late came after before had been
// sealed: rows that were sealed stay, unless late holds more of their time, of which it
// then is the rest (series.Rollup). A
// sealed value that is damaged, or nil, gives way.
func (at blockKey) merge(late, before []byte) []byte {
	if before == nil {
		return late
	}
	both, err := series.Rollup(at.tier, at.start, nil, before, late)
	if err != nil {
		return late
	}
	return both
}

// committed marks the parts as written and lets go of sealed blocks to which
// nothing was added meanwhile.
func (s *Heads) committed(sealed, open []part) {
	s.failing.Store(0)
	for _, p := range open {
		s.mark(p, func(_ *head, b *series.Block) { b.Committed() })
	}
	for _, p := range sealed {
		s.mark(p, func(h *head, b *series.Block) {
			if b.Sealed(); !b.Pending() {
				delete(h.blocks, p.at)
				h.recent, h.spare = nil, b
			}
		})
	}
}

// mark calls change with the block that a part was taken from, if it is still there.
func (s *Heads) mark(p part, change func(*head, *series.Block)) {
	h := s.head(p.network)
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.blocks[p.at]; b != nil {
		change(h, b)
	}
}
