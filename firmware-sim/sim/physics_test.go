package sim

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// noon is a working day in the middle of the plan.
var noon = motion.TimeOf(time.Date(2025, 11, 24, 12, 0, 0, 0, time.UTC))

func TestSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	record := func(seed uint64) []byte {
		w := newWorld(seed, NewHome(0), OpeningScene(NewHome(0), noon))
		var out []byte
		for i := range w.links {
			r := newRadio(seed, &w.links[i])
			for at := noon; at < noon.Add(10); at = at.Add(sampleStep) {
				out = csi.Append(out, r.frames(at, at.Add(sampleStep), w.walks(nil, at, at.Add(sampleStep))))
			}
		}
		return out
	}
	first := record(7)
	if !bytes.Equal(first, record(7)) {
		t.Error("two runs of seed 7 differ")
	}
	if bytes.Equal(first, record(8)) {
		t.Error("seeds 7 and 8 give the same bytes")
	}
}

func TestFramesDoNotDependOnTheBatchLength(t *testing.T) {
	t.Parallel()
	w := newWorld(3, NewHome(0), OpeningScene(NewHome(0), noon))
	rapid.Check(t, func(t *rapid.T) {
		link := &w.links[rapid.IntRange(0, len(w.links)-1).Draw(t, "link")]
		from := noon.Add(rapid.Float64Range(0, 60).Draw(t, "from"))
		middle := from.Add(rapid.Float64Range(0.05, 2).Draw(t, "middle"))
		to := middle.Add(rapid.Float64Range(0.05, 2).Draw(t, "to"))
		walks := w.walks(nil, from, to)
		whole := data(newRadio(3, link).frames(from, to, walks))
		r := newRadio(3, link)
		parts := append(data(r.frames(from, middle, walks)), data(r.frames(middle, to, walks))...)
		if !bytes.Equal(whole, parts) {
			t.Fatalf("%s from %f over %f to %f: one batch and two differ", link.Name, from, middle, to)
		}
	})
}

func data(b *csi.Batch) []byte {
	var all []byte
	if b == nil {
		return nil
	}
	for _, f := range b.Frames {
		all = append(all, f.Data...)
	}
	return all
}

func TestBatchesHoldTwentyFiveFramesASecond(t *testing.T) {
	t.Parallel()
	links := NewHome(0).Links()
	r := newRadio(1, &links[0])
	b := r.frames(noon, noon.Add(20), nil)
	if n := len(b.Frames); n < 499 || n > 501 {
		t.Errorf("%d frames in 20 s, want 500", n)
	}
	var back csi.Batch
	if err := csi.Decode(csi.Append(nil, b), &back); err != nil {
		t.Fatalf("the batch cannot be decoded: %v", err)
	}
	if !slices.IsSortedFunc(back.Frames, func(a, b csi.Frame) int { return int(a.Offset) - int(b.Offset) }) {
		t.Error("frames are out of order")
	}
}

func TestPlanIsOrderedAndQuietAtNight(t *testing.T) {
	t.Parallel()
	locations := NewHome(0).Locations()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		midnight := time.Date(2025, 11, rapid.IntRange(1, 30).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		walks := planDay(seed, locations, midnight)
		var night, waking float64
		for i, w := range walks {
			if i > 0 && w.From < walks[i-1].From {
				t.Fatalf("walk %d starts before the one in front of it", i)
			}
			if w.To <= w.From || w.To.Since(w.From) > longestWalk || w.Vigour <= 0 || w.Vigour > 1 || !slices.Contains(locations, w.Location) {
				t.Fatalf("impossible walk %+v", w)
			}
			if hour := w.From.Std().Hour(); hour < 6 {
				night += w.To.Since(w.From)
			} else if hour < 23 {
				waking += w.To.Since(w.From)
			}
		}
		if night/6 > waking/17/2 || waking == 0 {
			t.Fatalf("%.0f s of walking at night, %.0f s by day", night, waking)
		}
	})
}

func TestWalksOfAMomentAreFoundInAnyOrder(t *testing.T) {
	t.Parallel()
	fresh := func() *world { return newWorld(11, NewHome(0), Scene{}) }
	used := fresh()
	rapid.Check(t, func(t *rapid.T) {
		at := noon.Add(float64(rapid.IntRange(-300_000, 300_000).Draw(t, "at")))
		if diff := cmp.Diff(fresh().walks(nil, at, at.Add(5)), used.walks(nil, at, at.Add(5))); diff != "" {
			t.Fatalf("walks at %f depend on what was asked before:\n%s", at, diff)
		}
	})
}

func TestSomebodyWalksTwoSecondsAfterTheStart(t *testing.T) {
	t.Parallel()
	home := NewHome(0)
	m := newMeasurer(newWorld(42, home, OpeningScene(home, noon)))
	radar, moved := motion.DefaultRadarConfig(), motion.Time(0)
	for at := noon; at < noon.Add(10) && moved == 0; at = at.Add(sampleStep) {
		if s := m.measure(at, radar, 1); s.moved() {
			moved = at
		}
	}
	if moved == 0 || moved.Since(noon) > 4 {
		t.Errorf("first motion %v s after the start, want about 2", moved.Since(noon))
	}
}

func TestFastClockEndsAtThePresentAndGoesOn(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_764_000_000, 0)
	c := clock{start: motion.TimeOf(began.Add(-60 * time.Second)), began: began, speed: 11}
	for _, test := range []struct {
		name string
		at   time.Duration // simulated, after the start
		due  time.Duration // real, after the start
	}{
		{"while it catches up", 33 * time.Second, 3 * time.Second},
		{"when it has caught up", 66 * time.Second, 6 * time.Second},
		{"in the present", 160 * time.Second, 100 * time.Second},
	} {
		due := c.due(c.start.Add(test.at.Seconds())).Sub(began)
		if math.Abs((due - test.due).Seconds()) > 1e-3 {
			t.Errorf("%s: %v of simulated time is due after %v, want %v", test.name, test.at, due, test.due)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	home := NewHome(0)
	links := home.Links()
	r := newRadio(1, &links[0])
	walks := []Walk{{Location: "Kitchen", From: noon.Add(-10), To: noon.Add(1e6), Vigour: 1}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := noon.Add(float64(i) * sampleStep)
		r.frames(at, at.Add(sampleStep), walks)
	}
	b.ReportMetric(float64(b.N)*12.5/b.Elapsed().Seconds(), "frames/s")
}
