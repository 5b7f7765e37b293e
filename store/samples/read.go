package samples

import (
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Reading collects the blocks of a network that a query of [from, to) needs.
type Reading struct {
	network          motion.NetworkID
	from, to, bucket int64
	only             []series.ID
	values           map[blockKey][]byte
	summed           int64
	since            func(series.Tier) int64
}

// Read begins a Reading with the open blocks, for a query in buckets of so many seconds or
// multiples of them, of the series in only when there are any there.
func (s *Heads) Read(network motion.NetworkID, from, to, bucket int64, only ...series.ID) *Reading {
	r := &Reading{network: network, from: from, to: to, bucket: bucket, only: only, values: s.open(network, from, to, only), summed: endOfKeys}
	for at := range r.values {
		r.summed = min(r.summed, at.start) // of these nothing is in the sums yet
	}
	return r
}

// AddSealed copies the sealed blocks. summed is the second before which every block has
// been summed up; since returns the first second of a tier that is not past its retention.
func (r *Reading) AddSealed(tx *bolt.Tx, summed int64, since func(series.Tier) int64) {
	r.summed, r.since = min(r.summed, summed), since
	for _, tier := range series.Tiers() {
		for _, need := range series.Need(tier, max(r.from, since(tier)), r.to, r.bucket, r.summed) {
			r.addSealed(shelfIn(tx, tier), need[0], need[1])
		}
	}
}

// Set returns what was collected. Damaged blocks are left out and named by the error; the
// Set is usable all the same.
func (r *Reading) Set() (*series.Set, error) {
	set, err := series.NewSet(slices.Collect(maps.Values(r.values))...)
	return set.Bound(r.since, r.summed), err
}

// open returns the values of a network's open blocks that touch [from, to).
func (s *Heads) open(network motion.NetworkID, from, to int64, only []series.ID) map[blockKey][]byte {
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
			values[at] = b.AppendValue(nil, only...)
		}
	}
	return values
}

// addSealed copies what is asked for of the sealed blocks that touch [from, to) and
// merges them with the open ones.
func (r *Reading) addSealed(s shelf, from, to int64) {
	for start, sealed := range s.of(r.network, from, to) {
		part, err := series.Only(sealed, r.only...)
		if err != nil {
			part = slices.Clone(sealed) // Set names it
		}
		at := blockKey{start, s.tier}
		if late, isOpen := r.values[at]; isOpen {
			part = at.merge(late, part)
		}
		if len(part) > 0 {
			r.values[at] = part
		} else {
			delete(r.values, at) // it holds nothing of what is asked for
		}
	}
}
