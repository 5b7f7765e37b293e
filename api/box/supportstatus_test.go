package box

import (
	"testing"

	"sensegate/motion"
)

func TestSupportTellsTheDayOfAnUplinkAlone(t *testing.T) {
	t.Parallel()
	const start motion.Time = 1_700_000_000
	for since, want := range map[motion.Time]string{
		start + 30: "2023-11-14 22:13:50", start + 90_000: "2023-11-15", 0: "",
	} {
		if got := sinceStart(since, start); got != want {
			t.Errorf("%v is shown as %q", since, got)
		}
	}
}

func TestSupportDoesNotTellSinceWhenADeviceIsSilent(t *testing.T) {
	t.Parallel()
	if got := silentFor.ReplaceAllString("connected, but silent for 5400 s", "silent"); got != "connected, but silent" {
		t.Error(got)
	}
}
