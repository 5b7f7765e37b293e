package state

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Samples returns the stored motion of a network for queries within [from, to),
// in seconds since the epoch.
func (st *State) Samples(ctx context.Context, id motion.NetworkID, from, to int64) (*series.Set, error) {
	return st.SamplesFor(ctx, id, from, to, series.Second.Step())
}

// SamplesFor is Samples for queries in buckets of so many seconds, or multiples of them, of the
// series in only when there are any there.
func (st *State) SamplesFor(ctx context.Context, id motion.NetworkID, from, to, bucket int64, only ...series.ID) (*series.Set, error) {
	if err := st.Known(id); err != nil {
		return nil, err
	}
	set, err := st.Series.Set(ctx, id, from, to, bucket, only...)
	if set == nil {
		return nil, err
	}
	if err != nil {
		st.Log.Error("damaged samples skipped", "network", id, "err", err)
	}
	return set, nil
}

// FloorTo returns v rounded down to a multiple of step; v is not negative.
func FloorTo(v, step int64) int64 { return v - v%step }
