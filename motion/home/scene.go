package home

import (
	"time"

	"sensegate/motion"
)

// Reasons of a scene change, in its event (payloads.md 5.3).
const (
	ByUser     = "user"
	ByGeofence = "geofence"
	ByUplink   = "uplink"
)

// Scenes returns all scenes, in the order of their codes.
func Scenes() []Scene { return []Scene{Away, AtHome} }

// Event returns the kind of event that a change to the scene raises (interfaces.md 6 no. 4).
func (s Scene) Event() string {
	if s == Away {
		return motion.SceneChangedToAwayEvent
	}
	return motion.SceneChangedToHomeEvent
}

// Armed returns the value of motion_events.armed for the scene, for homes whose arming follows it
// (payloads.md 6 no. 5).
func (s Scene) Armed() int {
	if s == Away {
		return 1
	}
	return 0
}

// Follow returns the scene after the number of members at home changed from before to after,
// for homes whose scene follows it (payloads.md 5.5): Away when the last one left, AtHome when
// the first one arrived, otherwise s.
func (s Scene) Follow(before, after int) Scene {
	switch {
	case before > 0 && after == 0:
		return Away
	case before == 0 && after > 0:
		return AtHome
	}
	return s
}

// SceneConfigID identifies a scene configuration. Ids are positive and fit 32 bits.
type SceneConfigID uint32

// SceneConfig configures the scenes of a home (payloads.md 5.3). Each home has one. Hours and
// minutes are in the home's time zone.
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

// DefaultSceneConfig returns the configuration of a new home.
func DefaultSceneConfig() SceneConfig {
	return SceneConfig{
		ExcessiveMotionEnabled: true, ExcessiveMotionSeconds: 600,
		WeekdayStartHours: 6, WeekdayEndHours: 8, WeekendStartHours: 7, WeekendEndHours: 9,
	}
}

// GuardianWindow returns the guardian window that contains t, and whether there is one
// (payloads.md 5.3: guardian_*). Times and days are in t's zone. A window belongs to the day
// on which it begins, ends on the next day if its end is before its start, and is empty if
// they are equal.
func (c SceneConfig) GuardianWindow(t time.Time) (from, to time.Time, in bool) {
	if !c.GuardianEnabled {
		return time.Time{}, time.Time{}, false
	}
	for _, ago := range []int{0, 1} {
		from, to = c.windowOf(t.AddDate(0, 0, -ago))
		if !t.Before(from) && t.Before(to) {
			return from, to, true
		}
	}
	return time.Time{}, time.Time{}, false
}

// windowOf returns the window that begins on a day.
func (c SceneConfig) windowOf(day time.Time) (from, to time.Time) {
	at := func(days int, hours, minutes int32) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day()+days, int(hours), int(minutes), 0, 0, day.Location())
	}
	startHours, startMinutes, endHours, endMinutes := c.WeekdayStartHours, c.WeekdayStartMinutes, c.WeekdayEndHours, c.WeekdayEndMinutes
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		startHours, startMinutes, endHours, endMinutes = c.WeekendStartHours, c.WeekendStartMinutes, c.WeekendEndHours, c.WeekendEndMinutes
	}
	days := 0
	if endHours*60+endMinutes < startHours*60+startMinutes {
		days = 1
	}
	return at(0, startHours, startMinutes), at(days, endHours, endMinutes)
}

// ArmedAway reports whether a home is in the scene away and motion is armed in its network. It is
// motion_state of the household insights: 1 for true, 0 otherwise (payloads.md 5.6).
func ArmedAway(h Home, n motion.Network) bool {
	return h.Scene == Away && n.Guardian().MotionEvents.Armed == 1
}
