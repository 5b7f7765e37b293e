package deflate

import (
	"cmp"
	"math/bits"
	"slices"
)

// lengths returns the length of each symbol's code, at most limit, so that the whole is smallest:
// the package-merge algorithm. A symbol that is not counted has none.
func lengths(n []float64, limit int) []int {
	type pack struct {
		weight  float64
		symbols []int
	}
	var single []pack
	for symbol, f := range n {
		if f > 0 {
			single = append(single, pack{f, []int{symbol}})
		}
	}
	out := make([]int, len(n))
	if len(single) < 2 { // a code of one symbol has one bit; it must not be empty
		symbol := 0
		if len(single) == 1 {
			symbol = single[0].symbols[0]
		}
		out[symbol] = 1
		return out
	}
	order := func(a, b pack) int { return cmp.Compare(a.weight, b.weight) }
	slices.SortStableFunc(single, order)
	packs := single
	for range limit - 1 {
		var pairs []pack
		for i := 0; i+1 < len(packs); i += 2 {
			pairs = append(pairs, pack{packs[i].weight + packs[i+1].weight, slices.Concat(packs[i].symbols, packs[i+1].symbols)})
		}
		packs = slices.Concat(single, pairs)
		slices.SortStableFunc(packs, order)
	}
	for _, p := range packs[:2*len(single)-2] {
		for _, symbol := range p.symbols {
			out[symbol]++
		}
	}
	return out
}

// codes returns the codes of these lengths, the first bit lowest (RFC 1951, 3.2.2).
func codes(length []int) []int {
	out := make([]int, len(length))
	code := 0
	for n := 1; n <= 15; n++ {
		for symbol, l := range length {
			if l == n {
				out[symbol] = int(bits.Reverse16(uint16(code)) >> (16 - n))
				code++
			}
		}
		code <<= 1
	}
	return out
}

// run is a length of a code in a header, or several: 16 repeats the one before, 17 and 18 are zeros.
type run struct{ symbol, extra, bits int }

// header is how a block tells its code: lengths in runs, and the code of these.
type header struct {
	symbols, distances int
	runs               []run
	code               []int // lengths of the code of the runs
}

// runOrder is the order in which the lengths of the code of the runs stand.
var runOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// newHeader returns the smallest header: repeating does not always pay.
func newHeader(symbols, distances []int) (best header) {
	used := func(length []int, least int) int {
		n := len(length)
		for n > least && length[n-1] == 0 {
			n--
		}
		return n
	}
	s, d := used(symbols, firstLength), used(distances, 1)
	all := slices.Concat(symbols[:s], distances[:d])
	for with := range 8 {
		h := header{symbols: s, distances: d, runs: inRuns(all, with&1 > 0, with&2 > 0, with&4 > 0)}
		n := make([]float64, len(runOrder))
		for _, r := range h.runs {
			n[r.symbol]++
		}
		if h.code = lengths(n, 7); with == 0 || h.size() < best.size() {
			best = h
		}
	}
	return best
}

// inRuns returns lengths in runs of those kinds that are wanted.
func inRuns(all []int, repeats, fewZeros, manyZeros bool) (runs []run) {
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		switch {
		case all[i] == 0 && manyZeros && n >= 11:
			n = min(n, 138)
			runs = append(runs, run{18, n - 11, 7})
		case all[i] == 0 && fewZeros && n >= 3:
			n = min(n, 10)
			runs = append(runs, run{17, n - 3, 3})
		case i > 0 && all[i-1] == all[i] && repeats && n >= 3:
			n = min(n, 6)
			runs = append(runs, run{16, n - 3, 2})
		default:
			n = 1
			runs = append(runs, run{all[i], 0, 0})
		}
		i += n
	}
	return runs
}

// kinds returns of how many runs the length of the code stands in the header.
func (h header) kinds() int {
	n := len(runOrder)
	for n > 4 && h.code[runOrder[n-1]] == 0 {
		n--
	}
	return n
}

func (h header) size() int {
	size := 14 + 3*h.kinds()
	for _, r := range h.runs {
		size += h.code[r.symbol] + r.bits
	}
	return size
}

func (h header) write(out *writer) {
	out.add(h.symbols-firstLength, 5)
	out.add(h.distances-1, 5)
	out.add(h.kinds()-4, 4)
	for _, r := range runOrder[:h.kinds()] {
		out.add(h.code[r], 3)
	}
	code := codes(h.code)
	for _, r := range h.runs {
		out.add(code[r.symbol], h.code[r.symbol])
		out.add(r.extra, r.bits)
	}
}
