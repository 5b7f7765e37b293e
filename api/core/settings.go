package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/insights"
	"sensegate/motion/fault"
)

func (c *Core) applicationSettings(ctx context.Context, _ auth.Key, in *networkIn) (*api.Answer[motion.ApplicationSettings], error) {
	return api.Answered(c.engine.Insights.ApplicationSettings(ctx, in.Network))
}

// SleepTimes are the fields that both bodies have, each of which can be left out; null is
// as at a new network.
type SleepTimes struct {
	NetworkID   *motion.NetworkID  `json:"network_id,omitempty" doc:"That of the path" example:"1042"`
	Enabled     api.Nullable[bool] `json:"enabled,omitempty" doc:"Whether nights are looked at; false: no sleep is told" example:"true"`
	SleepHour   api.Nullable[int]  `json:"sleep_hour,omitempty" minimum:"0" maximum:"23" doc:"On the clocks of the time zone" example:"23"`
	SleepMinute api.Nullable[int]  `json:"sleep_minute,omitempty" minimum:"0" maximum:"59" example:"0"`
	WakeHour    api.Nullable[int]  `json:"wake_hour,omitempty" minimum:"0" maximum:"23" example:"7"`
	WakeMinute  api.Nullable[int]  `json:"wake_minute,omitempty" minimum:"0" maximum:"59" example:"0"`
}

// apply sets what is given.
func (t SleepTimes) apply(s *motion.ApplicationSettings) {
	fresh := motion.DefaultApplicationSettings(s.NetworkID)
	setOrReset(&s.Enabled, t.Enabled, fresh.Enabled)
	setOrReset(&s.SleepHour, t.SleepHour, fresh.SleepHour)
	setOrReset(&s.SleepMinute, t.SleepMinute, fresh.SleepMinute)
	setOrReset(&s.WakeHour, t.WakeHour, fresh.WakeHour)
	setOrReset(&s.WakeMinute, t.WakeMinute, fresh.WakeMinute)
}

// setOrReset overwrites field when there is a value, and with that of a new network when it
// is null.
func setOrReset[T any](field *T, value api.Nullable[T], fresh T) {
	switch {
	case value.Null:
		*field = fresh
	case value.Set:
		*field = value.Value
	}
}

// mistakes returns what no schema can tell: a network other than the path's, and a
// zone that does not exist.
func (t SleepTimes) mistakes(network motion.NetworkID, zone string) (mistakes fault.Details) {
	if t.NetworkID != nil && *t.NetworkID != network {
		mistakes.Add("body.network_id", *t.NetworkID, "must be the network of the path")
	}
	if zone == "" { // left out
		return mistakes
	}
	if _, err := insights.LoadZone(zone); err != nil {
		mistakes.Add("body.timezone", zone, "%s", err)
	}
	return mistakes
}

type createSettingsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Body    newSettings
}

// newSettings are the first settings of a network; what is left out is as in the
// template: not enabled, 23:00 to 7:00.
type newSettings struct {
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" doc:"IANA name of the time zone" example:"America/Toronto"`
	SleepTimes
}

// Mistakes returns what no schema can tell.
func (in *createSettingsIn) Mistakes() []fault.Detail {
	return in.Body.mistakes(in.Network, in.Body.Timezone)
}

func (c *Core) createApplicationSettings(ctx context.Context, _ auth.Key, in *createSettingsIn) (*api.Answer[motion.ApplicationSettings], error) {
	s := motion.DefaultApplicationSettings(in.Network)
	s.Timezone = in.Body.Timezone
	in.Body.apply(&s)
	return api.Answered(s, c.engine.Insights.CreateApplicationSettings(ctx, s))
}

type changeSettingsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Body    changedSettings
}

// changedSettings are the settings to change; the others stay.
type changedSettings struct {
	Timezone api.Nullable[string] `json:"timezone,omitempty" minLength:"1" maxLength:"64" doc:"IANA name of the time zone" example:"America/Toronto"`
	SleepTimes
}

// Mistakes returns what no schema can tell.
func (in *changeSettingsIn) Mistakes() []fault.Detail {
	return in.Body.mistakes(in.Network, in.Body.Timezone.Value)
}

func (c *Core) changeApplicationSettings(ctx context.Context, _ auth.Key, in *changeSettingsIn) (*api.Answer[motion.ApplicationSettings], error) {
	return api.Answered(c.engine.Insights.ChangeApplicationSettings(ctx, in.Network, func(s *motion.ApplicationSettings) {
		setOrReset(&s.Timezone, in.Body.Timezone, motion.DefaultApplicationSettings(s.NetworkID).Timezone)
		in.Body.apply(s)
	}))
}

func (c *Core) deleteApplicationSettings(ctx context.Context, _ auth.Key, in *networkIn) (*struct{}, error) {
	return nil, c.engine.Insights.DeleteApplicationSettings(ctx, in.Network)
}
