package browser

import (
	"context"
	"math"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/insight"
)

const (
	daysShown   = 30 // the present day included
	nightsShown = 30
)

// activeDay is how active a local day was.
type activeDay struct {
	Date    insight.Date `json:"date" format:"date" doc:"Local day" example:"2025-11-24"`
	TS      int64        `json:"ts" doc:"Of its first second, or of the claim of the home if that is later" example:"1763960400"`
	Percent *float64     `json:"percent" nullable:"true" doc:"Percent of the time with data with motion; null: no data" example:"12.5"`
}

type daysOut struct {
	Body struct {
		Days []activeDay `json:"days" nullable:"false" doc:"Those since the home was claimed, at most 30, the present one last"`
	}
}

func (b *Browser) days(ctx context.Context, who auth.Member, _ *HomeQuery) (*daysOut, error) {
	settings, err := b.Engine.Insights.SleepSettings(ctx, who.Network)
	if err != nil {
		return nil, err
	}
	activity, err := b.Engine.Insights.RecentActivity(ctx, who.Network, daysShown-1, who.Since)
	if err != nil {
		return nil, err
	}
	out := &daysOut{}
	out.Body.Days = []activeDay{}
	for _, d := range activity.Days(zoneOf(settings.Timezone)).Data {
		day, sum, known := activeDay{Date: d.Date, TS: d.TS}, 0.0, 0.0
		for _, v := range d.Values {
			if v.Known() {
				sum, known = sum+float64(v), known+1
			}
		}
		if known > 0 {
			percent := math.Round(sum/known*1000) / 10
			day.Percent = &percent
		}
		out.Body.Days = append(out.Body.Days, day)
	}
	return out, nil
}

// pastNight is when the household rested in a night.
type pastNight struct {
	Date          insight.Date `json:"date" format:"date" doc:"Local day of the evening" example:"2025-11-23"`
	From          motion.Time  `json:"from" doc:"When the household went to rest" example:"1763958720"`
	To            motion.Time  `json:"to" doc:"When it got up" example:"1763985600"`
	Interruptions int          `json:"interruptions" doc:"How often somebody was up for 2 minutes or more in between" example:"2"`
}

type nightsOut struct {
	Body struct {
		Enabled     bool        `json:"enabled" doc:"Whether nights are looked at; the owner switches it with POST /sleep_times/settings of App Cloud"`
		SleepHour   int         `json:"sleep_hour" minimum:"0" maximum:"23" doc:"When the household usually goes to rest, on the clocks of its time zone" example:"23"`
		SleepMinute int         `json:"sleep_minute" minimum:"0" maximum:"59" doc:"Of sleep_hour" example:"0"`
		WakeHour    int         `json:"wake_hour" minimum:"0" maximum:"23" doc:"When it usually gets up" example:"7"`
		WakeMinute  int         `json:"wake_minute" minimum:"0" maximum:"59" doc:"Of wake_hour" example:"0"`
		Nights      []pastNight `json:"nights" nullable:"false" doc:"What is known of the last 30, the oldest first; one that nothing can be told of is left out"`
	}
}

func (b *Browser) nights(ctx context.Context, who auth.Member, _ *HomeQuery) (*nightsOut, error) {
	known, s, err := b.Engine.Insights.LastNights(ctx, who.Network, nightsShown, who.Since)
	if err != nil {
		return nil, err
	}
	out := &nightsOut{}
	out.Body.Enabled, out.Body.Nights = s.Enabled, []pastNight{}
	out.Body.SleepHour, out.Body.SleepMinute, out.Body.WakeHour, out.Body.WakeMinute = s.SleepHour, s.SleepMinute, s.WakeHour, s.WakeMinute
	for _, n := range known {
		out.Body.Nights = append(out.Body.Nights, pastNight{n.Date, motion.TimeOf(n.SleepTime), motion.TimeOf(n.WakeTime), n.Interruptions})
	}
	return out, nil
}
