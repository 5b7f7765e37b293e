package detect

// A body moves for many frames. A device that goes over to another antenna or path, or whose receiver hops, changes from one
// frame to the next and then stays; its window has a single jump. Of the ticks that start motion in recordings one in a
// thousand is one, mostly where two files are joined.
const (
	jumpStep  = 0.7 // of how much frames change from each to the next, the least that is one step …
	jumpPower = 0.9 // … and of the coherent motion power, the least that the means before and after it make
)

// jumps reports whether the coherent motion power M of the newest n frames is that of a single jump.
func (w *window) jumps(n int, M float64) bool {
	first, at := w.next-n, 0
	most, all := 0.0, 0.0
	for f := first + 1; f < w.next; f++ {
		now, before := w.productsOf(f), w.productsOf(f-1)
		step := now[0] + before[0] - 2*now[1]
		all += step
		if step > most {
			at, most = f, step
		}
	}
	if at == 0 || most < jumpStep*all {
		return false
	}
	s := &w.scratch
	shift, near := s.beta, s.nearBeta // which no tick needs afterwards
	clear(shift)
	before, after := float64(at-first), float64(w.next-at)
	for f := first; f < w.next; f++ {
		weight := 1 / after
		if f < at {
			weight = -1 / before
		}
		for k, v := range w.row(f) {
			shift[k] += weight * v
		}
	}
	w.layout.neighbours(near, shift)
	return dot(near, shift)*before*after/float64(n) > jumpPower*M*float64(w.layout.pairs)*float64(n-1)
}
