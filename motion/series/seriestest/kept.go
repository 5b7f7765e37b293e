package seriestest

import (
	"encoding/json"
	"errors"
	"math"
)

// Kept returns the intensity that is kept of one that was reported: in steps of 0.001, below 0.2 of 0.01, and
// 0 only if it was 0.
func Kept(v float64) float64 {
	if v >= 0.1995 {
		return math.Round(v*1000) / 1000
	}
	return max(math.Round(v*100), math.Ceil(v)) / 100
}

// SameMeans reports whether sums answer with the means of the seconds: each of the three coarser resolutions
// rounds those below 0.2 of rows above 0 all the time to 0.01. Both are answers in JSON.
func SameMeans(sums, seconds []byte) bool {
	var a, b [][2]*float64
	if err := errors.Join(json.Unmarshal(sums, &a), json.Unmarshal(seconds, &b)); err != nil || len(a) != len(b) {
		return false
	}
	const most = 3*0.005 + 0.001
	for i := range a {
		got, want := a[i], b[i]
		if *got[1] != *want[1] || (got[0] == nil) != (want[0] == nil) || got[0] != nil && math.Abs(*got[0]-*want[0]) > most {
			return false
		}
	}
	return true
}
