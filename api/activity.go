package api

import (
	"fmt"

	"sensegate/motion/fault"
)

// ActivityWindow says which activity is wanted, and in which form (payloads.md 4.9).
type ActivityWindow struct {
	StartTime Opt[float64] `query:"start_time" doc:"Start, seconds since the epoch (UTC); default: 24 h before end_time; at most 92 days before it" example:"1763960400"`
	EndTime   Opt[float64] `query:"end_time" doc:"End, not included, seconds since the epoch (UTC); default: now" example:"1764046800"`
	Flattened bool         `query:"flattened" default:"false" doc:"One list of values; otherwise a list for each local day"`
}

// Seconds returns the whole seconds [from, to) that are asked for, at most so many
// days; now is the time in seconds since the epoch.
func (w ActivityWindow) Seconds(now float64, days int64) (from, to int64, err error) {
	from, to, err = seconds(w.StartTime, w.EndTime, now, "start_time", "end_time")
	if err == nil && to-from > days*day {
		err = fault.Mistakes(fault.Detail{
			Location: "query.start_time", Value: w.StartTime.Value,
			Message: fmt.Sprintf("must not be more than %d days before end_time", days),
		})
	}
	return from, to, err
}

// FlatActivity is activity for the document, in one list.
type FlatActivity struct {
	FirstBucket int64  `json:"first_bucket" doc:"Start of the first bucket, seconds since the epoch; a multiple of interval" example:"1763960400"`
	Interval    int64  `json:"interval" doc:"Seconds of a bucket" example:"900"`
	Data        Values `json:"data" doc:"Activity level of each bucket, 0 to 1: the share of its 5 s samples with motion; null: no data"`
}

// DailyActivity is activity for the document, by local days.
type DailyActivity struct {
	FirstBucket int64         `json:"first_bucket" doc:"Start of the first bucket, seconds since the epoch; a multiple of interval" example:"1763960400"`
	Interval    int64         `json:"interval" doc:"Seconds of a bucket" example:"900"`
	Data        []ActivityDay `json:"data" nullable:"false" doc:"The local days, in order"`
}

// ActivityDay is the activity of a local day.
type ActivityDay struct {
	Date   string `json:"date" format:"date" doc:"Local day" example:"2025-11-24"`
	TS     int64  `json:"ts" doc:"Start of the day's first bucket, seconds since the epoch" example:"1763960400"`
	Values Values `json:"values" doc:"Activity level of each bucket, 0 to 1; null: no data"`
}
