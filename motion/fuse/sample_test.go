package fuse_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"sensegate/motion/fuse"
)

// measured returns a device's readings of one link.
func measured(n int, zone string, intensity, msad, mconf fuse.Reading) fuse.LinkSample {
	l := fuse.UnknownLink(key(n), zone)
	l.Intensity, l.Raw, l.Throughput, l.MSAD, l.MConf = intensity, intensity, 1, msad, mconf
	return l
}

func TestSampleOfADevicesReadings(t *testing.T) {
	t.Parallel()
	links := []fuse.LinkSample{
		measured(2, "Hallway", 0.04, 1.2, 84.85),
		measured(1, "Kitchen", 0.36, 132.7, 84.85),
	}
	s := fuse.FromLinks(start, 0.5, links, nil)
	if !s.Valid || !s.Motion || s.Intensity != 0.36 || s.Raw != 0.36 || s.MSAD != 132.7 || s.MConf != 84.85 {
		t.Errorf("sample %+v, want valid motion of 0.36 with the figures of link 1", s)
	}
	if strongest, ok := s.StrongestLink(); !ok || strongest.Link != key(1) {
		t.Errorf("strongest link %+v, want %v", strongest, key(1))
	}
	places := s.Location()
	want := 0.9 * (0.5 + 0.5*(132.7/84.85-1))
	if len(places) != 1 || places[0].Zone != "Kitchen" || places[0].Link != key(1) ||
		!near(places[0].Share, 0.9) || !near(places[0].Confidence, want) {
		t.Errorf("location %+v, want Kitchen with share 0.9 and confidence %.3f", places, want)
	}
}

func TestUnusableReadingsAreUnknown(t *testing.T) {
	t.Parallel()
	failed := measured(1, "Kitchen", 0.4, 100, 80)
	failed.Throughput = 0
	wild := measured(2, "Hallway", 7, fuse.Reading(math.Inf(1)), -3)
	wild.Raw = -1
	cases := []struct {
		name  string
		links []fuse.LinkSample
		valid bool
		want  fuse.Reading
	}{
		{"no link", nil, false, fuse.Unknown()},
		{"a link without readings", []fuse.LinkSample{fuse.UnknownLink(key(1), "Kitchen")}, false, fuse.Unknown()},
		{"a link whose sounding failed", []fuse.LinkSample{failed}, false, fuse.Unknown()},
		{"readings out of range", []fuse.LinkSample{wild}, true, 1},
		{"one link known, one not", []fuse.LinkSample{failed, measured(3, "Attic", 0, 1, 80)}, true, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := fuse.FromLinks(start, 0.5, c.links, nil)
			if s.Valid != c.valid || s.Intensity.Known() != c.want.Known() || c.want.Known() && s.Intensity != c.want {
				t.Errorf("links %+v: valid %v, intensity %v, want %v, %v", c.links, s.Valid, s.Intensity, c.valid, c.want)
			}
			if s.MSAD.Known() && math.IsInf(float64(s.MSAD), 0) {
				t.Errorf("msad %v, want a number or none", s.MSAD)
			}
		})
	}
	if s := fuse.Silence(start, 0.5); s.Valid || s.Intensity.Known() || s.Time != start {
		t.Errorf("silence %+v, want nothing known", s)
	}
}

func TestLocationIsTheZonesWithAQuarterOrMore(t *testing.T) {
	t.Parallel()
	type zone struct {
		name      string
		intensity fuse.Reading
	}
	cases := []struct {
		name     string
		zones    []zone
		priority []string
		want     []string
	}{
		{"no motion, no place", []zone{{"A", 0}, {"B", 0}}, nil, nil},
		{"the largest share first", []zone{{"A", 0.3}, {"B", 0.6}}, nil, []string{"B", "A"}},
		{"a small share is left out", []zone{{"A", 0.2}, {"B", 0.8}}, nil, []string{"B"}},
		{"exactly a quarter counts", []zone{{"A", 0.25}, {"B", 0.75}}, nil, []string{"B", "A"}},
		{"equal shares by name", []zone{{"B", 0.4}, {"A", 0.4}}, nil, []string{"A", "B"}},
		{"equal shares by the priority list", []zone{{"A", 0.4}, {"B", 0.4}, {"C", 0.4}}, []string{"C", "B"}, []string{"C", "B", "A"}},
		{"the priority list does not beat a larger share", []zone{{"A", 0.4}, {"B", 0.6}}, []string{"A"}, []string{"B", "A"}},
		{"one place at least", []zone{{"A", 0.2}, {"B", 0.2}, {"C", 0.2}, {"D", 0.2}, {"E", 0.3}}, nil, []string{"E"}},
		{"links of a zone are added up", []zone{{"A", 0.3}, {"B", 0.4}, {"A", 0.3}}, nil, []string{"A", "B"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var links []fuse.LinkSample
			for n, z := range c.zones {
				links = append(links, measured(n+1, z.name, z.intensity, 100, 80))
			}
			places := fuse.FromLinks(start, 0.5, links, c.priority).Location()
			var got []string
			for _, p := range places {
				got = append(got, p.Zone)
			}
			if len(got) != len(c.want) {
				t.Fatalf("zones %+v: location %v, want %v", c.zones, got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Fatalf("zones %+v: location %v, want %v", c.zones, got, c.want)
				}
			}
		})
	}
}

