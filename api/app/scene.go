package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/home"
	"sensegate/store"
)

type sceneConfigIn struct {
	ID uint32 `path:"id" minimum:"1" doc:"Scene config id, as the network record has it" example:"23"`
}

func (a *App) sceneConfig(ctx context.Context, _ auth.Member, in *sceneConfigIn) (*api.Answer[home.SceneConfig], error) {
	return api.Answered(store.Read(ctx, a.DB, func(tx *store.Tx) (home.SceneConfig, error) {
		return tx.SceneConfig(home.SceneConfigID(in.ID))
	}))
}

type changeSceneConfigIn struct {
	ID   uint32 `path:"id" minimum:"1" doc:"Scene config id, as the network record has it" example:"23"`
	Body sceneConfigChange
}

// sceneConfigChange is what of a scene configuration is to be changed.
type sceneConfigChange struct {
	ExcessiveMotionEnabled *bool  `json:"excessive_motion_enabled,omitempty"`
	ExcessiveMotionSeconds *int32 `json:"excessive_motion_seconds,omitempty" minimum:"1" maximum:"86400" doc:"s"`
	AutoSwitching          *bool  `json:"auto_switching_enabled,omitempty"`
	GuardianEnabled        *bool  `json:"guardian_enabled,omitempty"`

	WeekdayStartHours   *int32 `json:"guardian_weekday_start_time_hours,omitempty" minimum:"0" maximum:"23"`
	WeekdayStartMinutes *int32 `json:"guardian_weekday_start_time_minutes,omitempty" minimum:"0" maximum:"59"`
	WeekdayEndHours     *int32 `json:"guardian_weekday_end_time_hours,omitempty" minimum:"0" maximum:"23"`
	WeekdayEndMinutes   *int32 `json:"guardian_weekday_end_time_minutes,omitempty" minimum:"0" maximum:"59"`
	WeekendStartHours   *int32 `json:"guardian_weekend_start_time_hours,omitempty" minimum:"0" maximum:"23"`
	WeekendStartMinutes *int32 `json:"guardian_weekend_start_time_minutes,omitempty" minimum:"0" maximum:"59"`
	WeekendEndHours     *int32 `json:"guardian_weekend_end_time_hours,omitempty" minimum:"0" maximum:"23"`
	WeekendEndMinutes   *int32 `json:"guardian_weekend_end_time_minutes,omitempty" minimum:"0" maximum:"59"`

	AutoArm *bool `json:"auto_arm,omitempty"`

	ID        any `json:"id,omitempty" doc:"Not used: apps may send the whole record back"`
	Network   any `json:"network_id,omitempty" doc:"Not used"`
	CreatedAt any `json:"created_at,omitempty" doc:"Not used"`
	UpdatedAt any `json:"updated_at,omitempty" doc:"Not used"`
}

func (a *App) putSceneConfig(ctx context.Context, who auth.Member, in *changeSceneConfigIn) (*api.Answer[home.SceneConfig], error) {
	return api.Answered(a.Household.ChangeSceneConfig(ctx, who.Home, in.Body.apply))
}

// apply changes what is named.
func (change sceneConfigChange) apply(c *home.SceneConfig) {
	set(&c.ExcessiveMotionEnabled, change.ExcessiveMotionEnabled)
	set(&c.ExcessiveMotionSeconds, change.ExcessiveMotionSeconds)
	set(&c.AutoSwitching, change.AutoSwitching)
	set(&c.GuardianEnabled, change.GuardianEnabled)
	set(&c.WeekdayStartHours, change.WeekdayStartHours)
	set(&c.WeekdayStartMinutes, change.WeekdayStartMinutes)
	set(&c.WeekdayEndHours, change.WeekdayEndHours)
	set(&c.WeekdayEndMinutes, change.WeekdayEndMinutes)
	set(&c.WeekendStartHours, change.WeekendStartHours)
	set(&c.WeekendStartMinutes, change.WeekendStartMinutes)
	set(&c.WeekendEndHours, change.WeekendEndHours)
	set(&c.WeekendEndMinutes, change.WeekendEndMinutes)
	set(&c.AutoArm, change.AutoArm)
}

// set changes a value to one that is given.
func set[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

// scene is a scene of a home.
type scene struct {
	ID     home.Scene `json:"id" enum:"1,4" example:"4"`
	Name   string     `json:"name" enum:"away,home" example:"home"`
	Active bool       `json:"active" doc:"Whether the home is in it"`
}

type scenesOut struct {
	Body struct {
		Data []scene `json:"data" nullable:"false"`
	}
}

func (a *App) scenes(ctx context.Context, who auth.Member, _ *NetworkQuery) (*scenesOut, error) {
	out := &scenesOut{}
	one, err := store.Read(ctx, a.DB, func(tx *store.Tx) (home.Home, error) { return tx.Home(who.Home) })
	for _, s := range home.Scenes() {
		out.Body.Data = append(out.Body.Data, scene{ID: s, Name: s.String(), Active: s == one.Scene})
	}
	return out, err
}

type putSceneIn struct {
	NetworkQuery
	Body struct {
		NetworkField
		Scene home.Scene `json:"scene_id" enum:"1,4" doc:"1 away, 4 home" example:"1"`
	}
}

func (a *App) putScene(ctx context.Context, who auth.Member, in *putSceneIn) (*api.Answer[scene], error) {
	to := in.Body.Scene
	_, err := a.Household.ChangeScene(ctx, who.Home, who.ID, to, home.ByUser)
	return api.Answered(scene{ID: to, Name: to.String(), Active: true}, err)
}
