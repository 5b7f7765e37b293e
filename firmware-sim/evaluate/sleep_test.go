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
)

// wanted are the figures that the nights of every scenario reach.
const (
	wantedMedian, wantedMost = 20.0, 45.0 // minutes: in the median, and in nine nights of ten
	wantedBetween            = 1.0        // interruptions, in the median
	wantedTold               = 0.9
)

func TestSleepTimesOfTheFlatAreFound(t *testing.T) {
	t.Parallel()
	unraced(t)
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	usual := slices.DeleteFunc(habits(), func(h habit) bool { return h.name != "usual" && h.name != "weekends away" })
	scores, err := scoreNights([]*scenario.Scenario{home}, usual, Nights{Seed: 1, Homes: 1, Nights: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		p := s.present
		if p.nights == 0 || float64(p.told) < wantedTold*float64(p.nights) {
			t.Errorf("%s: %d of %d nights are told", s.habit, p.told, p.nights)
			continue
		}
		for what, errors := range map[string][]float64{"sleep": p.sleep, "wake": p.wake} {
			if median, most := quantile(errors, 0.5), quantile(errors, 0.9); median > wantedMedian || most > wantedMost {
				t.Errorf("%s: %s times are off by %v minutes in the median, %v in nine of ten", s.habit, what, median, most)
			}
		}
		if between := quantile(p.between, 0.5); between > wantedBetween {
			t.Errorf("%s: interruptions are off by %v in the median", s.habit, between)
		}
		if p.toldEmpty > 0 {
			t.Errorf("%s: %d nights of an empty home are told", s.habit, p.toldEmpty)
		}
	}
	var table bytes.Buffer
	if err := writeNights(scores, &table); err != nil || strings.Count(table.String(), "\n") != 1+2*len(scores) {
		t.Errorf("table %v:\n%s", err, table.String())
	}
}

func TestTruthIsFromTheLastToBedToTheFirstUp(t *testing.T) {
	t.Parallel()
	midnight := motion.TimeOf(time.Date(2025, time.November, 4, 0, 0, 0, 0, time.UTC))
	at := func(hours float64) motion.Time { return midnight.Add(hours * 3600) }
	span := func(from, to float64) channel.Span { return channel.Span{From: at(from), To: at(to)} }
	person := func(present channel.Span, asleep ...channel.Span) channel.Body {
		return channel.Body{Kind: channel.Person, Present: []channel.Span{present}, Asleep: asleep}
	}
	pet := channel.Body{Kind: channel.Pet}
	for _, c := range []struct {
		name            string
		evening, during []channel.Body
		sleep, wake     float64 // hours after midnight
		interruptions   int
		slept           bool
	}{
		{"two people", []channel.Body{person(span(-24, 0), span(-2, 0)), person(span(-24, 0), span(-1, 0))},
			[]channel.Body{person(span(0, 24), span(0, 7)), person(span(0, 24), span(0, 6))}, -1, 6, 0, true},
		{"one is out all night", []channel.Body{person(span(-24, -5)), person(span(-24, 0), span(-1, 0))},
			[]channel.Body{person(span(0, 24), span(0, 6))}, -1, 6, 0, true},
		{"one turns over, and is up for a quarter of an hour", []channel.Body{person(span(-24, 0), span(-1, 0))},
			[]channel.Body{person(span(0, 24), span(0, 1), span(1.01, 3), span(3.25, 6))}, -1, 6, 1, true},
		{"nobody but a pet", []channel.Body{person(span(-24, -5)), pet}, []channel.Body{pet}, 0, 0, 0, false},
	} {
		days := []*scenario.Day{
			{Begin: at(-24), End: at(0), Scene: channel.Scene{Bodies: c.evening}},
			{Begin: at(0), End: at(24), Scene: channel.Scene{Bodies: c.during}},
		}
		night, slept := truthOf(days)
		want := rest{}
		if c.slept {
			want = rest{at(c.sleep).Second(), at(c.wake).Second(), c.interruptions}
		}
		if night != want || slept != c.slept {
			t.Errorf("%s: %+v %t, want %+v %t", c.name, night, slept, want, c.slept)
		}
	}
}

func TestHabitsChangeTheDay(t *testing.T) {
	t.Parallel()
	stay := func(hour float64, room string, does scenario.Activity) scenario.Stay {
		return scenario.Stay{From: time.Duration(hour * float64(time.Hour)), Room: room, Does: does}
	}
	day := []scenario.Stay{
		stay(0, "Bedroom", scenario.Sleeps), stay(7, "Kitchen", scenario.Moves),
		stay(19, "Living room", scenario.Sits), stay(23, "Bedroom", scenario.Sleeps),
	}
	for name, c := range map[string]struct{ got, want []scenario.Stay }{
		"earlier": {later(-time.Hour)(day), []scenario.Stay{
			stay(0, "Bedroom", scenario.Sleeps), stay(6, "Kitchen", scenario.Moves),
			stay(18, "Living room", scenario.Sits), stay(22, "Bedroom", scenario.Sleeps),
		}},
		"over midnight": {later(2 * time.Hour)(day), []scenario.Stay{
			stay(0, "Living room", scenario.Sits), stay(1, "Bedroom", scenario.Sleeps),
			stay(9, "Kitchen", scenario.Moves), stay(21, "Living room", scenario.Sits),
		}},
		"something else for a while": {instead(day, 3*time.Hour, 4*time.Hour, stay(0, "Kitchen", scenario.Moves)), []scenario.Stay{
			stay(0, "Bedroom", scenario.Sleeps), stay(3, "Kitchen", scenario.Moves), stay(4, "Bedroom", scenario.Sleeps),
			stay(7, "Kitchen", scenario.Moves), stay(19, "Living room", scenario.Sits), stay(23, "Bedroom", scenario.Sleeps),
		}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
