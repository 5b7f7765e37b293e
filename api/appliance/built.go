package appliance

import (
	"runtime/debug"
	"time"

	"sensegate/motion"
)

// releaseDate stands for the build date of a program that was not built from a
// repository; a release updates it.
const releaseDate = "2026-11-01T00:00:00Z"

// Built returns when this program was built, or the time of the commit that it was built
// from: no clock that is right is before that.
func Built() motion.Time {
	info, _ := debug.ReadBuildInfo()
	return builtOf(info)
}

// builtOf returns when the program that info, which may be nil, describes was built.
func builtOf(info *debug.BuildInfo) motion.Time {
	date := releaseDate
	if info != nil {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.time" {
				date = setting.Value
			}
		}
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return builtOf(nil)
	}
	return motion.TimeOf(at)
}
