package detect

import "math"

const (
	minWindow  = 8 // frames of a valid tick
	minFeature = 6 // frames that features can be computed on

	minGainSquares = 1e-9 // smallest Σ g² for a regression on the gain
)

// scratch is the working memory of one window.
type scratch struct {
	sum         moments
	mean, beta  []float64 // per column
	variance    []float64
	nearMean    []float64 // neighbours of mean
	nearBeta    []float64 // neighbours of beta
	gainMean    []float64 // per part
	gainSquares []float64 // per part: Σ g², centred
	gains       []float64 // per frame: centred gain
	cross       []float64 // per frame: q of gainTerms
	spare       []float64 // for medians
}

// newScratch returns working memory; resize must fit it to the frames.
func newScratch(columns, parts int) scratch {
	column := func() []float64 { return make([]float64, columns) }
	return scratch{
		sum: newMoments(columns, parts), mean: column(), beta: column(), variance: column(),
		nearMean: column(), nearBeta: column(),
		gainMean: make([]float64, parts), gainSquares: make([]float64, parts),
	}
}

// resize fits the scratch to the number of frames.
func (s *scratch) resize(frames int) {
	s.gains, s.cross = make([]float64, frames), make([]float64, frames)
	s.spare = make([]float64, 0, max(frames, len(s.mean)))
}

// coherence computes R and M (step 4) of the frames in the closed blocks of age `newest` to
// `oldest`, and leaves their moments in the scratch. regress removes what follows the gain;
// span is K, of whose last lag only the fraction counts if it is not a whole number.
//
// With x[t] = p[t] − m − β g[t] and z the neighbour operator, the sum over pairs at lag l is
// Σ z(x[t])·x[t+l]. In its expansion, all terms except the products of the gain with single
// rows are known from earlier sums.
func (w *window) coherence(newest, oldest int, regress bool, span float64) (R, M float64) {
	s := &w.scratch
	skip := w.count(newest - 1)
	s.sum.reset()
	for age := newest; age <= min(oldest, w.closed); age++ {
		s.sum.add(w.block(age))
	}
	n := s.sum.n
	if n < minFeature {
		return math.NaN(), math.NaN()
	}
	first := w.next - skip - n
	lags := int(math.Ceil(span))
	for lags > 1 && n <= lags+3 {
		lags--
	}
	power, lagged := w.sumProducts(first, n, lags)
	s.centre(w.layout, regress)
	for i := range w.layout.parts {
		power += w.meanTerms(i, first, n, &lagged, lags)
		if regress {
			power += s.gainPower(w.layout, i)
			w.gainTerms(i, first, n, &lagged, lags)
		}
	}
	pairs := float64(w.layout.pairs)
	C := 0.0
	for l := 1; l <= lags; l++ {
		C += min(1, span-float64(l-1)) * lagged[l] / float64(n-l)
	}
	C /= min(span, float64(lags)) * pairs
	return C / (s.pairDeviation(w.layout)/pairs + 1e-12), power / (pairs * float64(n-1))
}

// sumProducts sums the products of the uncentred rows: at lag 0, and at each lag over the
// frames whose partner is in the window.
func (w *window) sumProducts(first, n, lags int) (power float64, lagged [maxLag + 1]float64) {
	for i := range n {
		p := w.productsOf(first + i)
		power += p[0]
		for l := 1; l <= min(lags, i); l++ {
			lagged[l] += p[l]
		}
	}
	return power, lagged
}

// centre computes mean, β and variance of the columns, and the neighbours of mean and β.
func (s *scratch) centre(l *layout, regress bool) {
	n := float64(s.sum.n)
	for i, part := range l.parts {
		g := s.sum.g[i] / n
		gg := s.sum.gg[i] - n*g*g
		s.gainMean[i], s.gainSquares[i] = g, gg
		scale := 0.0
		if regress {
			scale = 1 / math.Max(gg, minGainSquares)
		}
		for k := part.lo; k < part.hi; k++ {
			m := s.sum.p[k] / n
			pg := s.sum.pg[k] - n*m*g
			b := pg * scale
			s.mean[k], s.beta[k] = m, b
			s.variance[k] = math.Max(0, (s.sum.pp[k]-n*m*m-2*b*pg+b*b*gg)/n)
		}
	}
	l.neighbours(s.nearMean, s.mean)
	if regress {
		l.neighbours(s.nearBeta, s.beta)
	}
}

// pairDeviation returns the sum over pairs of √(v_i v_j).
func (s *scratch) pairDeviation(l *layout) float64 {
	sum := 0.0
	for k := 0; k+2 < len(l.link); k++ {
		if l.link[k] > 0 {
			sum += math.Sqrt(s.variance[k] * s.variance[k+2])
		}
	}
	return sum
}

// meanTerms returns the share of the means of part i's columns in the products at lag 0, and
// subtracts it from the lagged products.
func (w *window) meanTerms(i, first, n int, lagged *[maxLag + 1]float64, lags int) float64 {
	s, part := &w.scratch, w.layout.parts[i]
	near := s.nearMean[part.lo:part.hi]
	square := dot(near, s.mean[part.lo:part.hi])
	edges := 0.0
	for l := 1; l <= lags; l++ {
		edges += dot(near, w.row(first + l - 1)[part.lo:part.hi])
		edges += dot(near, w.row(first + n - l)[part.lo:part.hi])
		lagged[l] += edges - float64(n+l)*square
	}
	return -float64(n) * square
}

// gainPower returns the share of part i's gain in the products at lag 0.
func (s *scratch) gainPower(l *layout, i int) float64 {
	part, gg := l.parts[i], s.gainSquares[i]
	square := dot(s.nearBeta[part.lo:part.hi], s.beta[part.lo:part.hi])
	return square * (gg - 2*math.Max(gg, minGainSquares))
}

// gainTerms subtracts the share of part i's gain from the lagged products: with
// q[t] = z(β)·p[t] − z(m)·β − ½ z(β)·β g[t] it is Σ g[t+l] q[t] + g[t] q[t+l].
func (w *window) gainTerms(i, first, n int, lagged *[maxLag + 1]float64, lags int) {
	s, part := &w.scratch, w.layout.parts[i]
	near, beta := s.nearBeta[part.lo:part.hi], s.beta[part.lo:part.hi]
	level := dot(s.nearMean[part.lo:part.hi], beta)
	halfSquare := dot(near, beta) / 2
	gains, cross := s.gains[:n], s.cross[:n]
	for t := range gains {
		g := w.gainsOf(first + t)[i] - s.gainMean[i]
		gains[t] = g
		cross[t] = dot(near, w.row(first + t)[part.lo:part.hi]) - level - halfSquare*g
	}
	for l := 1; l <= lags; l++ {
		lagged[l] -= dot(gains[l:], cross) + dot(gains[:n-l], cross[l:])
	}
}
