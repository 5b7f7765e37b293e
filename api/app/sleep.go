package app

import (
	"context"
	"encoding/json"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/insights"
	"sensegate/motion/insight"
)

// sleepSettings are when a household sleeps (interfaces.md 2.4 no. 1), on the clocks of
// its time zone.
type sleepSettings struct {
	Enabled     bool  `json:"enabled" doc:"Whether nights are looked at; false: no sleep is told"`
	SleepHour   int32 `json:"sleep_hour" minimum:"0" maximum:"23" doc:"On the clocks of the home's time zone" example:"23"`
	SleepMinute int32 `json:"sleep_minute" minimum:"0" maximum:"59" example:"0" doc:"Of sleep_hour"`
	WakeHour    int32 `json:"wake_hour" minimum:"0" maximum:"23" doc:"On the clocks of the home's time zone" example:"7"`
	WakeMinute  int32 `json:"wake_minute" minimum:"0" maximum:"59" example:"0" doc:"Of wake_hour"`
}

func sleepSettingsOf(s motion.ApplicationSettings) sleepSettings {
	return sleepSettings{s.Enabled, int32(s.SleepHour), int32(s.SleepMinute), int32(s.WakeHour), int32(s.WakeMinute)}
}

func (a *App) sleepSettings(ctx context.Context, who auth.Member, _ *NetworkQuery) (*api.Answer[sleepSettings], error) {
	s, err := a.Engine.Insights.SleepSettings(ctx, who.Network)
	return api.Answered(sleepSettingsOf(s), err)
}

type setSleepIn struct {
	NetworkQuery
	Body struct {
		BodyNetwork
		Enabled     bool `json:"enabled" doc:"Whether nights are looked at; false: no sleep is told"`
		SleepHour   *int `json:"sleep_hour,omitempty" minimum:"0" maximum:"23" doc:"On the clocks of the home's time zone; default: as it is" example:"23"`
		SleepMinute *int `json:"sleep_minute,omitempty" minimum:"0" maximum:"59" example:"0" doc:"Of sleep_hour"`
		WakeHour    *int `json:"wake_hour,omitempty" minimum:"0" maximum:"23" doc:"On the clocks of the home's time zone; default: as it is" example:"7"`
		WakeMinute  *int `json:"wake_minute,omitempty" minimum:"0" maximum:"59" example:"0" doc:"Of wake_hour"`
	}
}

func (a *App) setSleepSettings(ctx context.Context, who auth.Owner, in *setSleepIn) (*api.Answer[sleepSettings], error) {
	s, err := a.Engine.Insights.ChangeSleepSettings(ctx, who.Network, func(s *motion.ApplicationSettings) {
		s.Enabled = in.Body.Enabled
		set(&s.SleepHour, in.Body.SleepHour)
		set(&s.SleepMinute, in.Body.SleepMinute)
		set(&s.WakeHour, in.Body.WakeHour)
		set(&s.WakeMinute, in.Body.WakeMinute)
	})
	return api.Answered(sleepSettingsOf(s), err)
}

type sleepDataIn struct {
	NetworkQuery
	Days int32 `path:"queried_days" minimum:"1" maximum:"31" doc:"How many nights before today" example:"6"`
}

// sleepData is how a household slept lately (payloads.md 5.6), for the document.
type sleepData struct {
	SleepTime     *float64    `json:"avg_sleep_time_s" doc:"Mean sleep time, seconds after local midnight; null: no night is known" example:"82380"`
	WakeTime      *float64    `json:"avg_wake_time_s" doc:"Mean wake time, seconds after local midnight; null: no night is known" example:"23280"`
	Interruptions *float64    `json:"average_interruptions" doc:"Mean number of times that somebody was up for 2 minutes or more in between; null: no night is known" example:"1.5"`
	Duration      *float64    `json:"duration_avg_s" doc:"Mean time from sleep to wake time, seconds; null: no night is known" example:"27900"`
	Days          int32       `json:"queried_days" doc:"As asked" example:"6"`
	MotionState   motionState `json:"motion_state" doc:"Whether the household was away, from the local midnight before the first night until now"`
}

// motionState is an insight.MotionState for the document.
type motionState struct {
	FirstBucket int64      `json:"first_bucket" doc:"Start of the first bucket, seconds since the epoch; a multiple of interval" example:"1763442000"`
	Interval    int64      `json:"interval" doc:"Seconds of a bucket" example:"900"`
	Data        api.Values `json:"data" doc:"Of each bucket: 1 away with motion armed, 0 at home or unarmed, null not known"`
}

func (a *App) sleepData(ctx context.Context, who auth.Member, in *sleepDataIn) (*api.Answer[api.Encoded[sleepData]], error) {
	t, err := a.Engine.Insights.SleepTimes(ctx, who.Network, int(in.Days), who.Since)
	if err != nil {
		return nil, err
	}
	return api.Answered[api.Encoded[sleepData]](json.Marshal(struct {
		insight.Averages
		Days        int32               `json:"queried_days"`
		MotionState insight.MotionState `json:"motion_state"`
	}{t.Averages, in.Days, t.MotionState}))
}

type recentActivityIn struct {
	NetworkQuery
	Days int32 `path:"queried_days" minimum:"1" maximum:"92" doc:"How many days before today" example:"7"`
}

// recentActivity is the activity of the last days (payloads.md 5.6), for the document.
type recentActivity struct {
	Days int32 `json:"queried_days" doc:"As asked" example:"7"`
	api.FlatActivity
}

func (a *App) recentActivity(ctx context.Context, who auth.Member, in *recentActivityIn) (*api.Answer[api.Encoded[recentActivity]], error) {
	activity, err := a.Engine.Insights.RecentActivity(ctx, who.Network, int(in.Days), who.Since)
	if err != nil {
		return nil, err
	}
	return api.Answered[api.Encoded[recentActivity]](json.Marshal(struct {
		Days int32 `json:"queried_days"`
		insight.Activity
	}{in.Days, activity}))
}

type activityIn struct {
	NetworkQuery
	api.ActivityWindow
}

type activityOut struct {
	Body api.Encoded[api.Either[api.DailyActivity, api.FlatActivity]]
}

// activity answers as Core does, in the time zone of the home and with nothing of before
// it was claimed.
func (a *App) activity(ctx context.Context, who auth.Member, in *activityIn) (*activityOut, error) {
	from, to, err := in.Seconds(float64(a.Engine.State.Now()), insights.MaxInsightDays)
	if err != nil {
		return nil, err
	}
	flat, zone, err := a.Engine.Insights.Activity(ctx, who.Network, min(since(who, from), to), to, nil)
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
