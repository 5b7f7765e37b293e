package app

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// Points says how the points of a history are wanted.
type Points struct {
	Bucket int32 `query:"bucket" minimum:"1" maximum:"900" default:"900" doc:"Seconds per point; rounded up to a multiple of the stored resolution (1 s for 24 hours, then 5 s)" example:"900"`
	Last   int32 `query:"last" minimum:"0" maximum:"400" default:"0" doc:"Only so many points, the newest; 0: all of the window" example:"96"`
}

type densitiesIn struct {
	NetworkQuery
	api.Window
	Points
}

type intensitiesIn struct {
	NetworkQuery
	From float64 `query:"from" required:"true" doc:"Start, seconds since the epoch (UTC)" example:"1763913600"`
	To   float64 `query:"to" required:"true" doc:"End, not included, seconds since the epoch (UTC)" example:"1764000000"`
	Points
}

type historyOut struct {
	Bucket string `header:"X-Bucket-Seconds" doc:"Seconds per point, when that is more than bucket asks for"`
	Body   api.Pieces[api.Series]
}

func (a *App) densities(ctx context.Context, who auth.Member, in *densitiesIn) (*historyOut, error) {
	if in.Last > 0 && !in.From.Set {
		end := in.To.Or(float64(a.Engine.State.Now()))
		in.From = api.Opt[float64]{Value: end - float64(in.Last)*float64(in.Bucket), Set: true}
	}
	return a.history(ctx, who, series.Density, in.Window, in.Points)
}

func (a *App) intensities(ctx context.Context, who auth.Member, in *intensitiesIn) (*historyOut, error) {
	window := api.Window{From: api.Opt[float64]{Value: in.From, Set: true}, To: api.Opt[float64]{Value: in.To, Set: true}}
	return a.history(ctx, who, series.Intensity, window, in.Points)
}

// history answers a query for one measure, written straight from the stored samples,
// with nothing of before the home was claimed (payloads.md 5.4).
func (a *App) history(ctx context.Context, who auth.Member, measure series.Measure, window api.Window, p Points) (*historyOut, error) {
	from, to, err := window.Seconds(float64(a.Engine.State.Now()))
	if err != nil {
		return nil, err
	}
	from = since(who, from)
	if mistakes := api.TooMany(1, from, to, p.Bucket, "bucket"); mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	set, err := a.Engine.State.SamplesFor(ctx, who.Network, from, to, int64(p.Bucket), series.Network)
	if err != nil {
		return nil, err
	}
	query := series.Query{Series: series.Network, Measure: measure, From: from, To: to, Bucket: int64(p.Bucket)}
	var bucket int64
	out := &historyOut{}
	out.Body, err = api.Appended[api.Series](func(dst []byte) (json []byte, err error) {
		if p.Last == 0 {
			json, bucket, err = set.AppendJSON(dst, query)
		} else {
			json, bucket, err = appendNewest(dst, set, query, int(p.Last))
		}
		return json, err
	})
	if bucket > query.Bucket {
		out.Bucket = strconv.FormatInt(bucket, 10)
	}
	return out, err
}

// appendNewest appends the last points of a query, and returns the seconds between them as well.
func appendNewest(dst []byte, set *series.Set, query series.Query, last int) (json []byte, bucket int64, err error) {
	points, err := set.Points(query)
	if err != nil {
		return dst, 0, err
	}
	if first := points.Len() - last; first > 0 {
		_, ts, _ := points.At(first)
		points = points.Between(ts, query.To)
	}
	return points.AppendJSON(dst), points.Bucket, nil
}

// since returns the later of second from and the first second after a member's home was
// claimed: history begins there (interfaces.md 8 no. 4).
func since(who auth.Member, from int64) int64 {
	return max(from, int64(math.Ceil(float64(who.Since))))
}

type locationsIn struct {
	NetworkQuery
	api.Window
}

// locationHistogram is how the motion of one detection was spread over the home
// (payloads.md 5.4).
type locationHistogram struct {
	NetworkID home.ID         `json:"network_id" doc:"App Cloud network id" example:"17"`
	From      int64           `json:"from" doc:"Start, seconds since the epoch" example:"1764000000"`
	To        int64           `json:"to" doc:"End, not included, seconds since the epoch" example:"1764000121"`
	Data      []locationShare `json:"data" nullable:"false" doc:"The devices with motion near them, strongest first"`
}

// locationShare is the motion near one device.
type locationShare struct {
	Location     string  `json:"location" doc:"Empty: none, or it moves about" example:"Kitchen"`
	FriendlyName string  `json:"friendly_name" example:"Kitchen speaker"`
	MAC          string  `json:"mac" doc:"MAC address" example:"02:bb:00:00:00:31"`
	Percent      float64 `json:"percent" minimum:"0" maximum:"100" doc:"Of all motion of the window" example:"71.4"`
}

func (a *App) locationHistogram(ctx context.Context, who auth.Member, in *locationsIn) (*api.Answer[locationHistogram], error) {
	from, to, err := in.Seconds(float64(a.Engine.State.Now()))
	if err != nil {
		return nil, err
	}
	from = min(since(who, from), to)
	set, err := a.Engine.State.SamplesFor(ctx, who.Network, from, to, series.QuarterHour.Step())
	if err != nil {
		return nil, err
	}
	shares, err := set.Locations(from, to)
	if err != nil {
		return nil, err
	}
	topology, err := a.Engine.Inventory.Topology(who.Network, true)
	devices := map[string]motion.TopologyDevice{}
	for _, d := range topology.Devices {
		for _, mac := range d.MACs {
			devices[mac] = d
		}
	}
	out := &api.Answer[locationHistogram]{Body: locationHistogram{NetworkID: who.Home, From: from, To: to, Data: make([]locationShare, len(shares))}}
	for i, percent := range insight.Split(shares) {
		mac := shares[i].MAC.String()
		d := devices[mac]
		out.Body.Data[i] = locationShare{d.Location, cmp.Or(d.FriendlyName, d.Name, mac), mac, percent}
	}
	return out, err
}
