// Package series packs motion samples and answers questions about them.
//
// It knows resolutions (Tier), the series of a network (ID: the network
// itself, its links, the shares of its locations), the block that is being
// filled in memory (Block), the bytes a block becomes (block.go documents them),
// and how points, densities and state blocks are computed from such bytes (Set).
//
// It must not know where the bytes are kept, which network they belong to, what
// the clock says, or who asks: it is pure, does no I/O and takes its time from
// the samples.
//
// A Block is not safe for concurrent use. A Set and all bytes are immutable
// once made and may be read by any number of goroutines.
//
// Rules that stand here and nowhere else:
//   - No data is absent and becomes null, never 0.
//   - Intensity and location shares are quantised at the door: intensity to
//     0.001, shares and densities to 1 %. A row has a density above 0 exactly
//     when its intensity is above 0; neither is rounded down to 0.
//   - The state 0, 1, 2 of a bucket is derived from peak intensity and density
//     (payloads.md 4.6) and therefore not stored.
//   - Where two tiers hold the same second, the finer one is right. Of 5 s that a device
//     reported afterwards and that are held in seconds in part, its history is the rest,
//     also in sums.
//   - The share of a location is of the seconds of which the network has data.
//   - Rows of coarser tiers are sums (Rollup) that lose nothing: they answer a question
//     in their buckets exactly as the seconds did.
//   - A question is answered at the finest resolution that covers its range
//     (Set.Bound).
package series
