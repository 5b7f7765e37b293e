package evaluate

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/fuse"
)

func TestPeopleInTheFlatAreSeenAndTheEmptyFlatIsQuiet(t *testing.T) {
	t.Parallel()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	day := home.Day(1, scenarioDay())
	play := Play{Seed: 1, Length: 30 * time.Second}
	first := slices.IndexFunc(day.Walks, func(w scenario.Walk) bool {
		return w.Vigour > fidget && w.To.Since(w.From) > 15
	})
	morning := playPart(home, day, play, time.Duration(day.Walks[first].From.Since(day.Begin)*float64(time.Second)))
	if morning.moving < 60 || float64(morning.hits) < 0.8*float64(morning.moving) {
		t.Errorf("%d of %d ticks of walking are motion", morning.hits, morning.moving)
	}
	empty := playPart(home, day, play, 10*time.Hour)
	if empty.empty < 110 || empty.alarms > empty.empty/50 {
		t.Errorf("%d of %d ticks of an empty flat are motion", empty.alarms, empty.empty)
	}
}

func TestEveryTickCountsInOneClass(t *testing.T) {
	t.Parallel()
	span := func(from, to motion.Time) channel.Span { return channel.Span{From: from, To: to} }
	truth := &truth{
		moving: []channel.Span{span(10, 20)}, small: []channel.Span{span(40, 42)}, pets: []channel.Span{span(60, 70)},
		home: []channel.Span{span(0, 100)}, seen: []motion.Seconds{-1},
	}
	for _, test := range []struct {
		at   motion.Time
		want sceneScore
	}{
		{5, sceneScore{still: 1, stillHits: 1}},
		{12, sceneScore{moving: 1, hits: 1}},
		{23, sceneScore{}},
		{41, sceneScore{}},
		{50, sceneScore{still: 1, stillHits: 1}},
		{65, sceneScore{pets: 1, petHits: 1}},
		{72, sceneScore{}},
		{150, sceneScore{empty: 1, alarms: 1}},
	} {
		var s sceneScore
		s.take(&fuse.Step{Time: test.at, Valid: true, Motion: true}, truth)
		s.latencies = nil
		if s.hits != test.want.hits || s.moving != test.want.moving || s.still != test.want.still || s.stillHits != test.want.stillHits ||
			s.pets != test.want.pets || s.petHits != test.want.petHits || s.empty != test.want.empty || s.alarms != test.want.alarms {
			t.Errorf("at %v: %+v, want %+v", test.at, s, test.want)
		}
	}
	if truth.seen[0] != 2 {
		t.Errorf("the walk is first seen after %v s, want 2", truth.seen[0])
	}
}

func TestTableHasARowPerScenario(t *testing.T) {
	t.Parallel()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	play := Play{Seed: 1, Length: 5 * time.Second, Hours: []time.Duration{10 * time.Hour}}
	if err := RunScenarios([]*scenario.Scenario{home}, play, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "recall %") || !strings.Contains(lines[1], "flat") {
		t.Errorf("table:\n%s", out.String())
	}
}
