package uplink

import "sensegate/motion"

// minuteOf returns the beginning of the minute of a time.
func minuteOf(t motion.Time) motion.Time {
	second := t.Second()
	return motion.Time(second - second%60)
}
