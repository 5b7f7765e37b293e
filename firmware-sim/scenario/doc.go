// Package scenario describes homes for the simulator: their rooms and doors, what
// stands in them, who lives there and how their days go. It turns a description
// into the plan of the channel model, and a date into walks and the tracks of
// those who walk. It knows people and floor plans; it must not know radio
// figures beyond a wall's, the device protocol or detection.
//
// A Scenario is read only once parsed; its methods may be called concurrently.
// The same seed and date always give the same day.
package scenario
