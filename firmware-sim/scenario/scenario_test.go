package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/firmware-sim/channel"
)

func open(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScenariosOfTheProgramAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ nodes, leafs, people, pets, fans int }{
		"flat":          {2, 5, 1, 0, 0},
		"house":         {3, 9, 2, 0, 0},
		"house-pet-fan": {3, 9, 2, 1, 1},
		"villa":         {10, 12, 4, 1, 0},
	} {
		s := open(t, name)
		if len(s.Nodes) != want.nodes || len(s.Leafs) != want.leafs || len(s.People) != want.people || len(s.Pets) != want.pets || len(s.Fans) != want.fans {
			t.Errorf("%s: %d nodes, %d leafs, %d people, %d pets, %d fans", name, len(s.Nodes), len(s.Leafs), len(s.People), len(s.Pets), len(s.Fans))
		}
		if links := s.Links(); len(links) != want.leafs+want.nodes-1 {
			t.Errorf("%s: %d links", name, len(links))
		}
	}
	if names := Names(); len(names) != 4 {
		t.Errorf("scenarios %v", names)
	}
}

const cottage = `
entrance: Hall
rooms:
  - {name: Hall, from: [0, 0], to: [4, 2]}
  - {name: Den, from: [0, 2], to: [4, 5]}
doors:
  - {from: [1, 2], to: [2, 2]}
nodes:
  - {name: Gateway, at: [1, 1, 1], chip: s3}
people:
  - day: [00:00 Den sleeps, 07:00 Hall moves, 09:00 away, 18:00 Den sits]
`

