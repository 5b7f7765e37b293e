package sim

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sensegate/motion"
)

const oneDay motion.Seconds = 86400

func TestBackfillCoversTheRangeWithoutAGap(t *testing.T) {
	t.Parallel()
	from := noon.Add(-oneDay)
	blocks, _ := Backfill(42, NewHome(0), from, noon)
	if len(blocks) != 288 {
		t.Fatalf("%d blocks for a day, want 288", len(blocks))
	}
	for i, b := range blocks {
		if want := from.Add(float64(i) * historySpan); b.TS != want || b.Interval != 5000 || b.Count != 60 {
			t.Fatalf("block %d is %d × %d ms at %f, want 60 × 5000 at %f", i, b.Count, b.Interval, b.TS, want)
		}
		for k, v := range b.MKAI {
			if math.IsNaN(v) || v < 0 || v > 1 {
				t.Fatalf("block %d sample %d is %v", i, k, v)
			}
			total := 0.0
			for _, share := range b.Density[k] {
				total += share
			}
			if len(b.Density[k]) > 0 && math.Abs(total-1) > 0.01 {
				t.Fatalf("block %d sample %d: the shares sum to %v", i, k, total)
			}
		}
	}
}

func TestBackfilledEventsComeInPairs(t *testing.T) {
	t.Parallel()
	_, events := Backfill(42, NewHome(0), noon.Add(-oneDay), noon)
	if len(events) < 20 {
		t.Fatalf("%d events in a day, want a lively home", len(events))
	}
	ids := map[string]bool{}
	for i, e := range events {
		want := motion.MotionDetectedEvent
		if i%2 == 1 {
			want = motion.MotionStoppedEvent
		}
		if e.Event != want || ids[e.ID] || e.LocName == "" || e.LinkID == "" {
			t.Fatalf("event %d: %+v, want a new %s with a place", i, e, want)
		}
		if i%2 == 1 && (e.DetectedTS != events[i-1].TS || e.TS.Since(e.DetectedTS) < 120) {
			t.Fatalf("event %d does not end the detection before it", i)
		}
		ids[e.ID] = true
	}
}

func TestBackfillRepeats(t *testing.T) {
	t.Parallel()
	blocks, events := Backfill(5, NewHome(0), noon.Add(-7200), noon)
	again, eventsAgain := Backfill(5, NewHome(0), noon.Add(-7200), noon)
	if diff := cmp.Diff(blocks, again, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("history of the same seed differs:\n%s", diff)
	}
	if diff := cmp.Diff(events, eventsAgain); diff != "" {
		t.Errorf("events of the same seed differ:\n%s", diff)
	}
}

func TestAPartlyMeasuredBlockHasUnknownSamples(t *testing.T) {
	t.Parallel()
	blocks, _ := Backfill(5, NewHome(0), noon.Add(100), noon.Add(200))
	if len(blocks) != 1 || blocks[0].TS != noon {
		t.Fatalf("blocks %+v, want the one at noon", blocks)
	}
	for k, v := range blocks[0].MKAI {
		if known := k >= 20 && k < 40; known == math.IsNaN(v) {
			t.Errorf("sample %d is %v, want it known: %v", k, v, known)
		}
	}
}

func TestHistoryOfWatchedTimeIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(5, NewHome(0), Scene{})
	m, p := newMeasurer(w), newPast(w)
	radar := motion.DefaultRadarConfig()
	var sent []motion.Time
	for at := noon.Add(sampleStep); at < noon.Add(4*historySpan); at = at.Add(sampleStep) {
		missed := at > noon.Add(historySpan+10) && at < noon.Add(historySpan+20)
		if block := p.take(m.measure(at, radar, 1), !missed); block != nil {
			sent = append(sent, block.TS)
		}
	}
	if diff := cmp.Diff([]motion.Time{noon.Add(historySpan)}, sent); diff != "" {
		t.Errorf("blocks sent (-want +got):\n%s", diff)
	}
}

func BenchmarkBackfillWeek(b *testing.B) {
	for b.Loop() {
		Backfill(42, NewHome(0), noon.Add(-7*oneDay), noon)
	}
}
