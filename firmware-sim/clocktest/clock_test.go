package clocktest

import (
	"testing"
	"time"
)

func TestEveryClockStartsAtItsMoment(t *testing.T) {
	if n := len(Names()); n != 10 {
		t.Errorf("%d clocks, want 10", n)
	}
	for i, name := range Names() {
		t.Setenv(Variable, name)
		c := New(t)
		if got := c.Start.Format("2006-01-02T15:04:05"); c.Name != name || got != clocks[i].start {
			t.Errorf("%s starts at %s as %s, want %s", name, got, c.Name, clocks[i].start)
		}
		if passed := c.Now().Sub(c.Start); passed < 0 {
			t.Errorf("%s goes back by %v", name, passed)
		}
		if night := time.Now().In(c.Night()); night.YearDay() != c.Start.YearDay() || night.Hour() != 2 && night.Minute() < 59 {
			t.Errorf("the night of %s is at %s", name, night)
		}
	}
}
