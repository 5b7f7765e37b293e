// Package series compresses motion samples and answers queries on them.
//
// It knows resolutions (Tier), the series of a network (ID: the network itself, its links, the
// shares of its locations), the block that is being filled in memory (Block), the encoding of a
// block (block.go documents it), and how to compute points, densities and state blocks from
// encoded blocks (Set).
//
// It must not know where values are stored, which network they belong to, the clock, or who
// asks. It does no I/O and takes its time from the samples.
//
// A Block is not safe for concurrent use. A Set and all values are immutable and may be read
// concurrently.
//
// Rules that only this package implements:
//   - No data is absent and becomes null, never 0.
//   - Intensity and location shares are quantised on input: intensity to 0.001, below 0.2, where the noise of
//     devices lies, to 0.01; shares and densities to 1 %. So an intensity is at most 0.0005, below 0.2 at most
//     0.005, from what was reported, and one below 0.005 is 0.01. A row has
//     a density above 0 exactly when its intensity is above 0;
//     neither is rounded down to 0.
//   - The state 0, 1, 2 of a bucket is derived from peak intensity and density (payloads.md
//     4.6) and therefore not stored.
//   - Where two tiers hold the same second, the finer one counts. If seconds cover a part of 5 s
//     that a device reported later, its history supplies the rest, also in sums.
//   - The share of a location refers to the seconds for which the network has data.
//   - Rows of coarser tiers are lossless sums (Rollup): in their buckets they yield exactly what
//     the seconds did, but for means below 0.2 of rows above 0 all the time, which each tier rounds to 0.01.
//   - A query is answered at the finest resolution that covers its range (Set.Bound).
package series
