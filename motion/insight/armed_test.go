package insight_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/insight"
)

func TestMotionStateIsThatOfMostOfTheBucket(t *testing.T) {
	t.Parallel()
	change := func(at motion.Time, armed bool) motion.ArmedChange { return motion.ArmedChange{At: at, Armed: armed} }
	for _, c := range []struct {
		name     string
		changes  []motion.ArmedChange
		from, to int64
		want     string
	}{
		{"nothing is known", nil, 900, 2700, `{"first_bucket":900,"interval":900,"data":[null,null]}`},
		{"nothing is asked", nil, 900, 900, `{"first_bucket":900,"interval":900,"data":[]}`},
		{"known before", []motion.ArmedChange{change(10, true)}, 900, 2700, `{"first_bucket":900,"interval":900,"data":[1,1]}`},
		{"known from the second bucket on", []motion.ArmedChange{change(2600, true)}, 900, 2700, `{"first_bucket":900,"interval":900,"data":[null,1]}`},
		{"away for half of the first", []motion.ArmedChange{change(0, false), change(1350, true)}, 900, 2700, `{"first_bucket":900,"interval":900,"data":[1,1]}`},
		{"away for less than half", []motion.ArmedChange{change(0, false), change(1351, true), change(1900, false)}, 900, 2700, `{"first_bucket":900,"interval":900,"data":[0,0]}`},
		{"twice away in one bucket", []motion.ArmedChange{change(0, true), change(1100, false), change(1200, true), change(1800, false)}, 900, 2700, `{"first_bucket":900,"interval":900,"data":[1,0]}`},
		{"only what is asked of a bucket counts", []motion.ArmedChange{change(0, false), change(1700, true)}, 1600, 1900, `{"first_bucket":900,"interval":900,"data":[1,1]}`},
		{"several stretches before", []motion.ArmedChange{change(0, false), change(950, true), change(3000, false)}, 900, 4500, `{"first_bucket":900,"interval":900,"data":[1,1,0,0]}`},
	} {
		if got := asJSON(t, insight.MotionStateOf(c.changes, c.from, c.to)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
