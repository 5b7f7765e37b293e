package state

import "sensegate/motion"

// Moment is what followers are told of a sample of a network. No device is asked for anything on
// their account, unlike for the readers of live motion. A Moment is shared and must not be changed.
type Moment struct {
	At        motion.Time
	Length    motion.Seconds
	Intensity float64            // 0..1
	Place     string             // where motion is most likely, "": there is none, or it is not known
	Links     []string           // those in motion, by name
	Rooms     map[string]float64 // share of the motion, 0..1, of each room with data
}
