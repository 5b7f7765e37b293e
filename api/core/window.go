package core

import (
	"fmt"
	"math"

	"sensegate/api"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// maxPoints bounds the points of one history answer (payloads.md section 1).
const maxPoints = 130_000

// day is the window of a history that says no from, in seconds.
const day = 24 * 3600

// Window is the stretch of time of a history query.
type Window struct {
	From api.Opt[float64] `query:"from" doc:"Start, seconds since the epoch (UTC); default: 24 h before to" example:"1763913600"`
	To   api.Opt[float64] `query:"to" doc:"End, not included, seconds since the epoch (UTC); default: now" example:"1764000000"`
}

// seconds returns the whole seconds [from, to) that the window covers.
func (w Window) seconds(now motion.Time) (from, to int64, err error) {
	end := w.To.Or(float64(now))
	start := w.From.Or(end - day)
	if start > end {
		return 0, 0, invalid(fault.Detail{Location: "query.from", Message: "must not be after to", Value: start})
	}
	return clampSecond(math.Floor(start)), clampSecond(math.Ceil(end)), nil
}

// clampSecond bounds a time to what samples can have: 0 to 2^32 s.
func clampSecond(s float64) int64 { return int64(min(max(s, 0), 1<<32)) }

// invalid is the answer to input that is against a rule.
func invalid(mistakes ...fault.Detail) error {
	return &fault.Error{Kind: fault.Invalid, Message: "request is not valid", Details: mistakes}
}

// tooMany says what is wrong with a bucket that gives more points than one answer
// may have, and names the smallest that fits.
func tooMany(from, to int64, bucket int32, parameter string) []fault.Detail {
	return tooManyOf(1, from, to, bucket, parameter)
}

// tooManyOf is tooMany for an answer with several lists of points.
func tooManyOf(lists, from, to int64, bucket int32, parameter string) []fault.Detail {
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
