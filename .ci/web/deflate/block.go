package deflate

const (
	endOfBlock  = 256
	firstLength = 257
)

// The codes of lengths and distances, and the bits that stand behind them (RFC 1951, 3.2.5).
var (
	lengthExtra   = [29]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	lengthBase    [29]int
	lengthCode    [longest + 1]int
	distanceExtra [30]int
	distanceBase  [30]int
	distanceCode  [window + 1]int
)

func init() {
	at := shortest
	for code, extra := range lengthExtra {
		lengthBase[code] = at
		for range min(1<<extra, longest+1-at) {
			lengthCode[at] = firstLength + code
			at++
		}
	}
	lengthBase[28], lengthCode[longest] = longest, firstLength+28
	at = 1
	for code := range distanceExtra {
		distanceBase[code], distanceExtra[code] = at, max(0, code/2-1)
		for range 1 << distanceExtra[code] {
			distanceCode[at] = code
			at++
		}
	}
}

// block is a part of a file that has its own code (RFC 1951, 3.2.7).
type block struct {
	way                []step
	symbols, distances []int // length of the code of each, 0 for one that is not there
	header             header
}

func newBlock(way []step) block {
	n := count(way)
	b := block{way: way, symbols: lengths(n.symbols[:], 15), distances: lengths(n.distances[:], 15)}
	b.header = newHeader(b.symbols, b.distances)
	return b
}

// size returns the bits of a block.
func (b block) size() int {
	size := 3 + b.header.size() + b.symbols[endOfBlock]
	for _, s := range b.way {
		if s.length == 0 {
			size += b.symbols[s.literal]
			continue
		}
		l, d := lengthCode[s.length], distanceCode[s.distance]
		size += b.symbols[l] + lengthExtra[l-firstLength] + b.distances[d] + distanceExtra[d]
	}
	return size
}

// write writes a block.
func (b block) write(out *writer, last bool) {
	final := 0
	if last {
		final = 1
	}
	out.add(final|2<<1, 3)
	b.header.write(out)
	symbols, distances := codes(b.symbols), codes(b.distances)
	for _, s := range b.way {
		if s.length == 0 {
			out.add(symbols[s.literal], b.symbols[s.literal])
			continue
		}
		l, d := lengthCode[s.length], distanceCode[s.distance]
		out.add(symbols[l], b.symbols[l])
		out.add(int(s.length)-lengthBase[l-firstLength], lengthExtra[l-firstLength])
		out.add(distances[d], b.distances[d])
		out.add(int(s.distance)-distanceBase[d], distanceExtra[d])
	}
	out.add(symbols[endOfBlock], b.symbols[endOfBlock])
}

const fewest = 100 // steps of a block, below which its code does not pay

// split cuts a way where two codes are smaller than one.
func split(way []step) [][]step {
	whole := newBlock(way).size()
	cut, least := 0, whole
	try := func(from, to, stride int) {
		for at := max(from, fewest); at <= min(to, len(way)-fewest); at += stride {
			if size := newBlock(way[:at]).size() + newBlock(way[at:]).size(); size < least {
				cut, least = at, size
			}
		}
	}
	stride := max(1, len(way)/32)
	try(0, len(way), stride)
	for ; cut > 0 && stride > 8; stride /= 4 {
		try(cut-stride, cut+stride, max(1, stride/4))
	}
	if cut == 0 {
		return [][]step{way}
	}
	return append(split(way[:cut]), split(way[cut:])...)
}
