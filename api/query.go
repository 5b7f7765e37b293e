package api

import (
	"context"
	"fmt"
	"math"
	"net/url"

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

// Page says which part of a history of events is wanted (payloads.md 6 no. 12).
type Page struct {
	From  Opt[float64] `query:"from" doc:"Only events after this time, seconds since the epoch: that of the newest record the client has. Without to, the oldest such events are returned, so that paging forward loses nothing" example:"1763996400.5"`
	To    Opt[float64] `query:"to" doc:"Only events before this time, seconds since the epoch: that of the oldest record the client has" example:"1764000000.5"`
	After string       `query:"after" doc:"Cursor: goes on after the record with this id, towards newer ones where from is given without to, otherwise towards older ones. The Link header of an answer carries it"`
}

// Paged is the header of an answer that is a page.
type Paged struct {
	Link string `header:"Link" doc:"Where the next page is, rel=\"next\" (RFC 8288), when this one is full. Its address is relative to that of the request, without token"`
}

// Check returns an Invalid fault when from is after to.
func (p Page) Check() error {
	if p.From.Set && p.To.Set && p.From.Value > p.To.Value {
		return fault.Mistakes(fault.Detail{Location: "query.from", Message: "must not be after to", Value: p.From.Value})
	}
	return nil
}

// Forward reports whether the page goes towards newer records.
func (p Page) Forward() bool { return p.From.Set && !p.To.Set }

// Next returns the header of a full page for the request of ctx: the address of the page
// after it. first and last are the ids of its first and its last record; ascending says that
// its records are the oldest first.
func (p Page) Next(ctx context.Context, ascending bool, first, last string) Paged {
	if p.Forward() != ascending { // the page was turned round
		return nextPage(ctx, first)
	}
	return nextPage(ctx, last)
}

// nextPage returns the header that goes on after the record with the id.
func nextPage(ctx context.Context, id string) Paged {
	raw := ""
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		raw = r.http.URL.RawQuery
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return Paged{}
	}
	query.Del("token")
	query.Del("access_token") // no parameter of ours, and a secret all the same
	query.Set("after", id)
	return Paged{Link: "<?" + query.Encode() + `>; rel="next"`}
}
