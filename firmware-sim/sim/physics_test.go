package sim

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/firmware-sim/channel"
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
			r := newRadio(w, i)
			for at := noon; at < noon.Add(10); at = at.Add(sampleStep) {
				out = csi.Append(out, r.frames(at, at.Add(sampleStep), w.bodies(at, at.Add(sampleStep))))
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
		i := rapid.IntRange(0, len(w.links)-1).Draw(t, "link")
		from := noon.Add(rapid.Float64Range(0, 60).Draw(t, "from"))
		middle := from.Add(rapid.Float64Range(0.05, 2).Draw(t, "middle"))
		to := middle.Add(rapid.Float64Range(0.05, 2).Draw(t, "to"))
		whole := data(newRadio(w, i).frames(from, to, w.bodies(from, to)))
		r := newRadio(w, i)
		parts := append(data(r.frames(from, middle, w.bodies(from, middle))), data(r.frames(middle, to, w.bodies(middle, to)))...)
		if !bytes.Equal(whole, parts) {
			t.Fatalf("%s from %f over %f to %f: one batch and two differ", w.links[i].Name, from, middle, to)
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

func TestBatchesHoldTwentyFiveFramesASecondButForTheLost(t *testing.T) {
	t.Parallel()
	w := newWorld(1, NewHome(0), Scene{})
	r := newRadio(w, 0)
	b := r.frames(noon, noon.Add(20), &channel.Scene{})
	if n := len(b.Frames); n < 460 || n > 500 {
		t.Errorf("%d frames in 20 s, want 500 without the lost", n)
	}
	var back csi.Batch
	if err := csi.Decode(csi.Append(nil, b), &back); err != nil {
		t.Fatalf("the batch cannot be decoded: %v", err)
	}
	if !slices.IsSortedFunc(back.Frames, func(a, b csi.Frame) int { return int(a.Offset) - int(b.Offset) }) {
		t.Error("frames are out of order")
	}
	if off := back.Time(0).Since(noon); math.Abs(off) > 0.1 {
		t.Errorf("the clock of the device is %v s off", off)
	}
}

func TestALinkSeesBestWhereItsEndsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(1, NewHome(0), Scene{})
	for i, want := range map[int]string{0: "Kitchen", 5: "Bathroom", 7: "Office"} {
		near := w.nearness(i)
		if near[want] < 0.5 {
			t.Errorf("link %s of the leaf in the %s: %v", w.links[i].Name, want, near)
		}
	}
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
	w := newWorld(1, NewHome(0), Scene{})
	r := newRadio(w, 0)
	evening := noon.Add(8 * 3600)
	scene := w.bodies(evening, evening.Add(3600))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := evening.Add(float64(i%7200) * sampleStep)
		r.frames(at, at.Add(sampleStep), scene)
	}
	b.ReportMetric(float64(b.N)*12.5/b.Elapsed().Seconds(), "frames/s")
}
