package insight

// surely is the tolerance, in minutes, within which an estimated time counts as right.
const surely = 45

// guess is the model's estimate of a night.
type guess struct {
	sleep, wake int     // minutes: the medians of their distributions
	sure        float64 // 0..1: probability that there is a night and each time is off by at most surely
	up          []bool  // whether somebody was up, per minute of the night
}

// weights are the weights of the phases at one minute.
type weights [phases]float64

// guess weighs all paths; ok is false if a night without sleep is more likely.
func (s sight) guess() (g guess, ok bool) {
	n := len(s.levels)
	chances, changes := s.chances(), s.changes()
	before, after := make([]weights, n), make([]weights, n)
	for t := range n {
		before[t] = evening(1)
		if t > 0 {
			before[t] = changes.into(t).forward(before[t-1])
		}
		before[t] = before[t].times(chances[t]).scaled()
	}
	for t := n - 1; t >= 0; t-- {
		after[t] = evening(noNight)
		for p := morningBusy; p < phases; p++ {
			after[t][p] = 1
		}
		if t < n-1 {
			after[t] = changes.into(t + 1).backward(after[t+1].times(chances[t+1])).scaled()
		}
	}
	asleep, awake := make([]float64, n), make([]float64, n) // probability until that minute
	g.up = make([]bool, n)
	for t := range n {
		p := before[t].times(after[t]).scaled()
		asleep[t], awake[t] = 1-p.sum(eveningBusy, rest), p.sum(morningBusy, phases)
		g.up[t] = p[risen] > 0.5 || s.levels[t] == much
	}
	if n == 0 || awake[n-1] < 0.5 {
		return guess{}, false // more likely nobody slept there
	}
	g.sleep, g.wake = reaches(asleep, awake[n-1]/2), reaches(awake, awake[n-1]/2)
	if g.sleep < surely || g.wake > n-surely {
		return guess{}, false // it may begin before the window, or end after it
	}
	g.sure = min(around(asleep, g.sleep), around(awake, g.wake))
	return g, true
}

// evening returns equal weights of the phases of the evening.
func evening(each float64) (w weights) {
	for p := eveningBusy; p < rest; p++ {
		w[p] = each
	}
	return w
}

func (c *change) forward(w weights) (next weights) {
	for from, weight := range w {
		for to := range next {
			next[to] += weight * c[from][to]
		}
	}
	return next
}

func (c *change) backward(w weights) (previous weights) {
	for from := range previous {
		for to, weight := range w {
			previous[from] += weight * c[from][to]
		}
	}
	return previous
}

func (w weights) times(o weights) weights {
	for i := range w {
		w[i] *= o[i]
	}
	return w
}

// sum returns the weight of the phases [from, to).
func (w weights) sum(from, to phase) (total float64) {
	for _, v := range w[from:to] {
		total += v
	}
	return total
}

// scaled returns w with the sum 1, or w when it is 0.
func (w weights) scaled() weights {
	if total := w.sum(0, phases); total > 0 {
		for i := range w {
			w[i] /= total
		}
	}
	return w
}

// reaches returns the first minute at which p, which is monotonic, reaches a share.
func reaches(p []float64, share float64) int {
	for t, v := range p {
		if v >= share {
			return t
		}
	}
	return len(p)
}

// around returns the increase of p within surely of a minute.
func around(p []float64, minute int) float64 {
	upTo := p[min(minute+surely, len(p)-1)]
	if first := minute - surely - 1; first >= 0 {
		return upTo - p[first]
	}
	return upTo
}
