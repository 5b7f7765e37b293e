package detect

import (
	"math"

	"sensegate/motion"
)

const (
	highRate     = 20.0 // frames/s from which coherence alone decides (HI mode)
	shortWindow  = 30.0 // frames/s from which a window of one second suffices
	nominalSlack = 0.95 // share of a nominal rate that meets it
	deadBand     = 0.10
	settleTicks  = 40  // 10 s outside the dead band change the rate
	steadyTicks  = 480 // two minutes, over which the mean interval is taken
)

// pace measures the nominal frame rate of a link, which selects its window and mode (step 3).
// It uses up to 2.5 s of arrivals and changes only after ten seconds outside the dead band.
type pace struct {
	rate   float64 // nominal, frames/s; 0 = not known yet
	counts [maxBlocks]int
	oldest [maxBlocks]motion.Time
	blocks int // filled
	at     int // being filled
	newest motion.Time

	beyond int     // ticks in a row outside the band
	sum    float64 // of the rates of these ticks

	interval motion.Seconds // mean; jitter does not change it, and each lost frame counts
	averaged int            // ticks in it, at most steadyTicks
}

// arrive counts a frame.
func (p *pace) arrive(t motion.Time) {
	if p.counts[p.at] == 0 {
		p.oldest[p.at] = t
	}
	p.counts[p.at]++
	p.newest = t
}

// close ends a block.
func (p *pace) close() {
	p.at = (p.at + 1) % maxBlocks
	p.blocks = min(p.blocks+1, maxBlocks-1)
	p.counts[p.at] = 0
}

// clear forgets the arrivals but not the rate.
func (p *pace) clear() { *p = pace{rate: p.rate, interval: p.interval, averaged: p.averaged} }

// set changes the rate to one that was measured for a while.
func (p *pace) set(rate float64) { p.rate, p.interval, p.averaged = rate, 1/rate, settleTicks }

// measure returns the frames/s of the arrivals held, or 0 for fewer than minWindow. Call it
// when a block is complete, before close.
func (p *pace) measure() float64 {
	frames, oldest := 0, p.newest
	for age := p.blocks; age >= 0; age-- {
		b := (p.at - age + maxBlocks) % maxBlocks
		if frames == 0 && p.counts[b] > 0 {
			oldest = p.oldest[b]
		}
		frames += p.counts[b]
	}
	span := p.newest.Since(oldest)
	if frames < minWindow || span <= 0 {
		return 0
	}
	return float64(frames-1) / span
}

// settle updates the nominal rate with the arrivals held.
func (p *pace) settle() {
	now := p.measure()
	if now > 0 {
		p.averaged = min(p.averaged+1, steadyTicks)
		p.interval += (1/now - p.interval) / float64(p.averaged)
	}
	switch {
	case now == 0:
	case p.rate == 0:
		p.rate = now
	case now > p.rate*(1+deadBand) || now < p.rate*(1-deadBand):
		p.beyond++
		p.sum += now
		if p.beyond < settleTicks {
			return
		}
		p.set(p.sum / float64(p.beyond))
	}
	p.beyond, p.sum = 0, 0
}

// coherent reports whether the link is in HI mode.
func (p *pace) coherent() bool { return p.rate >= highRate*nominalSlack }

// windowBlocks returns the length of the window in ticks, always even.
func (p *pace) windowBlocks() int {
	switch {
	case p.rate >= shortWindow*nominalSlack:
		return 4 // 1.0 s
	case p.coherent():
		return 6 // 1.5 s
	default:
		return maxBlocks // 2.5 s
	}
}

// lags returns how many lags of the mean interval fit in the span, not as a whole number: 1 to
// maxLag.
func (p *pace) lags(span motion.Seconds) float64 {
	return max(1, min(maxLag, span/p.interval))
}

// lags returns K of lm1.md 2 no. 4 for the newest n ≥ 2 frames: the number of their median
// intervals within the span.
func (w *window) lags(n int, span motion.Seconds) float64 {
	gaps := w.scratch.spare[:0]
	for f := w.next - n + 1; f < w.next; f++ {
		gaps = append(gaps, w.times[f&w.mask].Since(w.times[(f-1)&w.mask]))
	}
	gap := median(gaps)
	if gap <= span/(maxLag+1) {
		return maxLag
	}
	// The addend allows for the resolution of time stamps at exactly 100 Hz.
	return max(1, min(maxLag, math.Floor(span/gap+1e-3)))
}
