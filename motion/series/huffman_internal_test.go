package series

import (
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHuffmanByByte holds the documented bytes of a stream: a change here is a change of what stands on
// people's disks.
func TestHuffmanByByte(t *testing.T) {
	t.Parallel()
	values := []uint16{6, 4, 4, 4, 8, 4, 6, 4, 900}
	h, size, _ := newHuffman(values, changesOf(values))
	got := appendHuffman(nil, &h, values)
	// Symbols 0, 1 and 2 are 4, 6 and 8, the escape is 3: with lengths 1, 2, 3 and 3 their codes are 0, 10, 110 and
	// 111. Bit by bit: 10 0 0 0 110 | 0 10 0 111, and 900 in 10 bits from the lowest: 0|01000011|1.
	if want := "04" + "04" + "02" + "03" + "2133" + "0a" + "6172c201"; hex.EncodeToString(got) != want || size != len(got) {
		t.Errorf("%x of %d bytes, want %s", got, size, want)
	}
}

// TestStreamsAreKept writes and reads streams of all kinds.
func TestStreamsAreKept(t *testing.T) {
	t.Parallel()
	codings := map[byte]int{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "n")
		base, step := rapid.Uint32Range(1, 700).Draw(t, "base"), rapid.Uint32Range(1, 60).Draw(t, "step")
		kinds := rapid.Uint32Range(1, 40).Draw(t, "kinds")
		outliers := rapid.Uint32Range(0, 20).Draw(t, "outliers")
		seed := rapid.Uint32().Draw(t, "seed")
		follow := rapid.Bool().Draw(t, "follow")
		random := func(below uint32) uint32 {
			seed = seed*1664525 + 1013904223
			return seed >> 8 % below
		}
		values := make([]uint32, n)
		for i := range values {
			at := random(kinds)
			if follow {
				at = min(kinds-1, uint32(i)*kinds/uint32(n)+random(2))
			}
			values[i] = base + step*at
			if outliers > 0 && random(outliers*10) == 0 {
				values[i] = 1 + random(900_000)
			}
		}
		stream := appendStream(nil, values)
		codings[stream[0]]++
		c := cursor{b: append(stream, 7)}
		got, err := decodeStream(&c, []uint32(nil), n, 900_000)
		if err != nil || !slices.Equal(got, values) || len(c.b) != 1 {
			t.Fatalf("coding %d, %d bytes: %v, %d left\n%v\n%v", stream[0], len(stream), err, len(c.b), values, got)
		}
	})
	for _, coding := range []byte{codingRuns, codingRice, codingHuffman} {
		if codings[coding] == 0 {
			t.Errorf("no stream had coding %d: %v", coding, codings)
		}
	}
}

// TestCodesHaveABound makes codes of counts that would have longer ones.
func TestCodesHaveABound(t *testing.T) {
	t.Parallel()
	var values []uint16
	for symbol, n := 0, 1; symbol < 16; symbol, n = symbol+1, 2*n {
		for range n {
			values = append(values, uint16(symbol+1))
		}
	}
	h, size, _ := newHuffman(values, changesOf(values))
	got := appendHuffman(nil, &h, values)
	back, err := decodeStream(&cursor{b: got}, []uint16(nil), len(values), uint16(1000))
	if slices.Max(h.lengths[:]) > longestCode || err != nil || !slices.Equal(back, values) || size != len(got) {
		t.Errorf("lengths %v, %d bytes for %d, %v", h.lengths, len(got), size, err)
	}
}
