package fuse

import (
	"math"
	"slices"
)

// A fan whose head swings reaches a link's threshold at one rhythm for as long as it is on. It stands near one link or two, and
// what it does to them is small. Who walks to and fro can be as regular, but moves at least three links, or all.
const (
	rhythmSpan   = 480 // samples of half a second, four minutes
	rhythmLook   = 60  // samples between two looks
	rhythmLeast  = 3   // shortest period looked at, in samples
	rhythmFrom   = 12  // shortest period of a fan: breath takes 3 to 5 s, and a stroke of an oar 2 to 3
	rhythmTo     = 80  // longest one: three of them are in rhythmFar
	rhythmFar    = 240 // how far it is followed, in samples
	rhythmBegins = 0.75
	rhythmEnds   = 0.5

	fullReach = 4   // times the threshold, above which a sample is no higher
	beyond    = 1.5 // times the most of the rhythm is somebody else
	fanLinks  = 2   // links that a fan is near, at most
)

// rhythm tells whether what a link shows comes and goes at one rhythm.
type rhythm struct {
	reached [rhythmSpan]uint8 // the share of its threshold that the link reached, in parts of 255 of fullReach; a ring
	at      int64             // newest sample, in half seconds since the epoch
	kept    bool
	most    float64 // that it reached in the span, at the last look
}

// add takes the share of its threshold that a link reaches at tick k. A sample is the greater of its two ticks; one
// without data is 0.
func (r *rhythm) add(k int64, reach float64) {
	at := k / 2
	if at < r.at { // the clock was set back
		*r = rhythm{}
	}
	for ; r.at < at; r.at++ {
		if at-r.at > rhythmSpan {
			r.at = at - rhythmSpan
		}
		r.reached[(r.at+1)%rhythmSpan] = 0
		if r.at%rhythmLook == 0 {
			r.look()
		}
	}
	now := &r.reached[at%rhythmSpan]
	*now = max(*now, uint8(255*unit(reach/fullReach)))
}

// look decides whether there is a rhythm in the last samples.
func (r *rhythm) look() {
	least := rhythmBegins
	if r.kept {
		least = rhythmEnds
	}
	r.most = float64(slices.Max(r.reached[:])) / 255 * fullReach
	r.kept = r.most >= 1 && r.prominence() >= least
}

// prominence returns how far the autocorrelation at the best period, and at each multiple of it up to rhythmFar, is above the
// lowest one on the way there, 0 to 2. What moves and rests now and then has high ones too, but no low ones between. It is 0 where
// a shorter period than a fan's has half as much: the best one is a multiple of it.
func (r *rhythm) prominence() float64 {
	var series [rhythmSpan]float64
	mean := 0.0
	for i := range series {
		series[i] = float64(r.reached[(int(r.at)+1+i)%rhythmSpan])
		mean += series[i] / rhythmSpan
	}
	for i := range series {
		series[i] -= mean
	}
	var like [rhythmFar + 1]float64 // autocorrelation, by lag
	for lag := range like {
		for i := range rhythmSpan - lag {
			like[lag] += series[i] * series[i+lag]
		}
		like[lag] *= rhythmSpan / float64(rhythmSpan-lag)
	}
	short, best := 0.0, 0.0
	for period := rhythmLeast; period <= rhythmTo; period++ {
		height := follow(&like, float64(period))
		if period < rhythmFrom {
			short = max(short, height)
		}
		best = max(best, height)
	}
	if short > best/2 {
		return 0
	}
	return best / max(like[0], 1)
}

// follow returns the least height of the peaks at a period and its multiples above the lowest value before each. The
// period is made exact on the way.
func follow(like *[rhythmFar + 1]float64, period float64) float64 {
	least, last := math.Inf(1), 0
	for n := 1; ; n++ {
		near := int(math.Round(period * float64(n)))
		if near >= rhythmFar {
			return least
		}
		peak := near
		for _, i := range []int{near - 1, near + 1} {
			if like[i] > like[peak] {
				peak = i
			}
		}
		if peak <= last {
			return 0
		}
		least = min(least, like[peak]-slices.Min(like[last:peak]))
		period, last = float64(peak)/float64(n), peak
	}
}
