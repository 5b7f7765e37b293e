package series

import "fmt"

// Tier is a resolution. Its number is its step in seconds: one row covers
// [ts, ts+step), and ts is a multiple of the step.
type Tier int64

// The tiers, finest first. Each step divides the next one, and so does each span.
const (
	Second      Tier = 1   // live frames; blocks of 10 minutes
	FiveSeconds Tier = 5   // motion-history messages and sums of seconds; blocks of 1 hour
	Minute      Tier = 60  // sums; blocks of 6 hours
	QuarterHour Tier = 900 // sums; blocks of 4 days
)

// maxRows bounds the rows of a block of any tier.
const maxRows = 1024

// Tiers returns all tiers, finest first.
func Tiers() []Tier { return []Tier{Second, FiveSeconds, Minute, QuarterHour} }

// Coarser returns the tier whose rows sum up those of t; ok is false for the
// coarsest.
func (t Tier) Coarser() (coarser Tier, ok bool) {
	switch t {
	case Second:
		return FiveSeconds, true
	case FiveSeconds:
		return Minute, true
	case Minute:
		return QuarterHour, true
	}
	return 0, false
}

// Step returns the seconds that one row covers.
func (t Tier) Step() int64 { return int64(t) }

// Span returns the seconds that one block covers, 0 for an unknown tier.
func (t Tier) Span() int64 {
	switch t {
	case Second:
		return 600
	case FiveSeconds:
		return 3600
	case Minute:
		return 6 * 3600
	case QuarterHour:
		return 4 * 24 * 3600
	}
	return 0
}

// Rows returns the number of rows of a block, 0 for an unknown tier.
func (t Tier) Rows() int { return int(t.Span() / max(t.Step(), 1)) }

// BlockStart returns the first second of the block that holds second ts.
func (t Tier) BlockStart(ts int64) int64 { return floorTo(ts, t.Span()) }

// String returns the step, such as "5s".
func (t Tier) String() string { return fmt.Sprintf("%ds", int64(t)) }

// floorTo returns the greatest multiple of unit that is not above ts.
func floorTo(ts, unit int64) int64 {
	rest := ts % unit
	if rest < 0 {
		rest += unit
	}
	return ts - rest
}

// ceilTo returns the smallest multiple of unit that is not below ts.
func ceilTo(ts, unit int64) int64 { return -floorTo(-ts, unit) }
