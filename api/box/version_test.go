package box

import (
	"runtime/debug"
	"testing"
)

func TestBuildDateIsThatOfTheCommit(t *testing.T) {
	t.Parallel()
	release := buildOf(nil).Time()
	if year := release.Std().Year(); year < 2026 {
		t.Fatalf("the release date is of %d", year)
	}
	for name, c := range map[string]struct {
		settings []debug.BuildSetting
		want     int64
	}{
		"commit":          {[]debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.time", Value: "2027-01-15T08:00:00Z"}}, 1800000000},
		"no repository":   {nil, release.Second()},
		"unreadable time": {[]debug.BuildSetting{{Key: "vcs.time", Value: "yesterday"}}, release.Second()},
		"time of a zone":  {[]debug.BuildSetting{{Key: "vcs.time", Value: "2027-01-15T09:00:00+01:00"}}, 1800000000},
	} {
		if got := buildOf(&debug.BuildInfo{Settings: c.settings}).Time(); got.Second() != c.want {
			t.Errorf("%s: %v, want second %d", name, got.Std(), c.want)
		}
	}
}
