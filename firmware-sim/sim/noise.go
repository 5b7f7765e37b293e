package sim

import "hash/fnv"

// mix hashes the seed with keys (the finaliser of SplitMix64, Steele et al.
// 2014): the source of everything that looks random but must repeat.
func mix(seed uint64, keys ...uint64) uint64 {
	h := seed
	for _, key := range keys {
		h += key + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// unit returns a number in [0, 1) for seed and keys.
func unit(seed uint64, keys ...uint64) float64 {
	return float64(mix(seed, keys...)>>11) / (1 << 53)
}

// between returns a number in [low, high) for seed and keys.
func between(low, high float64, seed uint64, keys ...uint64) float64 {
	return low + (high-low)*unit(seed, keys...)
}

// hashText turns a name into a key for mix.
func hashText(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
