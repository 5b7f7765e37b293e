package core

import (
	"context"
	"strconv"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/series"
)

type historyIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	api.Window
	Bucket int32 `query:"bucket" minimum:"1" default:"3600" doc:"Seconds per point; rounded up to a multiple of the stored resolution (1 s for 24 hours, then 5 s)" example:"3600"`
}

type historyOut struct {
	Bucket string `header:"X-Bucket-Seconds" doc:"Seconds per point, when that is more than bucket asks for"`
	Body   api.Pieces[api.Series]
}

// history answers queries for one measure of a network (payloads.md 4.6), written straight
// from the stored samples.
func (c *Core) history(measure series.Measure) func(context.Context, auth.Key, *historyIn) (*historyOut, error) {
	return func(ctx context.Context, _ auth.Key, in *historyIn) (*historyOut, error) {
		if err := c.engine.State.Known(in.Network); err != nil {
			return nil, err
		}
		from, to, err := in.Seconds(float64(c.engine.State.Now()))
		if err != nil {
			return nil, err
		}
		if mistakes := api.TooMany(1, from, to, in.Bucket, "bucket"); mistakes != nil {
			return nil, fault.Mistakes(mistakes...)
		}
		set, err := c.engine.State.SamplesFor(ctx, in.Network, from, to, int64(in.Bucket), series.Network)
		if err != nil {
			return nil, err
		}
		query := series.Query{Series: series.Network, Measure: measure, From: from, To: to, Bucket: int64(in.Bucket)}
		var bucket int64
		out := &historyOut{}
		out.Body, err = api.Appended[api.Series](func(dst []byte) (json []byte, err error) {
			json, bucket, err = set.AppendJSON(dst, query)
			return json, err
		})
		if bucket > query.Bucket {
			out.Bucket = strconv.FormatInt(bucket, 10)
		}
		return out, err
	}
}