func TestPlaceNamesItsStrongestLink(t *testing.T) {
	t.Parallel()
	s := fuse.FromLinks(start, 0.5, []fuse.LinkSample{
		measured(1, "Kitchen", 0.2, 100, 80), measured(2, "Kitchen", 0.5, 100, 80), measured(3, "Kitchen", 0.3, 100, 80),
	}, nil)
	if got := s.Location()[0].Link; got != key(2) {
		t.Errorf("link %v, want %v", got, key(2))
	}
}

func TestMotionOfWeakLinksHasLowConfidence(t *testing.T) {
	t.Parallel()
	firm := fused("ssss").samples[1].Location()[0].Confidence
	weak := fused("wwww").samples[1].Location()[0].Confidence
	if !near(firm, 0.97) || !near(weak, firm/2) {
		t.Errorf("confidence %v firm, %v weak, want 0.97 and half of it", firm, weak)
	}
}

func TestNoisyLinkHardlyMovesTheLocation(t *testing.T) {
	t.Parallel()
	l := &log{}
	f := fuse.New(l.emit)
	f.Restore(fuse.Learned{Noisy: []fuse.NoisyLink{{Link: key(1), Since: start}}})
	f.SetZone(key(1), "Fan room", "")
	f.SetZone(key(2), "Kitchen", "")
	feed(f, "nnnnnnnn", "nnnnnnnn")
	places := l.samples[0].Location()
	if len(places) != 1 || places[0].Zone != "Kitchen" || !near(places[0].Share, 16./17) {
		t.Errorf("location %+v, want Kitchen with a share of 16 in 17: a quarter of the amplitude is a sixteenth of the power", places)
	}
}

func TestDevicesOwnLocationWins(t *testing.T) {
	t.Parallel()
	own := fuse.Place{Zone: "Hallway", Link: key(2), Confidence: 0.82}
	moving := fuse.FromLinks(start, 0.5, []fuse.LinkSample{measured(1, "Kitchen", 0.3, 100, 80)}, nil)
	moving.Locate(own)
	if got := moving.Location(); len(got) != 1 || got[0] != own {
		t.Errorf("location %+v, want %+v", got, own)
	}
	still := fuse.FromLinks(start, 0.5, []fuse.LinkSample{measured(1, "Kitchen", 0, 100, 80)}, nil)
	still.Locate(own)
	if got := still.Location(); len(got) != 0 {
		t.Errorf("location %+v without motion, want none", got)
	}
}

func TestSetLinksForgetsTheFormerSample(t *testing.T) {
	t.Parallel()
	priority := []string{"Attic"}
	samples := [][]fuse.LinkSample{
		{measured(2, "Hallway", 0.4, 1.2, 84.85), measured(1, "Kitchen", 0.36, 132.7, 84.85), measured(3, "Attic", 0.4, 2, 1)},
		{measured(1, "Kitchen", 0, 1, 80)},
		nil,
		{measured(3, "Attic", 0.7, 90, 80), measured(4, "Attic", 0.2, 70, 80)},
		{fuse.UnknownLink(key(1), "Kitchen")},
	}
	again := &fuse.Sample{}
	set := func(links []fuse.LinkSample) {
		again.SetLinks(start, 0.5, append(again.Links[:0], links...), priority)
	}
	for range 2 {
		for i, links := range samples {
			set(links)
			if got, want := fmt.Sprintf("%+v", *again), fmt.Sprintf("%+v", *fuse.FromLinks(start, 0.5, slices.Clone(links), priority)); got != want {
				t.Errorf("sample %d after others: %s, want %s", i, got, want)
			}
		}
		again.Locate(fuse.Place{Zone: "Cellar"})
	}
}

func TestSetLinksTakesNoNewMemory(t *testing.T) {
	links := []fuse.LinkSample{measured(2, "Hallway", 0.4, 1.2, 84.85), measured(1, "Kitchen", 0.36, 132.7, 84.85)}
	s := &fuse.Sample{}
	if n := testing.AllocsPerRun(10, func() { s.SetLinks(start, 0.5, append(s.Links[:0], links...), nil) }); n > 0 {
		t.Errorf("%g allocations, want none", n)
	}
}

func TestAbsentReadingIsNull(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(fuse.Readings{0, fuse.Unknown(), 0.5})
	if err != nil || string(text) != "[0,null,0.5]" {
		t.Fatalf("readings as %s, %v, want [0,null,0.5]", text, err)
	}
	var back fuse.Readings
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 3 || back[0] != 0 || back[1].Known() || back[2] != 0.5 {
		t.Errorf("read back %v, %v", back, err)
	}
	if floats := back.Floats(); floats[1] != 0 || floats[2] != 0.5 {
		t.Errorf("floats %v, want [0 0 0.5]", floats)
	}
	if p := back[1].Ptr(); p != nil {
		t.Errorf("pointer to %v, want nil", *p)
	}
}
