package deflate

import "math"

const (
	shortest = 3
	longest  = 258
	window   = 32768
)

// matches are the matches that begin at each place of content, a longer one each farther behind.
type matches struct {
	content []byte
	at      [][]step
}

// findMatches finds for each place and each length the nearest match.
func findMatches(content []byte) *matches {
	m := &matches{content, make([][]step, len(content))}
	before, last := make([]int, len(content)), map[[shortest]byte]int{}
	for i := range len(content) - shortest + 1 {
		key := [shortest]byte(content[i:])
		near, found := last[key]
		before[i], last[key] = -1, i
		if !found {
			continue
		}
		before[i] = near
		length := shortest - 1
		for j := near; j >= 0 && i-j <= window && length < longest; j = before[j] {
			if n := same(content[i:], content[j:]); n > length {
				length = n
				m.at[i] = append(m.at[i], step{length: uint16(n), distance: uint16(i - j)})
			}
		}
	}
	return m
}

// same returns how long two texts are the same.
func same(a, b []byte) int {
	n := 0
	for n < len(a) && n < longest && a[n] == b[n] {
		n++
	}
	return n
}

// best returns the cheapest way from a place to another that was found. begin is a way whose
// costs are the first guess; nil for none.
func (m *matches) best(from, to int, begin []step) []step {
	cost := guess()
	if begin != nil {
		cost = newCosts(count(begin))
	}
	var best []step
	least := math.MaxInt
	var mean counts
	for round := range rounds {
		way := m.cheapest(from, to, cost)
		b := newBlock(way)
		if size := b.size(); size < least {
			best, least = way, size
		}
		c := count(way)
		if round == 0 {
			mean = c
		}
		if round > 5 { // it may turn in a circle: change half of the counts alone
			c = c.mixed(mean)
		}
		mean = c
		cost = newCosts(c)
	}
	return best
}

// cheapest returns the way from a place to another that costs least.
func (m *matches) cheapest(from, to int, c *costs) []step {
	n := to - from
	total, by := make([]float64, n+1), make([]step, n+1)
	for i := 1; i <= n; i++ {
		total[i] = math.Inf(1)
	}
	for i := range n {
		at := m.content[from+i]
		if t := total[i] + c.literal[at]; t < total[i+1] {
			total[i+1], by[i+1] = t, step{literal: at}
		}
		length := shortest
		for _, s := range m.at[from+i] {
			far := total[i] + c.distance[distanceCode[s.distance]]
			for ; length <= int(s.length) && i+length <= n; length++ {
				if t := far + c.length[length]; t < total[i+length] {
					total[i+length], by[i+length] = t, step{length: uint16(length), distance: s.distance}
				}
			}
		}
	}
	var way []step
	for i := n; i > 0; i -= by[i].bytes() {
		way = append(way, by[i])
	}
	for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
		way[i], way[j] = way[j], way[i]
	}
	return way
}

// counts are how often each symbol stands in a block: of bytes and lengths, and of distances.
type counts struct {
	symbols   [286]float64
	distances [30]float64
}

func count(way []step) (c counts) {
	c.symbols[endOfBlock] = 1
	for _, s := range way {
		if s.length == 0 {
			c.symbols[s.literal]++
			continue
		}
		c.symbols[lengthCode[s.length]]++
		c.distances[distanceCode[s.distance]]++
	}
	return c
}

// mixed returns the mean of both.
func (c counts) mixed(other counts) counts {
	for i := range c.symbols {
		c.symbols[i] = (c.symbols[i] + other.symbols[i]) / 2
	}
	for i := range c.distances {
		c.distances[i] = (c.distances[i] + other.distances[i]) / 2
	}
	return c
}

// costs are the bits that each step takes.
type costs struct {
	literal  [256]float64
	length   [longest + 1]float64
	distance [30]float64 // by code
}

// guess returns costs for a content of which nothing is known.
func guess() *costs {
	c := &costs{}
	for i := range c.literal {
		c.literal[i] = 6.5
	}
	for i := shortest; i <= longest; i++ {
		c.length[i] = 6 + float64(lengthExtra[lengthCode[i]-firstLength])
	}
	for i := range c.distance {
		c.distance[i] = 5 + float64(distanceExtra[i])
	}
	return c
}

// newCosts returns what steps cost where they are as frequent as counted.
func newCosts(n counts) *costs {
	symbols, distances := entropy(n.symbols[:]), entropy(n.distances[:])
	c := &costs{literal: [256]float64(symbols)}
	for i := shortest; i <= longest; i++ {
		code := lengthCode[i]
		c.length[i] = symbols[code] + float64(lengthExtra[code-firstLength])
	}
	for i := range c.distance {
		c.distance[i] = distances[i] + float64(distanceExtra[i])
	}
	return c
}

// entropy returns the bits of each symbol in the best code.
func entropy(n []float64) []float64 {
	sum := 0.0
	for _, f := range n {
		sum += f
	}
	bits := make([]float64, len(n))
	for i, f := range n {
		if f == 0 {
			f = .7 // one that is not there yet is dear, not impossible
		}
		bits[i] = max(1, math.Log2(max(2, sum))-math.Log2(f))
	}
	return bits
}
