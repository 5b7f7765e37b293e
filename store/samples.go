package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Samples holds the motion samples of all networks: the open blocks in memory,
// their journal, the sealed blocks and their sums in the database. Its
// methods may be called concurrently; each network has a mutex of its
// own, which is held for memory work only.
type Samples struct {
	db *DB

	failing atomic.Int64 // flushes since the last that was stored
	unknown atomic.Bool  // there are entries of the journal that are not understood

	mu    sync.Mutex
	heads map[motion.NetworkID]*head
}

// head is the open blocks of one network.
type head struct {
	mu     sync.Mutex
	blocks map[blockKey]*series.Block
	recent *series.Block // that the last frame went to, one of blocks; nil: none
}

// blockKey is the place of a block in time.
type blockKey struct {
	start int64 // s since the epoch
	tier  series.Tier
}

// Value is one series' value at one moment.
type Value = series.Value

// OpenSamples refills the open blocks from the journal: what a restart finds.
// Damaged journal entries are left out and named by the error, which leaves the
// Samples usable.
func OpenSamples(ctx context.Context, db *DB) (*Samples, error) {
	s := &Samples{db: db, heads: map[motion.NetworkID]*head{}}
	var damaged error
	err := db.View(ctx, func(tx *Tx) (err error) {
		damaged, err = s.replayJournal(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return s, damaged
}

// Add takes one live frame of a network: for each series the intensity or share
// at ts. Frames of the same second are combined (Block.AddFrame).
func (s *Samples) Add(network motion.NetworkID, ts motion.Time, values []Value) {
	s.put(network, series.Second, ts, values, (*series.Block).AddFrame)
}

// Fill takes one 5 s sample that starts at ts from a device's history. It
// replaces nothing that is held for the same time.
func (s *Samples) Fill(network motion.NetworkID, ts motion.Time, values []Value) {
	s.put(network, series.FiveSeconds, ts, values, (*series.Block).FillFrame)
}

// Forget lets go of what is in memory of a network that was deleted, after the
// transaction with Tx.DeleteNetwork. What comes for it afterwards is not written.
func (s *Samples) Forget(id motion.NetworkID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.heads, id)
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

// snapshot returns the heads of all networks.
func (s *Samples) snapshot() map[motion.NetworkID]*head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.heads)
}

// put gives the values of one moment to the open block that holds it.
func (s *Samples) put(network motion.NetworkID, tier series.Tier, ts motion.Time, values []Value, put func(b *series.Block, second int64, values []Value)) {
	second := ts.Second()
	if second < 0 || second >= endOfKeys {
		return
	}
	h := s.head(network)
	h.mu.Lock()
	defer h.mu.Unlock()
	block := h.recent
	if block == nil || block.Tier() != tier || block.Start() != tier.BlockStart(second) {
		open := len(h.blocks)
		block = h.block(blockKey{tier.BlockStart(second), tier})
		h.recent = block
		if len(h.blocks) > open && s.stuck() {
			s.makeRoom(h, block)
		}
	}
	put(block, second, values)
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

// Set returns the samples of a network that a query of [from, to) needs, without
// what is past its retention. Damaged blocks are left out and named by the error;
// the Set is usable all the same.
func (s *Samples) Set(ctx context.Context, network motion.NetworkID, from, to int64) (*series.Set, error) {
	return s.SetFor(ctx, network, from, to, series.Second.Step())
}

// SetFor is Set for questions in buckets of so many seconds, or multiples of them, only:
// what is in sums already is not read at finer resolutions (series.Need).
func (s *Samples) SetFor(ctx context.Context, network motion.NetworkID, from, to, bucket int64) (*series.Set, error) {
	values := s.open(network, from, to)
	summed := int64(endOfKeys)
	for at := range values {
		summed = min(summed, at.start) // of these nothing is in the sums yet
	}
	var now int64
	err := s.db.View(ctx, func(tx *Tx) error {
		now = tx.now.Second()
		var a age
		if err := tx.getMeta(ageKey, &a); err != nil {
			return err
		}
		summed = min(summed, a.Summed)
		for _, tier := range series.Tiers() {
			for _, need := range series.Need(tier, max(from, s.db.retention.since(tier, now)), to, bucket, summed) {
				addSealed(values, tx.bucket(bucketOf(tier)), tier, network, need[0], need[1])
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	set, err := series.NewSet(slices.Collect(maps.Values(values))...)
	return set.Bound(func(tier series.Tier) int64 { return s.db.retention.since(tier, now) }, summed), err
}

// open returns the values of a network's open blocks that touch [from, to).
func (s *Samples) open(network motion.NetworkID, from, to int64) map[blockKey][]byte {
	values := map[blockKey][]byte{}
	s.mu.Lock()
	h := s.heads[network]
	s.mu.Unlock()
	if h == nil {
		return values
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for at, b := range h.blocks {
		if !b.Empty() && b.Start() < to && b.End() > from {
			values[at] = b.AppendValue(nil)
		}
	}
	return values
}

// addSealed copies the sealed blocks of a network that touch [from, to) and
// merges them with the open ones.
func addSealed(values map[blockKey][]byte, b *bolt.Bucket, tier series.Tier, network motion.NetworkID, from, to int64) {
	cursor := b.Cursor()
	for start := max(0, tier.BlockStart(from)); start < min(to, endOfKeys); {
		key, sealed := cursor.Seek(sampleKey(start, network))
		if key == nil {
			return
		}
		found, of := parseSampleKey(key)
		if found > start {
			start = found // no network has blocks in between
			continue
		}
		at := blockKey{start, tier}
		start += tier.Span()
		if of != network {
			continue
		}
		if late, isOpen := values[at]; isOpen {
			values[at] = at.merge(late, sealed)
		} else {
			values[at] = slices.Clone(sealed)
		}
	}
}
