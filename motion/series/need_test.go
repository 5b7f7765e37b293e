package series_test

import (
	"fmt"
	"testing"

	"sensegate/motion/series"
)

func TestAnswerNeedsFinerRowsOnlyAtItsEndsAndWhatIsNotSummed(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600
	need := func(tier series.Tier, from, to, bucket, summed int64) string {
		return fmt.Sprint(series.Need(tier, from, to, bucket, summed))
	}
	for name, c := range map[string]struct{ got, want string }{
		"the seconds of seconds":           {need(series.Second, 5, 7*day, 1, 7*day), "[[5 604800]]"},
		"the fives of fives":               {need(series.FiveSeconds, 5, 7*day, 5, 7*day), "[[5 604800]]"},
		"the minutes of fives, above them": {need(series.Minute, 5, 7*day, 5, 7*day), "[[5 604800]]"},
		"the seconds of fives":             {need(series.Second, 3, 7*day+1, 5, 7*day), "[[3 5] [604800 604801]]"},
		"the fives of minutes":             {need(series.FiveSeconds, 61, 7*day+61, 60, 7*day), "[[61 120] [604800 604861]]"},
		"the fives of minutes, unsummed":   {need(series.FiveSeconds, 0, 7*day, 120, 7*day-3600), "[[0 0] [583200 604800]]"},
		"the seconds of minutes, unsummed": {need(series.Second, 0, 7*day, 60, 7*day-3600), "[[0 0] [601200 604800]]"},
		"no whole minute":                  {need(series.FiveSeconds, 61, 119, 60, 7*day), "[[61 119]]"},
		"nothing summed":                   {need(series.FiveSeconds, 61, 7*day, 60, 0), "[[61 604800]]"},
		"of seven seconds":                 {need(series.Second, 0, 7*day, 7, 7*day), "[[0 604800]]"},
		"without a bucket":                 {need(series.Second, 0, 7*day, 0, 7*day), "[[0 604800]]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}
