package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// The buckets of motion samples.
const (
	journalBucket     = "samples_journal"
	secondsBucket     = "samples_1s"
	fiveSecondsBucket = "samples_5s"
)

// endOfKeys is the first second that a key has no room for (year 2106). What lies
// outside is not kept.
const endOfKeys = 1 << 32

// sealDelay is how long after its end a block is kept open for late frames, in
// seconds.
const sealDelay = 10

// tiers lists the resolutions that are stored.
var tiers = [...]series.Tier{series.Second, series.FiveSeconds}

// Samples holds the motion samples of all networks: the open blocks in memory,
// their journal and the sealed blocks in the database (storage.md parts 1 to 4,
// 7). Its methods may be called concurrently; each network has a mutex of its
// own, which is held for memory work only.
type Samples struct {
	db *DB

	mu    sync.Mutex
	heads map[motion.NetworkID]*head
}

// head is the open blocks of one network.
type head struct {
	mu     sync.Mutex
	blocks map[blockKey]*series.Block
}

// blockKey is the place of a block in time.
type blockKey struct {
	start int64 // s since the epoch
	tier  series.Tier
}

// Value is one series' value at one moment.
type Value struct {
	ID    series.ID
	Value float64 // intensity or share, 0..1
}

// OpenSamples refills the open blocks from the journal: what a restart finds.
// Damaged journal entries are left out and named by the error, which leaves the
// Samples usable.
func OpenSamples(ctx context.Context, db *DB) (*Samples, error) {
	s := &Samples{db: db, heads: map[motion.NetworkID]*head{}}
	var damaged error
	err := db.View(ctx, func(tx *Tx) error {
		return tx.bucket(journalBucket).ForEach(func(key, value []byte) error {
			at, network, ok := parseJournalKey(key)
			if !ok {
				damaged = errors.Join(damaged, fmt.Errorf("journal key %x: %w", key, series.ErrDamaged))
				return nil
			}
			if err := s.head(network).block(at).Replay(value); err != nil {
				damaged = errors.Join(damaged, fmt.Errorf("journal of network %d: %w", network, err))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return s, damaged
}

// Add takes one live frame of a network: for each series the intensity or share
// at ts. Frames of the same second are combined (series.Block.Add).
func (s *Samples) Add(network motion.NetworkID, ts motion.Time, values []Value) {
	s.put(network, series.Second, ts, values, (*series.Block).Add)
}

// Fill takes one 5 s sample that starts at ts from a device's history. It
// replaces nothing that is held for the same time.
func (s *Samples) Fill(network motion.NetworkID, ts motion.Time, values []Value) {
	s.put(network, series.FiveSeconds, ts, values, (*series.Block).Fill)
}

// head returns the open blocks of a network.
func (s *Samples) head(network motion.NetworkID) *head {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.heads[network]
	if h == nil {
		h = &head{blocks: map[blockKey]*series.Block{}}
		s.heads[network] = h
	}
	return h
}

// put gives the values of one moment to the open block that holds it.
func (s *Samples) put(network motion.NetworkID, tier series.Tier, ts motion.Time, values []Value, put func(b *series.Block, i int, second int64, value float64) bool) {
	second := ts.Second()
	if second < 0 || second >= endOfKeys {
		return
	}
	h := s.head(network)
	h.mu.Lock()
	defer h.mu.Unlock()
	block := h.block(blockKey{tier.BlockStart(second), tier})
	for _, v := range values {
		if i, ok := block.Index(v.ID); ok {
			put(block, i, second, v.Value)
		}
	}
}

// block returns the open block at a place; h.mu is held.
func (h *head) block(at blockKey) *series.Block {
	b := h.blocks[at]
	if b == nil {
		b = series.NewBlock(at.tier, at.start)
		h.blocks[at] = b
	}
	return b
}

// written is one block's part of a flush.
type written struct {
	network motion.NetworkID
	at      blockKey
	value   []byte
	sealed  bool
}

// Flush writes what is new in memory: the new rows of each open block to the
// journal, and each block that ended a while ago as a sealed block in place of
// its journal. It belongs in the transaction of the regular flush.
func (s *Samples) Flush(tx *Tx) error {
	now := tx.Now().Second()
	parts := s.collect(now)
	for _, p := range parts {
		if err := p.write(tx); err != nil {
			return err
		}
	}
	tx.OnCommit(func() { s.committed(parts) })
	return nil
}

// collect copies out what has to be written.
func (s *Samples) collect(now int64) []written {
	var parts []written
	for network, h := range s.snapshot() {
		h.mu.Lock()
		for at, b := range h.blocks {
			part := written{network: network, at: at, sealed: b.End()+sealDelay <= now}
			part.value = b.AppendIncrement(nil)
			if part.sealed {
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

// snapshot returns the heads of all networks.
func (s *Samples) snapshot() map[motion.NetworkID]*head {
	s.mu.Lock()
	defer s.mu.Unlock()
	heads := make(map[motion.NetworkID]*head, len(s.heads))
	for network, h := range s.heads {
		heads[network] = h
	}
	return heads
}

// write stores one part.
func (p written) write(tx *Tx) error {
	if !p.sealed {
		journal := tx.bucket(journalBucket)
		seq, err := journal.NextSequence()
		if err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
		return journal.Put(join(journalPrefix(p.at, p.network), key64(seq)), p.value)
	}
	blocks := tx.bucket(bucketOf(p.at.tier))
	key := sampleKey(p.at.start, p.network)
	if err := blocks.Put(key, p.at.merge(p.value, blocks.Get(key))); err != nil {
		return fmt.Errorf("seal block: %w", err)
	}
	return deletePrefix(tx.bucket(journalBucket), journalPrefix(p.at, p.network))
}

// merge returns the value of a block of which late came after before had been
// sealed: rows that were sealed stay. A sealed value that is damaged, or nil,
// gives way.
func (at blockKey) merge(late, before []byte) []byte {
	both := series.NewBlock(at.tier, at.start)
	if before == nil || both.Replay(late) != nil || both.Replay(before) != nil {
		return late
	}
	return both.AppendValue(nil)
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
			}
		}
		h.mu.Unlock()
	}
}

// Set returns the samples of a network that a query of [from, to) needs.
// Damaged blocks are left out and named by the error; the Set is usable all the
// same.
func (s *Samples) Set(ctx context.Context, network motion.NetworkID, from, to int64) (*series.Set, error) {
	blocks := s.open(network, from, to)
	err := s.db.View(ctx, func(tx *Tx) error {
		for _, tier := range tiers {
			addSealed(blocks, tx.bucket(bucketOf(tier)), tier, network, from, to)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	return series.NewSet(slices.Collect(maps.Values(blocks))...)
}

// open returns the values of a network's open blocks that touch [from, to).
func (s *Samples) open(network motion.NetworkID, from, to int64) map[blockKey][]byte {
	h := s.head(network)
	h.mu.Lock()
	defer h.mu.Unlock()
	blocks := map[blockKey][]byte{}
	for at, b := range h.blocks {
		if !b.Empty() && b.Start() < to && b.End() > from {
			blocks[at] = b.AppendValue(nil)
		}
	}
	return blocks
}

// addSealed copies the sealed blocks of a network that touch [from, to) and
// merges them with the open ones.
func addSealed(blocks map[blockKey][]byte, b *bolt.Bucket, tier series.Tier, network motion.NetworkID, from, to int64) {
	cursor := b.Cursor()
	for start := max(0, tier.BlockStart(from)); start < min(to, endOfKeys); {
		key, sealed := cursor.Seek(sampleKey(start, network))
		if key == nil {
			return
		}
		if found := int64(binary.BigEndian.Uint32(key)); found > start {
			start = found // no network has blocks in between
			continue
		}
		at := blockKey{start, tier}
		start += tier.Span()
		if binary.BigEndian.Uint32(key[4:]) != uint32(network) {
			continue
		}
		if late, isOpen := blocks[at]; isOpen {
			blocks[at] = at.merge(late, sealed)
		} else {
			blocks[at] = slices.Clone(sealed)
		}
	}
}

// bucketOf returns the bucket of a tier's sealed blocks.
func bucketOf(tier series.Tier) string {
	if tier == series.Second {
		return secondsBucket
	}
	return fiveSecondsBucket
}

// sampleKey is be32(block start) ‖ be32(network): time first, because blocks are
// written and deleted in the order of time.
func sampleKey(start int64, network motion.NetworkID) []byte {
	return join(key32(uint32(start)), key32(uint32(network)))
}

// journalPrefix is be32(block start) ‖ be32(tier) ‖ be32(network).
func journalPrefix(at blockKey, network motion.NetworkID) []byte {
	return join(key32(uint32(at.start)), key32(uint32(at.tier)), key32(uint32(network)))
}

// parseJournalKey is the inverse of journalPrefix, with the sequence behind it.
func parseJournalKey(key []byte) (at blockKey, network motion.NetworkID, ok bool) {
	if len(key) != 20 {
		return blockKey{}, 0, false
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(key[4*i:]) }
	at = blockKey{start: int64(word(0)), tier: series.Tier(word(1))}
	return at, motion.NetworkID(word(2)), slices.Contains(tiers[:], at.tier)
}

// deletePrefix deletes every key of a bucket that begins with prefix.
func deletePrefix(b *bolt.Bucket, prefix []byte) error {
	c := b.Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Seek(prefix) {
		if err := c.Delete(); err != nil {
			return fmt.Errorf("delete samples: %w", err)
		}
	}
	return nil
}

// deleteSamples removes the stored samples of a network.
func (tx *Tx) deleteSamples(network motion.NetworkID) error {
	for name, at := range map[string]int{journalBucket: 8, secondsBucket: 4, fiveSecondsBucket: 4} {
		b := tx.bucket(name)
		var own [][]byte
		err := b.ForEach(func(key, _ []byte) error {
			if bytes.HasPrefix(key[min(at, len(key)):], key32(network)) {
				own = append(own, slices.Clone(key))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range own {
			if err := b.Delete(key); err != nil {
				return fmt.Errorf("delete samples: %w", err)
			}
		}
	}
	return nil
}
