package fuse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sensegate/motion/fuse"
)

const (
	tenMinutes    = 2400 // ticks
	thirtyMinutes = 7200
)

// watched feeds two links between the same two rooms and a third one elsewhere.
func watched(scripts ...script) (*fuse.Fuser, *log) {
	l := &log{}
	f := fuse.New(l.emit)
	f.SetZone(key(1), "Kitchen", "Hall")
	f.SetZone(key(2), "Kitchen", "Hall")
	feed(f, scripts...)
	return f, l
}

func TestNoiseMarkFollowsTheOtherLinks(t *testing.T) {
	t.Parallel()
	marked := "q" + repeat("s", tenMinutes)
	lone := "q" + repeat("q", tenMinutes)
	cases := []struct {
		name    string
		scripts []script
		changes int
		noisy   bool
	}{
		{"ten minutes alone in motion mark a link", []script{marked, lone}, 1, true},
		{"a second less does not", []script{marked[:tenMinutes-3], lone}, 0, false},
		{"one agreement in between begins anew", []script{marked, "q" + repeat("q", 1200) + "n" + repeat("q", 1199)}, 0, false},
		{"motion in another zone is no agreement", []script{marked, lone, "q" + repeat("s", tenMinutes)}, 1, true},
		{"a pause below ten seconds does not count", []script{repeat("s", 1200) + repeat("q", 39) + repeat("s", 1201), repeat("q", 2440)}, 1, true},
		{"a pause of ten seconds ends the stretch", []script{repeat("s", 1200) + repeat("q", 40) + repeat("s", 1201), repeat("q", 2441)}, 0, false},
		{"nobody is noisy while the others have no data", []script{marked, "q" + repeat("x", tenMinutes)}, 0, false},
		{"thirty minutes of quiet take the mark away", []script{marked + repeat("q", thirtyMinutes), lone + repeat("q", thirtyMinutes)}, 2, false},
		{"twenty-nine do not", []script{marked + repeat("q", thirtyMinutes-240), lone + repeat("q", thirtyMinutes-240)}, 1, true},
		{"starting to move with another link takes it away", []script{marked + repeat("q", 40) + "s", lone + repeat("n", 41)}, 2, false},
		{"moving on while another link comes and goes does not", []script{marked + repeat("s", 400), lone + repeat("n", 400)}, 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, l := watched(c.scripts...)
			marks := f.Learned().Noisy
			if len(l.changes) != c.changes || len(marks) != count(c.noisy) {
				t.Errorf("changes %v and marks %v, want %d changes and noisy %v", l.changes, marks, c.changes, c.noisy)
			}
		})
	}
}

// TestLinkOfARoomIsNoWitnessOfOneThatGoesElsewhere: somebody who sits for long in a room between, where only one of them passes, stays seen.
func TestLinkOfARoomIsNoWitnessOfOneThatGoesElsewhere(t *testing.T) {
	t.Parallel()
	for _, ends := range [][2]string{{"Kitchen", ""}, {"Kitchen", "Kitchen"}, {"Kitchen", "Bedroom"}, {"Hall", "Hall"}} {
		l := &log{}
		f := fuse.New(l.emit)
		f.SetZone(key(1), "Kitchen", "Hall")
		f.SetZone(key(2), ends[0], ends[1])
		feed(f, "q"+repeat("s", tenMinutes), "q"+repeat("q", tenMinutes))
		if len(l.changes) != 0 || !strings.HasSuffix(l.steps.String(), "M") {
			t.Errorf("beside one of %q: changes %v", ends, l.changes)
		}
	}
}

func TestLinkThatNoneRunsBesideIsJudgedOverHalfAnHour(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	feed(f, "q"+repeat("s", thirtyMinutes-4), "q"+repeat("q", thirtyMinutes-4))
	if len(l.changes) != 0 {
		t.Fatalf("changes %v before half an hour", l.changes)
	}
	for i := thirtyMinutes - 3; i < thirtyMinutes+3; i++ {
		add(f, l, 1, i, 's')
		add(f, l, 2, i, 'q')
	}
	if len(l.changes) != 1 || l.changes[0].Link != key(1) || !l.changes[0].Noisy {
		t.Errorf("changes %v, want link 1 marked once", l.changes)
	}
}

func TestNoisyLinkDecidesOnlyWithOthers(t *testing.T) {
	t.Parallel()
	f, l := watched("q"+repeat("s", tenMinutes), "q"+repeat("q", tenMinutes))
	n := len(l.times)
	for i, letters := range []string{"sq", "sq", "sn", "sn"} {
		add(f, l, 1, tenMinutes+1+i, letters[0])
		add(f, l, 2, tenMinutes+1+i, letters[1])
	}
	if got, want := l.steps.String()[n-4:], "MM"; got[:2] != want {
		t.Errorf("steps before the mark %s, want %s", got, want)
	}
	if got, want := l.steps.String()[n:], "--MM"; got != want {
		t.Errorf("steps after the mark %s, want %s", got, want)
	}
}

func TestNoisyLinkAloneDecidesNothing(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.Restore(fuse.Learned{Noisy: []fuse.NoisyLink{{Link: key(1), Since: start}}})
	feed(f, "qssssssss")
	for _, s := range l.samples {
		if s.Motion || !s.Valid || !s.Links[0].Noisy {
			t.Errorf("sample %+v, want valid, without motion, link marked", s)
		}
	}
}

func TestNoiseMarkSurvivesARestart(t *testing.T) {
	t.Parallel()
	before, _ := watched("q"+repeat("s", tenMinutes), "q"+repeat("q", tenMinutes))
	stored, err := json.Marshal(before.Learned())
	if err != nil {
		t.Fatal(err)
	}
	var learned fuse.Learned
	if err := json.Unmarshal(stored, &learned); err != nil {
		t.Fatalf("%s: %v", stored, err)
	}
	l := &log{}
	f := fuse.New(l.emit)
	f.Restore(learned)
	f.SetZone(key(1), "Kitchen", "Hall")
	f.SetZone(key(2), "Kitchen", "Hall")
	feed(f, "qssssss", "qqqqqqq")
	finish(f)
	if got, want := l.head(7), "-------"; got != want || len(l.changes) != 0 {
		t.Errorf("steps %s with changes %v, want %s without: stored %s", got, l.changes, want, stored)
	}
}
