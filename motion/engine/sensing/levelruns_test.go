package sensing

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

const runsBegin motion.Time = 1764000000

// judgedSample is sample i of a Fuser, in motion at the levels of the bits.
func judgedSample(t *testing.T, levels uint8) func(i int) *fuse.Sample {
	t.Helper()
	var made fuse.Levels
	f := fuse.New(func(s *fuse.Step) {
		if s.Sample != nil && s.Valid {
			made = s.Sample.Levels
		}
	})
	for k := range 12 {
		f.Add(fuse.Link{}, detect.Tick{Time: runsBegin.Add(float64(k) * detect.TickInterval), Valid: true, Levels: detect.Levels{Motion: levels}})
	}
	if !made.Known() || uint8(made)&15 != levels {
		t.Fatalf("levels %08b, want %04b", made, levels)
	}
	return func(i int) *fuse.Sample {
		s := halfSample(runsBegin.Add(float64(i)*half), levels&2 != 0, levels&2 != 0, 1) // level 2 is in force
		s.Levels = made
		return &s
	}
}

// TestLevelRunsKeepWhatWasNoted holds runs against a list of the same samples.
func TestLevelRunsKeepWhatWasNoted(t *testing.T) {
	t.Parallel()
	kinds := []func(int) *fuse.Sample{judgedSample(t, 0), judgedSample(t, 1), judgedSample(t, 3), judgedSample(t, 15)}
	rapid.Check(t, func(t *rapid.T) {
		var runs levelRuns
		type noted struct{ at, kind int }
		var list []noted
		i := 0
		for range rapid.IntRange(1, 30).Draw(t, "stretches") {
			i += rapid.SampledFrom([]int{0, 0, 0, 3, 1000, 100000}).Draw(t, "gap")
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			for range rapid.SampledFrom([]int{1, 2, 50, 30000}).Draw(t, "samples") {
				i++
				runs.note(kinds[kind](i))
				list = append(list, noted{i, kind})
				if i%7 == 0 {
					runs.note(kinds[3](i - 1)) // late
				}
			}
		}
		from := runsBegin.Add(float64(max(0, int64(i)-halvesKept)) * half)
		if since := runs.since(); since > from && len(list) > 0 && since > runsBegin.Add(float64(list[0].at-1)*half) {
			t.Fatalf("known since %v only, want %v", since, from)
		}
		if runs.end-runs.start >= 2*halvesKept {
			t.Fatalf("%d samples are kept", runs.end-runs.start)
		}
		for level, lowest := range []int{2, 1, 2, 3, 3} { // the least kind that moves; of level 0 that of level 2
			k := 0
			for k < len(list) && runsBegin.Add(float64(list[k].at-1)*half) < max(from, runs.since()) {
				k++
			}
			for s := range runs.samples(max(from, runs.since()), level) {
				want := list[k]
				if s.Time != runsBegin.Add(float64(want.at)*half) || s.Motion != (want.kind >= lowest) || !s.Valid {
					t.Fatalf("level %d: sample of %v in motion %v, want %+v", level, s.Time, s.Motion, want)
				}
				k++
			}
			if k != len(list) {
				t.Fatalf("level %d: %d of %d samples", level, k, len(list))
			}
		}
	})
}

func TestLevelRunsAreBounded(t *testing.T) {
	t.Parallel()
	quiet, moving := judgedSample(t, 0), judgedSample(t, 1)
	var runs levelRuns
	for i := range 3 * maxRuns {
		if i%2 == 0 {
			runs.note(quiet(i))
		} else {
			runs.note(moving(i))
		}
	}
	if len(runs.runs) != maxRuns || cap(runs.runs) > 2*maxRuns || runs.since() != runsBegin.Add(float64(2*maxRuns-1)*half) {
		t.Errorf("%d runs in %d, since %v s", len(runs.runs), cap(runs.runs), runs.since().Since(runsBegin))
	}
}

func TestLevelRunsBeginAnew(t *testing.T) {
	t.Parallel()
	moving := judgedSample(t, 15)
	for name, next := range map[string]struct {
		sample *fuse.Sample
		kept   int64
	}{
		"after the clock was set back":    {moving(-130), 1},
		"after a day without data":        {moving(100 + int(halvesKept)), 1},
		"not after a sample that is late": {moving(50), 10},
		"after a sample of a device":      {fuse.FromLinks(runsBegin.Add(60), half, nil, nil), 0},
	} {
		var runs levelRuns
		for i := range 10 {
			runs.note(moving(60 + i))
		}
		runs.note(next.sample)
		count := int64(0)
		for range runs.samples(0, 1) {
			count++
		}
		if count != next.kept || runs.end-runs.start != next.kept {
			t.Errorf("%s: %d samples over %d, want %d", name, count, runs.end-runs.start, next.kept)
		}
	}
}
