package insight

import "math"

// The model of a night. In each minute the household is in one of these phases:
//
//	evening:  busy ⇄ steady
//	          either → rest         it goes to bed: the sleep time
//	night:    rest ⇄ risen          somebody gets up and lies down again
//	          rest → busy           it gets up: the wake time
//	morning:  busy ⇄ steady
//
// busy: somebody moves about. steady: nobody does; people sit, or are out. rest is like steady
// with fewer movements. How much motion still people cause depends on the home, on their place
// and on pets: steady and rest each have three levels (none, faint, little), which may change
// into each other. So stillness alone is neither sleep nor an empty home: a night lies between
// going to bed and getting up, which are motion. The configured times say when these are
// likely. All paths through the phases are weighed (forward–backward algorithm, Rabiner, Proc.
// IEEE 77(2), 1989), so that the model also yields its confidence.
type phase uint8

const (
	eveningBusy   phase = iota
	eveningSteady       // and the next two
	rest          = eveningSteady + ways
	risen         = rest + ways
	morningBusy   = risen + 1
	morningSteady = morningBusy + 1
	phases        = morningSteady + ways
)

// ways is the number of levels at which a still home can appear: those below some.
const ways = 3

// level is the amount of motion in a minute, by its mean intensity.
type level uint8

const (
	noMotion level = iota
	faint          // up to 0.05: single moments, or somebody sits
	little         // up to 0.15: somebody turns over
	some           // up to 0.35
	much           // somebody walks about
	levels
	noLevel level = levels // unknown
)

// levelOf returns the level of a mean intensity, 0..1.
func levelOf(intensity Value) level {
	switch {
	case !intensity.Known():
		return noLevel
	case intensity == 0:
		return noMotion
	case intensity <= 0.05:
		return faint
	case intensity <= 0.15:
		return little
	case intensity <= 0.35:
		return some
	}
	return much
}

// whileBusy holds the probabilities of the levels while somebody moves about.
var whileBusy = [levels]float64{0.02, 0.08, 0.2, 0.35, 0.35}

// Probabilities of movements while nobody moves about: people who sit fetch something now and
// then, people who sleep turn over and seldom get up. Any other minute has the level of the
// way with probability asUsual, and otherwise another of the lower levels.
const (
	steadySome, steadyMuch = 0.03, 0.01
	restSome, restMuch     = 0.03, 0.005
	asUsual                = 0.85
)

// Changes of the household: mean lengths in minutes.
const (
	meanBusy    = 15.0
	meanSteady  = 90.0
	meanWay     = 60.0 // until another way
	meanRestful = 180.0
	meanRisen   = 8.0
	usualSpread = 25.0  // mean deviation of going to bed and getting up from the configured times
	noNight     = 0.001 // weight of a night in which nobody sleeps there, relative to 1 for a night
)

// anyWay is the number of minutes of each way to assume in the middle of a night, in addition to
// those observed.
const anyWay = 1.0

// witness is the weight of the evidence of one minute. It is below 1 because consecutive minutes
// are not independent.
const witness = 0.5

// sight is the data of each minute of a night's window.
type sight struct {
	levels  []level
	away    []bool // the household is known to be away
	bed, up int    // minutes of the configured sleep and wake time
}

// chances returns the probability of each minute's level in each phase.
func (s sight) chances() []weights {
	var looks [levels + 1]weights
	for l := range levels {
		busy := math.Pow(whileBusy[l], witness)
		looks[l][eveningBusy], looks[l][risen], looks[l][morningBusy] = busy, busy, busy
		for way := range level(ways) {
			steady := math.Pow(still(way, l, steadySome, steadyMuch), witness)
			looks[l][eveningSteady+phase(way)], looks[l][morningSteady+phase(way)] = steady, steady
			looks[l][rest+phase(way)] = math.Pow(still(way, l, restSome, restMuch), witness)
		}
	}
	for p := range looks[noLevel] {
		looks[noLevel][p] = 1
	}
	chances := make([]weights, len(s.levels))
	for t, l := range s.levels {
		if s.away[t] {
			l = noLevel
		}
		if chances[t] = looks[l]; s.away[t] {
			for p := rest; p <= risen; p++ {
				chances[t][p] = 0
			}
		}
	}
	return chances
}

// still returns the probability of a level while nobody moves about, for a way and the given
// probabilities of the two upper levels.
func still(way, l level, ofSome, ofMuch float64) float64 {
	switch lower := 1 - ofSome - ofMuch; {
	case l == some:
		return ofSome
	case l == much:
		return ofMuch
	case l == way:
		return asUsual * lower
	default:
		return (1 - asUsual) / (ways - 1) * lower
	}
}

// change holds the probabilities that a phase follows another from one minute to the next:
// change[from][to].
type change [phases]weights

// course holds the probabilities of the changes during a night.
type course struct {
	always    change
	beds, ups []float64     // of going to bed and of getting up, per minute
	restWays  [ways]float64 // of each way at rest
}

// changes returns the course of the night.
func (s sight) changes() course {
	c := course{beds: likely(len(s.levels), s.bed), ups: likely(len(s.levels), s.up), restWays: s.restWays()}
	for t, l := range s.levels {
		if t == 0 || s.levels[t-1] == noMotion {
			c.beds[t] = 0 // going to bed takes movement
		}
		if l == noMotion {
			c.ups[t] = 0
		}
	}
	even := [ways]float64{1. / ways, 1. / ways, 1. / ways}
	for _, part := range []struct {
		moving, still phase
		moves, stays  float64
		ways          [ways]float64
	}{
		{eveningBusy, eveningSteady, meanBusy, meanSteady, even},
		{morningBusy, morningSteady, meanBusy, meanSteady, even},
		{risen, rest, meanRisen, meanRestful, c.restWays},
	} {
		c.always[part.moving][part.moving] = 1 - 1/part.moves
		for way := range phase(ways) {
			from := part.still + way
			c.always[part.moving][from] = part.ways[way] / part.moves
			for other := range phase(ways) {
				c.always[from][part.still+other] = part.ways[other] / meanWay
			}
			c.always[from][from] += 1 - 1/part.stays - 1/meanWay
			c.always[from][part.moving] = 1 / part.stays
		}
	}
	return c
}

// restWays returns the share of each way in the middle half of the configured night.
func (s sight) restWays() (shares [ways]float64) {
	total := 0.0
	for way := range shares {
		shares[way] = anyWay
		total += anyWay
	}
	quarter := (s.up - s.bed) / 4
	for t := s.bed + quarter; t < s.up-quarter; t++ {
		if l := s.levels[t]; l < ways && !s.away[t] {
			shares[l]++
			total++
		}
	}
	for way := range shares {
		shares[way] /= total
	}
	return shares
}

// into returns the change into minute t.
func (c course) into(t int) *change {
	now := c.always
	for way := range phase(ways) {
		for up := eveningBusy; up < rest; up++ { // from a seat it may be a few steps
			now[up][rest+way] = c.beds[t] * c.restWays[way]
		}
		now[rest+way][morningBusy] = c.ups[t]
	}
	return &now
}

// likely returns the probability of each of n minutes for what usually happens at minute usual;
// the sum is 1.
func likely(n, usual int) []float64 {
	p, total := make([]float64, n), 0.0
	for t := range p {
		p[t] = math.Exp(-math.Abs(float64(t-usual)) / usualSpread)
		total += p[t]
	}
	for t := range p {
		p[t] /= total
	}
	return p
}
