package store

import (
	"cmp"
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/series"
)

// sealDelay is how long after its end a block is kept open for late frames, in
// seconds.
const sealDelay = 10

// written is one block's part of a flush.
type written struct {
	network motion.NetworkID
	at      blockKey
	value   []byte
	sealed  bool
}

// Flush writes what is new in memory: the new rows of each open block to the
// journal, and each block that ended a while ago as a sealed block in place of
// its journal. It brings the coarser tiers up to date and deletes what is past
// its retention. It belongs in the transaction of the regular flush.
func (s *Samples) Flush(tx *Tx) error {
	s.forgetDeleted(tx)
	parts := s.collect(tx.Now().Second())
	flush, err := tx.nextFlush(parts)
	if err != nil {
		return err
	}
	changed := blocks{}
	for _, p := range parts {
		if err := p.write(tx, flush); err != nil {
			return err
		}
		if p.sealed {
			changed.add(p.at, p.network)
		}
	}
	if err := tx.deleteJournal(changed); err != nil {
		return err
	}
	if err := tx.ageSamples(changed); err != nil {
		return err
	}
	tx.OnCommit(func() { s.committed(parts) })
	return nil
}

// forgetDeleted lets go of networks that do not exist: a frame may come for one
// that has just been deleted.
func (s *Samples) forgetDeleted(tx *Tx) {
	for network := range s.snapshot() {
		if tx.requireNetwork(network) != nil {
			s.Forget(network)
		}
	}
}

// collect copies out what has to be written.
func (s *Samples) collect(now int64) []written {
	var parts []written
	for network, h := range s.snapshot() {
		h.mu.Lock()
		for at, b := range h.blocks {
			part := written{network: network, at: at, sealed: b.End()+sealDelay <= now}
			if part.value = b.AppendIncrement(nil); part.sealed {
				part.value = b.AppendValue(nil)
			}
			if len(part.value) > 0 {
				parts = append(parts, part)
			}
		}
		h.mu.Unlock()
	}
	slices.SortFunc(parts, func(a, b written) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(a.network, b.network))
	})
	return parts
}

// nextFlush returns the number of a flush of some parts.
func (tx *Tx) nextFlush(parts []written) (uint64, error) {
	if len(parts) == 0 {
		return 0, nil
	}
	flush, err := tx.bucket(journalBucket).NextSequence()
	if err != nil {
		return 0, fmt.Errorf("write journal: %w", err)
	}
	return flush, nil
}

// write stores one part.
func (p written) write(tx *Tx, flush uint64) error {
	if !p.sealed {
		return putBlock(tx.bucket(journalBucket), journalKey(p.at, flush, p.network), p.value)
	}
	sealed, key := tx.bucket(bucketOf(p.at.tier)), sampleKey(p.at.start, p.network)
	return putBlock(sealed, key, p.at.merge(p.value, sealed.Get(key)))
}

// deleteJournal deletes the journal of blocks that have been sealed.
func (tx *Tx) deleteJournal(sealed blocks) error {
	starts := map[int64]bool{}
	for at := range sealed {
		starts[at.start] = true
	}
	for start := range starts {
		err := deleteKeys(tx.bucket(journalBucket), key32(uint32(start)), func(key []byte) bool {
			at, network, ok := parseJournalKey(key)
			return ok && slices.Contains(sealed[at], network)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// merge returns the value of a block of which late came after before had been
// sealed: rows that were sealed stay, unless late holds more of their time. A
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
func (s *Samples) committed(parts []written) {
	for _, p := range parts {
		h := s.head(p.network)
		h.mu.Lock()
		if b := h.blocks[p.at]; b != nil {
			b.Committed()
			if p.sealed && !b.Pending() {
				delete(h.blocks, p.at)
				h.recent = nil
			}
		}
		h.mu.Unlock()
	}
}
