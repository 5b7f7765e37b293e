package api

import (
	"fmt"
	"math"

	"sensegate/motion/fault"
)

// maxPoints bounds the points of one history answer (payloads.md 1).
const maxPoints = 130_000

// day is the window of a history that says no start, in seconds.
const day = 24 * 3600

// Window is the stretch of time of a history query.
type Window struct {
	From Opt[float64] `query:"from" doc:"Start, seconds since the epoch (UTC); default: 24 h before to" example:"1763913600"`
	To   Opt[float64] `query:"to" doc:"End, not included, seconds since the epoch (UTC); default: now" example:"1764000000"`
}

// Seconds returns the whole seconds [from, to) that the window covers; now is the
// time in seconds since the epoch. Invalid: from is after to.
func (w Window) Seconds(now float64) (from, to int64, err error) {
	return seconds(w.From, w.To, now, "from", "to")
}

// seconds returns the whole seconds between two parameters.
func seconds(first, last Opt[float64], now float64, firstName, lastName string) (from, to int64, err error) {
	end := last.Or(now)
	start := first.Or(end - day)
	if start > end {
		return 0, 0, fault.Mistakes(fault.Detail{Location: "query." + firstName, Message: "must not be after " + lastName, Value: start})
	}
	if start == end { // and no second of it
		end = math.Floor(end)
	}
	return clampSecond(math.Floor(start)), clampSecond(math.Ceil(end)), nil
}

// clampSecond bounds a time to what samples can have: 0 to 2^32 s.
func clampSecond(s float64) int64 { return int64(min(max(s, 0), 1<<32)) }

// TooMany says what is wrong with a query parameter for the seconds of a bucket when
// so many lists of points, one for each bucket that [from, to) touches, are more than
// one answer may have; it names the smallest that fits. nil: nothing.
func TooMany(lists, from, to int64, bucket int32, parameter string) []fault.Detail {
	most := maxPoints / min(max(lists, 1), maxPoints/2) // any window touches 2 buckets of a sufficient size at most
	if pointsOf(from, to, int64(bucket)) <= most {
		return nil
	}
	fits := max((to-from)/most, int64(bucket)+1)
	for pointsOf(from, to, fits) > most {
		fits++
	}
	return []fault.Detail{{
		Location: "query." + parameter, Value: bucket,
		Message: fmt.Sprintf("gives more than %d points; the smallest %s that fits is %d", maxPoints, parameter, fits),
	}}
}

// pointsOf returns the number of buckets, aligned to multiples of bucket, that
// [from, to) touches.
func pointsOf(from, to, bucket int64) int64 {
	if from >= to {
		return 0
	}
	return (to-1)/bucket - from/bucket + 1
}
