package samples

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Bounds of what one flush does about the past, so that a store that was shut for
// long, or that a clock has left behind, is brought up to date in steps.
const (
	rollHorizon = 24 * 3600 // s that sums move on by
	expireLimit = 20_000    // blocks deleted of a tier
)

// blocks are sealed blocks by their place, each with its networks.
type blocks map[blockKey][]motion.NetworkID

func (b blocks) add(at blockKey, network motion.NetworkID) {
	if !slices.Contains(b[at], network) {
		b[at] = append(b[at], network)
	}
}

// sumUp sums up the blocks that have ended since second summed and those that have
// changed, and returns up to when that is done now. Sums have no open blocks: a block of
// sums is made of the finer blocks when it has ended, and made again when one of these has
// changed, so that there is nothing to restore after a restart.
func (tx Tx) sumUp(changed blocks, summed int64) (next int64, err error) {
	next = tx.nextSummed(summed)
	for _, tier := range series.Tiers() {
		coarser, ok := tier.Coarser()
		if !ok {
			break
		}
		due := changed.parents(tier, coarser, next)
		tx.ended(due, tier, coarser, summed, next)
		for at, networks := range due.all() {
			if err := tx.rollUp(at, tier, networks); err != nil {
				return summed, err
			}
			for _, network := range networks {
				changed.add(at, network)
			}
		}
	}
	return next, nil
}

// nextSummed returns up to when blocks are summed up now. It follows the clock back.
func (tx Tx) nextSummed(summed int64) int64 {
	hour := series.FiveSeconds.Span()
	now := max(0, tx.Now.Second()-sealDelay)
	now -= now % hour
	first := now
	for _, tier := range series.Tiers()[:2] {
		if key, _ := tx.bucket(Bucket(tier)).Cursor().Seek(keyOf(uint32(summed))); key != nil {
			start, _ := parseSampleKey(key)
			first = min(first, start-start%hour)
		}
	}
	return min(now, max(summed, first)+rollHorizon)
}

// parents returns the blocks of the coarser tier that hold blocks of tier in b and
// that ended before second summed.
func (b blocks) parents(tier, coarser series.Tier, summed int64) blocks {
	due := blocks{}
	for at, networks := range b {
		parent := blockKey{coarser.BlockStart(at.start), coarser}
		if at.tier != tier || parent.start+coarser.Span() > summed {
			continue
		}
		for _, network := range networks {
			due.add(parent, network)
		}
	}
	return due
}

// ended adds the blocks of the coarser tier that ended in (from, to] and of which
// there are blocks of tier.
func (tx Tx) ended(due blocks, tier, coarser series.Tier, from, to int64) {
	from, to = coarser.BlockStart(from), coarser.BlockStart(to)
	if from >= to {
		return
	}
	for start, sealed := range tx.shelf(tier).values(from, to) {
		for network := range sealed {
			if network == 0 {
				continue // whose it is cannot be read
			}
			due.add(blockKey{coarser.BlockStart(start), coarser}, network)
		}
	}
}

// all yields the blocks in the order of keys, each with its networks in their order.
func (b blocks) all() iter.Seq2[blockKey, []motion.NetworkID] {
	return func(yield func(blockKey, []motion.NetworkID) bool) {
		order := slices.SortedFunc(maps.Keys(b), func(a, b blockKey) int { return cmp.Compare(a.start, b.start) })
		for _, at := range order {
			slices.Sort(b[at])
			if !yield(at, b[at]) {
				return
			}
		}
	}
}

// rollUp makes the blocks of sums of networks, in their order, from their blocks of the finer
// tier.
func (tx Tx) rollUp(at blockKey, tier series.Tier, networks []motion.NetworkID) error {
	coarser := tx.shelf(at.tier)
	finer, held := tx.shelf(tier).gather(at, networks), coarser.gather(at, networks)
	var sums []block
	for i, network := range networks {
		value, err := series.Rollup(at.tier, at.start, finer[i], held[i]...)
		if err != nil {
			tx.Logger.Warn("damaged samples left out of sums", "network", network, "err", err)
		}
		if len(value) > 0 {
			sums = append(sums, block{network, value})
		}
	}
	return coarser.put(at.start, sums)
}

// gather returns for each of some networks, in their order, its blocks that begin within the
// block at a place, and what is damaged and may hold one.
func (s shelf) gather(at blockKey, networks []motion.NetworkID) [][][]byte {
	values := make([][][]byte, len(networks))
	for _, blocks := range s.values(at.start, at.start+at.tier.Span()) {
		for network, value := range blocks {
			if i, ok := slices.BinarySearch(networks, network); ok {
				values[i] = append(values[i], value)
			} else if network == 0 {
				for i := range values {
					values[i] = append(values[i], value)
				}
			}
		}
	}
	return values
}

// Expire deletes the blocks that end before the first second of their tier that is kept,
// and before summed.
func (tx Tx) Expire(since func(series.Tier) int64, summed int64) error {
	for _, tier := range series.Tiers() {
		before := since(tier)
		if coarser, ok := tier.Coarser(); ok {
			before = min(before, coarser.BlockStart(summed))
		}
		if err := expireBlocks(tx.bucket(Bucket(tier)), before-tier.Span()); err != nil {
			return err
		}
	}
	return nil
}

// expireBlocks deletes the first blocks of a bucket, which start at a second or
// before it.
func expireBlocks(b *bolt.Bucket, last int64) error {
	if last < 0 {
		return nil
	}
	var old [][]byte
	cursor := b.Cursor()
	for key, _ := cursor.First(); key != nil && len(old) < expireLimit; key, _ = cursor.Next() {
		if start, _ := parseSampleKey(key); start > last {
			break
		}
		old = append(old, slices.Clone(key))
	}
	for _, key := range old {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
