package core

import (
	"context"
	"encoding/json"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/insights"
	"sensegate/motion/fault"
	"sensegate/motion/insight"
)

type insightsVersion struct {
	Version string `json:"version" doc:"Of the insights interface" example:"2.0.0"`
}

func (c *Core) insightsVersion(context.Context, auth.Key, *struct{}) (*api.Answer[insightsVersion], error) {
	return api.Answered(insightsVersion{insights.InsightsVersion}, c.engine.Insights.Insights())
}

// zone is a time zone by its IANA name.
type zone struct{ *time.Location }

// UnmarshalText reads the name.
func (z *zone) UnmarshalText(name []byte) (err error) {
	z.Location, err = insights.LoadZone(string(name))
	return err
}

// date is a calendar day.
type date struct{ insight.Date }

type activityIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	api.ActivityWindow
	Timezone api.Opt[zone] `query:"timezone" maxLength:"64" doc:"IANA name of the zone whose midnights part the days; default: that of the application settings, else UTC" example:"America/Toronto"`
}

type activityOut struct {
	Body api.Encoded[api.Either[api.DailyActivity, api.FlatActivity]]
}

func (c *Core) activity(ctx context.Context, _ auth.Key, in *activityIn) (*activityOut, error) {
	if err := c.insightsOf(in.Network); err != nil {
		return nil, err
	}
	from, to, err := in.Seconds(float64(c.engine.State.Now()), insights.MaxInsightDays)
	if err != nil {
		return nil, err
	}
	flat, zone, err := c.engine.Insights.Activity(ctx, in.Network, from, to, in.Timezone.Value.Location)
	if err != nil {
		return nil, err
	}
	var answer any = flat
	if !in.Flattened {
		answer = flat.Days(zone)
	}
	body, err := json.Marshal(answer)
	return &activityOut{Body: body}, err
}

// insightsOf answers 404 for an unknown network, and when there are no insights.
func (c *Core) insightsOf(id motion.NetworkID) error {
	if err := c.engine.Insights.Insights(); err != nil {
		return err
	}
	return c.engine.State.Known(id)
}

// Dates are the local days of a question.
type Dates struct {
	StartDate date          `query:"start_date" required:"true" format:"date" doc:"First local day" example:"2025-11-23"`
	EndDate   date          `query:"end_date" required:"true" format:"date" doc:"Last local day, included" example:"2025-11-24"`
	Timezone  api.Opt[zone] `query:"timezone" maxLength:"64" doc:"IANA name of the zone the days are of; default: that of the application settings, else UTC" example:"America/Toronto"`
}

// atMost checks the order and the number of the days.
func (d Dates) atMost(days int64) error {
	switch n := int64(d.EndDate.Date) - int64(d.StartDate.Date) + 1; {
	case n < 1:
		return fault.At("query.end_date", d.EndDate.String(), "must not be before start_date")
	case n > days:
		return fault.At("query.end_date", d.EndDate.String(), "gives %d days, more than the %d of one answer; ask again from %s on", n, days, d.StartDate.Date+insight.Date(days))
	}
	return nil
}

type daysIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Dates
}

// activeDay is how active a local day was (payloads.md 4.9).
type activeDay struct {
	Date          string  `json:"date" format:"date" doc:"Local day; one without data is left out" example:"2025-11-24"`
	PercentActive float64 `json:"percent_active" minimum:"0" maximum:"100" doc:"Percent of the minutes with data that were in motion" example:"10.27"`
	TS            int64   `json:"ts" doc:"First second of the day, since the epoch" example:"1763960400"`
}

func (c *Core) dailyActivity(ctx context.Context, _ auth.Key, in *daysIn) (*api.AnswerList[activeDay], error) {
	if err := c.insightsOf(in.Network); err != nil {
		return nil, err
	}
	if err := in.atMost(insights.MaxInsightDays); err != nil {
		return nil, err
	}
	days, err := c.engine.Insights.ActiveDays(ctx, in.Network, in.StartDate.Date, in.EndDate.Date, in.Timezone.Value.Location)
	out := &api.AnswerList[activeDay]{Body: make([]activeDay, len(days))}
	for i, d := range days {
		out.Body[i] = activeDay{d.Date.String(), d.PercentActive, d.TS}
	}
	return out, err
}

// night is the household sleep time (HST) of one night (payloads.md 4.9). Beside
// the known fields stands how much it can be relied on.
type night struct {
	Interruptions int32     `json:"hst_interruptions" doc:"How often somebody was up for 2 minutes or more in between; those less than 10 minutes apart count once" example:"3"`
	SleepTime     time.Time `json:"sleep_time" doc:"When the household went to rest" example:"2025-11-23T22:53:00-05:00"`
	WakeTime      time.Time `json:"wake_time" doc:"When it got up" example:"2025-11-24T06:28:00-05:00"`
	Timezone      string    `json:"timezone" doc:"IANA name" example:"America/Toronto"`
	Confidence    float64   `json:"confidence" minimum:"0" maximum:"1" doc:"How likely it is, by the model of a night, that each time is off by at most 45 minutes; a night below 0.6 is left out" example:"0.87"`
}

func (c *Core) sleep(ctx context.Context, _ auth.Key, in *daysIn) (*api.AnswerList[night], error) {
	if err := c.insightsOf(in.Network); err != nil {
		return nil, err
	}
	if err := in.atMost(insights.MaxNights); err != nil {
		return nil, err
	}
	nights, err := c.engine.Insights.Nights(ctx, in.Network, in.StartDate.Date, in.EndDate.Date, in.Timezone.Value.Location)
	out := &api.AnswerList[night]{Body: make([]night, len(nights))}
	for i, n := range nights {
		out.Body[i] = night{int32(n.Interruptions), n.SleepTime, n.WakeTime, n.Timezone, n.Confidence}
	}
	return out, err
}
