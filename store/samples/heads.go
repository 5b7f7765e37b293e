// Package samples keeps motion samples in the database: open blocks in memory and their
// journal, sealed blocks, sums of these.
//
// It knows the buckets of samples and packs what it stores with motion/series. It must not
// know another bucket, begin a transaction, or decide how long something is kept.
package samples

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Tx is a transaction of the database.
type Tx struct {
	Bolt     *bolt.Tx
	Now      motion.Time
	Logger   *slog.Logger
	OnCommit func(func()) // calls a function after the commit
}

// bucket returns a bucket by its name.
func (tx Tx) bucket(name string) *bolt.Bucket { return tx.Bolt.Bucket([]byte(name)) }

// Heads holds the open blocks of all networks in memory. Its methods may be called
// concurrently; each network has a mutex of its own, which is held for memory work only.
type Heads struct {
	writable func() error
	lost     func(seconds int64)

	failing atomic.Int64 // flushes since the last that was stored
	unknown atomic.Bool  // there are entries of the journal that are not understood

	values []byte // memory of a flush, of which there is one at a time

	mu     sync.Mutex
	heads  map[motion.NetworkID]*head
	recent *head            // that was looked up last, nil: none; the steps of a message follow one another
	of     motion.NetworkID // the network of recent
}

// New returns Heads without blocks. writable returns why nothing can be stored, nil when
// things can; lost is told how many seconds of a network were given up meanwhile.
func New(writable func() error, lost func(seconds int64)) *Heads {
	return &Heads{writable: writable, lost: lost, heads: map[motion.NetworkID]*head{}}
}

// head is the open blocks of one network.
type head struct {
	mu     sync.Mutex
	blocks map[blockKey]*series.Block
	recent *series.Block // that the last frame went to, one of blocks; nil: none
	spare  *series.Block // that was sealed last, whose memory the next one takes; nil: none
}

// blockKey is the place of a block in time.
type blockKey struct {
	start int64 // s since the epoch
	tier  series.Tier
}

// Add takes one live frame of a network: for each series the intensity or share
// at ts. Frames of the same second are combined (Block.AddFrame).
func (s *Heads) Add(network motion.NetworkID, ts motion.Time, values []series.Value) {
	s.put(network, series.Second, ts, values, (*series.Block).AddFrame)
}

// Fill takes one 5 s sample that starts at ts from a device's history. It
// replaces nothing that is held for the same time.
func (s *Heads) Fill(network motion.NetworkID, ts motion.Time, values []series.Value) {
	s.put(network, series.FiveSeconds, ts, values, (*series.Block).FillFrame)
}

// Networks returns the networks of which blocks are open.
func (s *Heads) Networks() []motion.NetworkID { return slices.Collect(maps.Keys(s.snapshot())) }

// Forget lets go of what is in memory of a network.
func (s *Heads) Forget(id motion.NetworkID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.heads, id)
	s.recent = nil
}

// head returns the open blocks of a network.
func (s *Heads) head(network motion.NetworkID) *head {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent != nil && s.of == network {
		return s.recent
	}
	h := s.heads[network]
	if h == nil {
		h = &head{blocks: map[blockKey]*series.Block{}}
		s.heads[network] = h
	}
	s.recent, s.of = h, network
	return h
}

// snapshot returns the heads of all networks.
func (s *Heads) snapshot() map[motion.NetworkID]*head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.heads)
}

// put gives the values of one moment to the open block that holds it.
func (s *Heads) put(network motion.NetworkID, tier series.Tier, ts motion.Time, values []series.Value, put func(b *series.Block, second int64, values []series.Value)) {
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
		if b = h.spare; b == nil {
			b = &series.Block{}
		}
		b.Begin(at.tier, at.start)
		h.spare = nil
		h.blocks[at] = b
	}
	return b
}

// Bounds of what waits in memory while nothing can be stored.
const (
	unstoredBytes   = 1 << 20 // rows of a network: 5 hours of 6 links and their places; 50 MiB with 50 networks
	unstoredFlushes = 3       // that failed one after the other
)

// stuck reports whether nothing can be stored for the time being.
func (s *Heads) stuck() bool {
	return s.failing.Load() >= unstoredFlushes || s.writable() != nil
}

// makeRoom lets go of a network's oldest blocks, so that the others and the one that is
// begun are within unstoredBytes; h.mu is held. Blocks of which a part is in the journal
// are few and stay.
func (s *Heads) makeRoom(h *head, begun *series.Block) {
	for h.bytes() > unstoredBytes {
		var oldest *series.Block
		for _, b := range h.blocks {
			if b != begun && !b.Journaled() && (oldest == nil || b.Start() < oldest.Start()) {
				oldest = b
			}
		}
		if oldest == nil {
			return
		}
		delete(h.blocks, blockKey{oldest.Start(), oldest.Tier()})
		s.lost(oldest.Tier().Span())
	}
}

// bytes returns the memory of the rows; h.mu is held.
func (h *head) bytes() (n int) {
	for _, b := range h.blocks {
		n += b.Bytes()
	}
	return n
}
