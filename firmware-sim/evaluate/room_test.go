package evaluate

import (
	"testing"

	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/fuse"
)

// located returns a step in motion near rooms, the likeliest first.
func located(confidence float64, rooms ...string) *fuse.Step {
	var links []fuse.LinkSample
	for i, room := range rooms {
		l := fuse.UnknownLink(fuse.Link{Src: motion.MAC{byte(i)}}, room)
		l.Intensity, l.MSAD, l.MConf = fuse.Reading(0.5), 200, 100
		links = append(links, l)
	}
	s := fuse.FromLinks(10, 0.5, links, rooms)
	s.Zones[0].Confidence = confidence
	return &fuse.Step{Time: 10, Valid: true, Motion: true, Sample: s}
}

func TestRoomIsScoredByHowManyAreNamed(t *testing.T) {
	t.Parallel()
	truth := &truth{walks: []scenario.Walk{{Location: "Hall", From: 5, To: 15}, {Location: "Attic", From: 11, To: 12}}}
	for _, test := range []struct {
		name string
		step *fuse.Step
		want roomScore
	}{
		{"right alone", located(0.9, "Hall"), roomScore{located: 1, one: 1, right: 1, classes: [7]rightCount{5: {1, 1}}}},
		{"wrong alone", located(0.96, "Attic"), roomScore{located: 1, one: 1, classes: [7]rightCount{6: {1, 0}}}},
		{"the second of two is right", located(0.3, "Attic", "Hall"), roomScore{located: 1, two: 1, among: 1, classes: [7]rightCount{0: {1, 0}}}},
		{"neither of two is right", located(0.65, "Attic", "Loft"), roomScore{located: 1, two: 1, classes: [7]rightCount{2: {1, 0}}}},
		{"no motion", &fuse.Step{Time: 10, Sample: fuse.Silence(10, 0.5)}, roomScore{}},
	} {
		var s, sum roomScore
		s.take(test.step, truth)
		if sum.add(&s); s != test.want || sum != s {
			t.Errorf("%s: %+v, want %+v", test.name, s, test.want)
		}
	}
}

func TestReliabilityNamesEachClass(t *testing.T) {
	t.Parallel()
	s := roomScore{classes: [7]rightCount{1: {all: 4, right: 2}}}
	if got, want := s.reliability(), "-\t50 of 4\t-\t-\t-\t-\t-\t"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
