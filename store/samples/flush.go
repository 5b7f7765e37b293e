package samples

import (
	"cmp"
	"sort"

	"sensegate/motion"
	"sensegate/motion/series"
)

// sealDelay is how long after its end a block is kept open for late frames, in
// seconds.
const sealDelay = 10

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
		if err := p.seal(tx); err != nil {
			return nil, err
		}
		changed.add(p.at, p.network)
	}
	return changed, tx.deleteJournal(changed)
}

// collect copies out what has to be written, in the order of keys.
func (s *Heads) collect(wall int64) (sealed, open []part) {
	for network, h := range s.snapshot() {
		h.mu.Lock()
		now := wall
		for at := range h.blocks {
			now = max(now, at.start) // the data's own clock goes on while ours is behind
		}
		for at, b := range h.blocks {
			increment := b.AppendIncrement(nil)
			if b.End()+sealDelay > now {
				if len(increment) > 0 {
					open = append(open, part{network, at, increment})
				}
			} else if value := b.AppendValue(nil); len(value) > 0 {
				sealed = append(sealed, part{network, at, value})
			}
		}
		h.mu.Unlock()
	}
	for _, parts := range [][]part{sealed, open} {
		sort.Slice(parts, func(i, j int) bool {
			a, b := &parts[i], &parts[j]
			return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(a.at.tier, b.at.tier), cmp.Compare(a.network, b.network)) < 0
		})
	}
	return sealed, open
}

// seal stores a whole block.
func (p part) seal(tx Tx) error {
	bucket, key := tx.bucket(Bucket(p.at.tier)), sampleKey(p.at.start, p.network)
	return PutBlock(bucket, key, p.at.merge(p.value, bucket.Get(key)))
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
				h.recent = nil
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
