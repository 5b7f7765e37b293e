// Package chance returns pseudo-random numbers: the same seed and keys always give
// the same number, in any order of calls. It knows nothing of their use. Its
// functions may be called concurrently.
package chance

import "hash/fnv"

// Mix hashes a seed with keys (the finaliser of SplitMix64, Steele et al. 2014).
func Mix(seed uint64, keys ...uint64) uint64 {
	h := seed
	for _, key := range keys {
		h += key + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// Unit returns a number in [0, 1).
func Unit(seed uint64, keys ...uint64) float64 { return float64(Mix(seed, keys...)>>11) / (1 << 53) }

// Between returns a number in [low, high).
func Between(low, high float64, seed uint64, keys ...uint64) float64 {
	return low + (high-low)*Unit(seed, keys...)
}

// Text hashes a name to a seed or a key (FNV-1a).
func Text(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
