package api

import (
	"context"
	"net/url"

	"sensegate/motion/fault"
)

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
	query, err := url.ParseQuery(exchangeOf(ctx).query)
	if err != nil {
		return Paged{}
	}
	query.Del("token")
	query.Del("access_token") // no parameter of ours, and a secret all the same
	query.Set("after", id)
	return Paged{Link: "<?" + query.Encode() + `>; rel="next"`}
}
