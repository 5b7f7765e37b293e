package home

import "sensegate/motion"

// Reasons of a scene change, as its event tells them (payloads.md 5.3).
const (
	ByUser     = "user"
	ByGeofence = "geofence"
)

// Scenes returns all scenes, in the order of their codes.
func Scenes() []Scene { return []Scene{Away, AtHome} }

// Event returns the kind of event that a change to the scene raises
// (interfaces.md 6 no. 4).
func (s Scene) Event() string {
	if s == Away {
		return motion.SceneChangedToAwayEvent
	}
	return motion.SceneChangedToHomeEvent
}

// Armed returns the motion_events.armed that goes with the scene where arming
// follows it (payloads.md 6 no. 5).
func (s Scene) Armed() int {
	if s == Away {
		return 1
	}
	return 0
}

// Follow returns the scene after the number of members at home went from before to
// after, where the scene follows them (payloads.md 5.5): the last to leave makes it
// Away, the first to arrive AtHome. Otherwise it stays.
func (s Scene) Follow(before, after int) Scene {
	switch {
	case before > 0 && after == 0:
		return Away
	case before == 0 && after > 0:
		return AtHome
	}
	return s
}
