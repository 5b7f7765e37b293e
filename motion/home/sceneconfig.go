package home

import "sensegate/motion"

// SceneConfigID identifies a scene configuration. Ids are positive and fit 32 bits.
type SceneConfigID uint32

// SceneConfig is how a home's scenes behave (payloads.md 5.3). Each home has one.
// Hours and minutes are of the home's time zone.
type SceneConfig struct {
	ID     SceneConfigID `json:"id" example:"23"`
	HomeID ID            `json:"network_id" example:"17"`

	ExcessiveMotionEnabled bool  `json:"excessive_motion_enabled" doc:"Whether motion that lasts raises ExcessiveMotionEvent"`
	ExcessiveMotionSeconds int32 `json:"excessive_motion_seconds" minimum:"1" maximum:"86400" doc:"How long motion has to last for that, seconds" example:"600"`
	AutoSwitching          bool  `json:"auto_switching_enabled" doc:"Whether the scene follows the members' phones: away when the last one leaves, home when the first one arrives"`
	GuardianEnabled        bool  `json:"guardian_enabled" doc:"Whether motion in the guardian window of the day raises GuardianMotionEvent"`

	WeekdayStartHours   int32 `json:"guardian_weekday_start_time_hours" minimum:"0" maximum:"23" doc:"Start of the guardian window, Monday to Friday" example:"6"`
	WeekdayStartMinutes int32 `json:"guardian_weekday_start_time_minutes" minimum:"0" maximum:"59"`
	WeekdayEndHours     int32 `json:"guardian_weekday_end_time_hours" minimum:"0" maximum:"23" doc:"End of the guardian window; before its start: on the next day" example:"8"`
	WeekdayEndMinutes   int32 `json:"guardian_weekday_end_time_minutes" minimum:"0" maximum:"59"`
	WeekendStartHours   int32 `json:"guardian_weekend_start_time_hours" minimum:"0" maximum:"23" doc:"Start of the guardian window, Saturday and Sunday" example:"7"`
	WeekendStartMinutes int32 `json:"guardian_weekend_start_time_minutes" minimum:"0" maximum:"59"`
	WeekendEndHours     int32 `json:"guardian_weekend_end_time_hours" minimum:"0" maximum:"23" doc:"End of the guardian window; before its start: on the next day" example:"9"`
	WeekendEndMinutes   int32 `json:"guardian_weekend_end_time_minutes" minimum:"0" maximum:"59"`

	AutoArm   bool         `json:"auto_arm" doc:"Whether arming follows the scene: away sets motion_events_armed to 1, home to 0"`
	CreatedAt motion.Stamp `json:"created_at"`
	UpdatedAt motion.Stamp `json:"updated_at"`
}

// DefaultSceneConfig returns the configuration of a home that has set nothing.
func DefaultSceneConfig() SceneConfig {
	return SceneConfig{
		ExcessiveMotionEnabled: true, ExcessiveMotionSeconds: 600,
		WeekdayStartHours: 6, WeekdayEndHours: 8, WeekendStartHours: 7, WeekendEndHours: 9,
	}
}
