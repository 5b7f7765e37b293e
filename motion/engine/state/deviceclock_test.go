package state

import (
	"testing"

	"sensegate/motion"
)

func TestFramesKeepADeviceTimeUntilTheClockIsSet(t *testing.T) {
	t.Parallel()
	const built, in1970 motion.Time = 1764000000, 120
	clock := &OwnClock{Built: built}
	for name, c := range map[string]struct{ first, want motion.Time }{
		"right clock":         {built + 1000, built + 1000},
		"no clock":            {0, in1970 - 0.5},
		"clock since a start": {60, in1970 - 0.5},
	} {
		last := c.first.Add(0.5)
		if got := new(Anchor).Base(clock, c.first, last, in1970); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
