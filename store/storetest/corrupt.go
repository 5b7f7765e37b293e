package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// block is what a disk loses at once, bytes.
const block = 4096

// Corrupt returns the content of a database file as a failing disk, or a mistake, leaves it,
// and how it was damaged.
func Corrupt(data []byte, random *rand.Rand) (broken []byte, how string) {
	broken = bytes.Clone(data)
	blocks := len(broken) / block
	at := random.IntN(len(broken))
	switch random.IntN(8) {
	case 0:
		n := 1 + random.IntN(16)
		for range n {
			broken[random.IntN(len(broken))] ^= byte(1 + random.IntN(255))
		}
		return broken, fmt.Sprintf("%d bytes changed anywhere", n)
	case 1:
		n := 1 + random.IntN(8)
		for range n { // where the kind, the number and the places of elements stand
			broken[random.IntN(blocks)*block+random.IntN(128)] ^= 1 << random.IntN(8)
		}
		return broken, fmt.Sprintf("%d bits changed at the beginnings of pages", n)
	case 2:
		n := 0
		for range 1 + random.IntN(4) {
			if start := bytes.IndexByte(broken[random.IntN(len(broken)):], '"'); start >= 0 {
				broken[min(at+start, len(broken)-1)] ^= 1 << random.IntN(8)
				n++
			}
		}
		return broken, fmt.Sprintf("%d bits changed in values", n)
	case 3:
		n := 1 + random.IntN(3)
		for range n {
			spoil := broken[random.IntN(blocks)*block:][:block]
			for i := range spoil {
				spoil[i] = byte(random.Uint32())
			}
		}
		return broken, fmt.Sprintf("%d blocks of random bytes", n)
	case 4:
		n := 1 + random.IntN(3)
		for range n {
			clear(broken[random.IntN(blocks)*block:][:block])
		}
		return broken, fmt.Sprintf("%d blocks of zeros", n)
	case 5:
		end := min(len(broken), at+1+random.IntN(16*block))
		clear(broken[at:end])
		return broken, fmt.Sprintf("zeros from %d to %d", at, end)
	case 6:
		return broken[:1+at], fmt.Sprintf("cut off at %d", 1+at)
	}
	from, to := random.IntN(blocks)*block, random.IntN(blocks)*block
	copy(broken[to:to+block], data[from:from+block])
	return broken, fmt.Sprintf("the block at %d written to %d too", from, to)
}
