package fuse_test

import (
	"math"
	"testing"

	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// heard is a link of a home, and how it is in motion.
type heard struct {
	room, far string
	power     float64 // lm; 0 = still
	rssi      float64 // dBm
}

// located returns where motion is after two seconds in a home.
func located(links ...heard) []fuse.Place {
	l := &log{}
	f := fuse.New(l.emit)
	for n, of := range links {
		f.SetZone(key(n+1), of.room, of.far)
	}
	for i := range 8 {
		for n, of := range links {
			f.Add(key(n+1), of.tick(i))
		}
	}
	return l.samples[len(l.samples)-1].Location()
}

func (h heard) tick(i int) detect.Tick {
	letter := byte('s')
	if h.power == 0 {
		letter = 'q'
	}
	t, _ := tick(at(i), letter)
	if h.power != 0 {
		t.Power = h.power
	}
	t.Quality.RSSI = h.rssi
	return t
}

func TestRoomIsThatOfTheLinksThatMotionScattersMostTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		links []heard
		want  []string
	}{
		{"the same change of a stronger signal is more", []heard{{"A", "", -5, -40}, {"B", "", -5, -55}}, []string{"A"}},
		{"a small change of a strong signal beats a large one of a weak signal",
			[]heard{{"Kitchen", "Hall", -5, -35}, {"Hall", "", -2, -65}}, []string{"Kitchen"}},
		{"two rooms alike are both named", []heard{{"A", "", -5, -40}, {"B", "", -5, -41}}, []string{"A", "B"}},
		{"three rooms alike: two are named", []heard{{"A", "", -5, -40}, {"B", "", -5, -40}, {"C", "", -5, -40}}, []string{"A", "B"}},
		{"a room whose other link is still is less sure", []heard{{"A", "", -5, -40}, {"A", "", 0, -40}, {"B", "", -5, -45}}, []string{"B", "A"}},
		{"links that end in a room speak for it",
			[]heard{{"A", "C", -5, -40}, {"B", "C", -5, -40}, {"C", "", -5, -40}, {"A", "", 0, -40}, {"B", "", 0, -40}}, []string{"C"}},
		{"no room is named after the other end alone", []heard{{"A", "Loft", -5, -40}}, []string{"A"}},
		{"signal strength unknown", []heard{{"A", "", -3, 0}, {"B", "", -7, 0}}, []string{"A"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			places := located(c.links...)
			if len(places) != len(c.want) {
				t.Fatalf("%+v: location %+v, want %v", c.links, places, c.want)
			}
			for i := range places {
				if places[i].Zone != c.want[i] {
					t.Fatalf("%+v: location %+v, want %v", c.links, places, c.want)
				}
			}
		})
	}
}

// TestRoomIsOfLinksThatStartNothingToo: a link that hears most of somebody and does not start motion by itself says where they are,
// unless what it hears is far below that, is its quiet, or may be of something else.
func TestRoomIsOfLinksThatStartNothingToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*detect.Tick)
		marked bool
		want   string
	}{
		"some of what starts motion": {func(*detect.Tick) {}, false, "Kitchen"},
		"a little of it":             {func(t *detect.Tick) { t.Reach = 0.2 }, false, "Hall"},
		"its quiet":                  {func(t *detect.Tick) { t.Power = t.Baseline + 0.2 }, false, "Hall"},
		"a weak link":                {func(t *detect.Tick) { t.Quality.Weak = true }, false, "Hall"},
		"one that is marked noisy":   {func(*detect.Tick) {}, true, "Hall"},
		"a jump of its path": {func(t *detect.Tick) {
			t.Jump, t.Normal = true, detect.Verdict{On: true, Stay: true, Motion: true}
		}, false, "Hall"},
	} {
		l := &log{}
		f := fuse.New(l.emit)
		f.SetZone(key(1), "Kitchen", "")
		f.SetZone(key(2), "Hall", "")
		if c.marked {
			f.Restore(fuse.Learned{Noisy: []fuse.NoisyLink{{Link: key(1)}}})
		}
		for i := range 8 {
			quiet, _ := tick(at(i), 'q')
			quiet.Power, quiet.Quality.RSSI, quiet.Reach = -5, -30, 0.4
			c.change(&quiet)
			f.Add(key(1), quiet)
			f.Add(key(2), heard{power: -5, rssi: -60}.tick(i))
		}
		if s := l.samples[len(l.samples)-1]; len(s.Location()) != 1 || s.Location()[0].Zone != c.want {
			t.Errorf("%s: %+v, want %s", name, s.Location(), c.want)
		}
	}
}

func TestConfidenceIsTheChanceAmongTheRooms(t *testing.T) {
	t.Parallel()
	places := located(heard{"A", "", -5, -40}, heard{"B", "", -5, -42})
	ratio := math.Pow(10, -2./20)
	want := 1 / (1 + math.Pow(ratio, 5))
	if len(places) != 1 || !near(places[0].Confidence, want) || !near(places[0].Share, 1/(1+ratio*ratio)) {
		t.Errorf("2 dB more in A: %+v, want a confidence of %.3f and a share of the power", places, want)
	}
	if alone := located(heard{"A", "", -5, -40}); alone[0].Confidence != 0.97 || alone[0].Share != 1 {
		t.Errorf("a home of one room: %+v, want a confidence of 0.97", alone)
	}
}

func TestRoomFollowsWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.SetZone(key(1), "Kitchen", "")
	f.SetZone(key(2), "Hall", "")
	for i := range 24 {
		kitchen, hall := heard{power: -4, rssi: -40}, heard{power: -7, rssi: -40}
		if i >= 12 {
			kitchen, hall = hall, kitchen
		}
		f.Add(key(1), kitchen.tick(i))
		f.Add(key(2), hall.tick(i))
	}
	if at := l.samples[6].Location(); at[0].Zone != "Kitchen" {
		t.Errorf("half a second after somebody has left: %+v, want the kitchen still: one sample may mislead", at)
	}
	for _, s := range l.samples[9:] {
		if at := s.Location(); at[0].Zone != "Hall" || len(at) != 1 {
			t.Errorf("two seconds later and on: %+v, want the hall", at)
		}
	}
}

func TestMotionBeginsWithoutTheRoomBefore(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.SetZone(key(1), "Kitchen", "")
	f.SetZone(key(2), "Hall", "")
	for i := range 16 {
		kitchen, hall := heard{power: -2, rssi: -40}, heard{}
		switch {
		case i >= 12:
			kitchen, hall = heard{}, heard{power: -7, rssi: -40}
		case i >= 8:
			kitchen = heard{}
		}
		f.Add(key(1), kitchen.tick(i))
		f.Add(key(2), hall.tick(i))
	}
	for _, s := range l.samples {
		if at := s.Location(); s.Motion && s.Time > l.samples[5].Time && (len(at) != 1 || at[0].Zone != "Hall") {
			t.Errorf("at %v: %+v, want the hall alone", s.Time, at)
		}
	}
}
