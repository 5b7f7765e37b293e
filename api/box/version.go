package box

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"sensegate/motion"
)

// What a release was built from: the linker sets it (-X sensegate/api/box.version=1.2.3).
var version, commit, date string

// releaseDate stands for the time of a build that is not known otherwise; a release updates it.
const releaseDate = "2026-11-01T00:00:00Z"

// Build says what a program was built from.
type Build struct {
	Version string // such as v1.2.3, "unknown" without any
	Commit  string // 40 hex digits; "": unknown
	Date    string // of the build or its commit, RFC 3339
}

// ThisBuild says what this program was built from.
func ThisBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// buildOf takes what the linker did not set from info, which may be nil.
func buildOf(info *debug.BuildInfo) Build {
	b := Build{Version: version, Commit: commit, Date: date}
	if info != nil {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, setting.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, setting.Value)
			}
		}
	}
	b.Version = cmp.Or(b.Version, "unknown")
	return b
}

// Version returns the version that the program was built from.
func Version() string { return ThisBuild().Version }

// Time returns when the program was built, or when the commit was made that it was built from: a
// clock that shows less is wrong.
func (b Build) Time() motion.Time {
	at, err := time.Parse(time.RFC3339, b.Date)
	if err != nil {
		at, _ = time.Parse(time.RFC3339, releaseDate) // which is one
	}
	return motion.TimeOf(at)
}

// String returns what sensegate version prints.
func (b Build) String() string {
	return fmt.Sprintf("sensegate %s\ncommit %s\nbuilt %s\n%s %s/%s", b.Version, cmp.Or(b.Commit, "unknown"), cmp.Or(b.Date, "unknown"),
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