func TestWallsStandBetweenRoomsOnceAndLeaveTheDoorFree(t *testing.T) {
	t.Parallel()
	s, err := Parse("cottage", []byte(cottage))
	if err != nil {
		t.Fatal(err)
	}
	plan := s.Plan()
	inner, outer := 0.0, 0.0
	for _, w := range plan.Walls {
		if w.Loss == innerLoss {
			inner += w.A.Distance(w.B)
		} else {
			outer += w.A.Distance(w.B)
		}
	}
	if inner != 3 || outer != 18 || len(plan.Doors) != 1 {
		t.Errorf("%v m of inner walls, %v of outer ones, %d doors: want 3, 18 and 1", inner, outer, len(plan.Doors))
	}
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, from, to, want string }{
		{"unknown field", "entrance:", "exit: Hall\nentrance:", "exit"},
		{"no such entrance", "entrance: Hall", "entrance: Porch", `no room is called "Porch"`},
		{"no way", "doors:\n  - {from: [1, 2], to: [2, 2]}\n", "", "no way leads from the entrance to Den"},
		{"door in the air", "from: [1, 2], to: [2, 2]", "from: [1, 1], to: [2, 1]", "is not between two rooms"},
		{"slanting door", "from: [1, 2], to: [2, 2]", "from: [1, 2], to: [2, 3]", "not a piece of a wall"},
		{"node outside", "at: [1, 1, 1]", "at: [9, 9, 1]", "nodes: Gateway: lies in no room"},
		{"flat room", "to: [4, 5]", "to: [4, 2]", "Den: to is not"},
		{"same name", "name: Den", "name: Hall", "want a name of its own"},
		{"late beginning", "00:00 Den", "01:00 Den", "does not begin at 00:00"},
		{"backwards", "09:00 away", "06:00 away", "comes after a later time"},
		{"unknown room", "07:00 Hall", "07:00 Attic", `no room is called "Attic"`},
		{"unknown activity", "Hall moves", "Hall dances", "want moves, sits, stays, sleeps or away"},
		{"no time", "07:00 Hall", "seven Hall", "want a time of day"},
		{"like nothing", "entrance: Hall", "like: castle", `like "castle"`},
		{"like a likeness", "entrance: Hall", "like: house-pet-fan", "name that"},
	} {
		text := strings.Replace(cottage, test.from, test.to, 1)
		if _, err := Parse("cottage", []byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
	if _, err := Open("castle"); err == nil || !strings.Contains(err.Error(), "flat, house") {
		t.Errorf("unknown scenario: %v", err)
	}
}

// date is a day of the plan.
func date(day int) time.Time { return time.Date(2025, time.November, day, 0, 0, 0, 0, time.UTC) }

func TestDaysAreOrderedPossibleAndQuietAtNight(t *testing.T) {
	t.Parallel()
	homes := map[string]*Scenario{}
	for _, name := range Names() {
		homes[name] = open(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := homes[rapid.SampledFrom(Names()).Draw(t, "scenario")]
		day := s.Day(rapid.Uint64().Draw(t, "seed"), date(rapid.IntRange(1, 30).Draw(t, "day")))
		var night, waking float64
		for i, w := range day.Walks {
			if i > 0 && w.From < day.Walks[i-1].From {
				t.Fatalf("walk %d starts before the one in front of it", i)
			}
			if w.To <= w.From || w.To.Since(w.From) > LongestWalk || w.Vigour <= 0 || w.Vigour > 1 || w.To > day.End {
				t.Fatalf("impossible walk %+v", w)
			}
			if hour := w.From.Std().Hour(); w.Pet {
				continue
			} else if hour < 6 {
				night += w.To.Since(w.From)
			} else if hour < 23 {
				waking += w.To.Since(w.From)
			}
		}
		if night/6 > waking/17/3 || waking == 0 {
			t.Fatalf("%.0f s of walking at night, %.0f s by day", night, waking)
		}
	})
}

func TestPeopleAreInTheRoomThatTheirWalkNames(t *testing.T) {
	t.Parallel()
	s := open(t, "villa")
	day := s.Day(3, date(24))
	right, all := 0, 0
	for _, w := range day.Walks {
		middle := w.From.Add(w.To.Since(w.From) / 2)
		for who, body := range bodiesOf(s, day) {
			if who != w.Who {
				continue
			}
			all++
			if area, _ := s.Area(w.Location); area.Holds(body.Track.At(middle)) {
				right++
			}
		}
	}
	if all == 0 || right < all*97/100 { // a curve may cut a corner
		t.Errorf("%d of %d", right, all)
	}
}

// bodiesOf returns the bodies of people and pets by their number.
func bodiesOf(s *Scenario, day *Day) map[int]channel.Body {
	bodies := map[int]channel.Body{}
	for i, b := range day.Scene.Bodies {
		if i < len(s.People)+len(s.Pets) {
			bodies[i] = b
		}
	}
	return bodies
}

func TestNobodyWalksWhileAway(t *testing.T) {
	t.Parallel()
	s := open(t, "flat")
	for seed := range uint64(20) {
		day := s.Day(seed, date(24))
		noon := day.Begin.Add(12 * 3600)
		if slices.ContainsFunc(day.Scene.Bodies[0].Present, func(span channel.Span) bool { return span.Holds(noon) }) {
			t.Errorf("seed %d: at home at noon", seed)
		}
		if slices.ContainsFunc(day.Walks, func(w Walk) bool { return w.From > noon.Add(-7200) && w.To < noon.Add(7200) }) {
			t.Errorf("seed %d: somebody walks in an empty flat", seed)
		}
	}
}

func TestDoorsOpenForThoseWhoPass(t *testing.T) {
	t.Parallel()
	s := open(t, "house")
	day := s.Day(1, date(24))
	opened := 0
	for door, spans := range day.Scene.Open {
		for i, span := range spans {
			if span.To <= span.From || i > 0 && span.From < spans[i-1].From {
				t.Errorf("door %d: opening %d is %+v", door, i, span)
			}
		}
		opened += len(spans)
	}
	if opened < 10 {
		t.Errorf("doors open %d times a day", opened)
	}
}

func TestTheSameSeedAndDateGiveTheSameDay(t *testing.T) {
	t.Parallel()
	s := open(t, "house-pet-fan")
	first, again := s.Day(5, date(24)), s.Day(5, date(24))
	if diff := cmp.Diff(first.Walks, again.Walks); diff != "" || len(first.Walks) == 0 {
		t.Errorf("walks differ:\n%s", diff)
	}
	if cmp.Equal(first.Walks, s.Day(6, date(24)).Walks) || cmp.Equal(first.Walks, s.Day(5, date(25)).Walks) {
		t.Error("another seed or date gives the same day")
	}
	for at := first.Begin; at < first.End; at += 61 {
		for i, b := range first.Scene.Bodies {
			if b.Track.At(at) != again.Scene.Bodies[i].Track.At(at) {
				t.Fatalf("body %d is elsewhere at %v", i, at)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(cottage)
	f.Add("like: house\npets: [{rooms: [Office]}]\n")
	for _, name := range Names() {
		text, err := homes.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		plan := s.Plan()
		day := s.Day(1, date(24))
		for _, b := range day.Scene.Bodies {
			b.Track.At(day.Begin.Add(50_000))
		}
		for _, link := range s.Links() {
			s.Radio(plan, link, 1)
		}
	})
}
