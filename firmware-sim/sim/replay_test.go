package sim

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// dataFile returns a real capture below the data directory.
func dataFile(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the captures are missing: %v", err)
		}
		t.Skipf("no captures on this machine: %v", err)
	}
	return path
}

// synthetic returns a take of two receivers of one transmitter, for so many
// seconds at 20 Hz.
func synthetic(seconds float64) Take {
	take := Take{Name: "synthetic"}
	for receiver := range 2 {
		c := &capture.Capture{Header: capture.Header{Kind: capture.AmplitudeBytes, Segments: capture.Segments{{0, 2}, {4, 6}}}}
		for i := 0; float64(i)/20 <= seconds; i++ {
			c.Frames = append(c.Frames, capture.Frame{
				Time: float64(i) / 20, Label: capture.Quiet, RSSI: -50, Data: []byte{1, 2, 99, 99, byte(i), byte(receiver)},
			})
		}
		take.Captures = append(take.Captures, c)
	}
	return take
}

// replayed is what the appliance received of a replay, by receiver.
type replayed map[motion.MAC][]csi.Batch

// replay plays takes to an appliance at speed and returns what came, in order.
func replay(t *testing.T, speed float64, takes ...Take) (replayed, []motion.Time) {
	t.Helper()
	a := newAppliance(t)
	var starts []motion.Time
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	counts, err := Replay(ctx, ReplayConfig{
		Takes: takes, Speed: speed, Gatekeeper: a.door.URL, OnTake: func(_ string, start motion.Time) { starts = append(starts, start) },
	})
	if err != nil || counts.Dropped != 0 {
		t.Fatalf("replay: %v, %+v", err, counts)
	}
	got := replayed{}
	for range counts.Messages {
		await(a, func(topic wire.Topic, raw motion.RawCSI) bool {
			var b csi.Batch
			if err := csi.Decode(bytes.Clone(raw), &b); err != nil {
				t.Fatalf("%s: %v", topic, err)
			}
			got[b.Dst] = append(got[b.Dst], b)
			return true
		})
	}
	return got, starts
}

func TestReplayKeepsFramesAndTimes(t *testing.T) {
	t.Parallel()
	take := synthetic(60)
	got, starts := replay(t, 60, take)
	if len(got) != 2 || len(starts) != 1 {
		t.Fatalf("%d receivers, %d takes: want 2 and 1", len(got), len(starts))
	}
	for _, batches := range got {
		n := 0
		for _, b := range batches {
			if span := b.Frames[len(b.Frames)-1].Offset; span >= 500_000 || len(b.Ends) != 2 || b.Subcarriers != 4 {
				t.Fatalf("a batch of %d µs, %d bins, segments %v", span, b.Subcarriers, b.Ends)
			}
			for i, f := range b.Frames {
				if want := starts[0].Add(take.Captures[0].Frames[n].Time); math.Abs(b.Time(i).Since(want)) > 2e-6 {
					t.Fatalf("frame %d at %f, want %f", n, b.Time(i), want)
				}
				if f.Data[2] != byte(n) || f.Seq != uint16(n) || f.RSSI != -50 {
					t.Fatalf("frame %d is %+v", n, f)
				}
				n++
			}
		}
		if n != len(take.Captures[0].Frames) {
			t.Errorf("%d frames of %d", n, len(take.Captures[0].Frames))
		}
	}
}

func TestFastReplayEndsAtThePresent(t *testing.T) {
	t.Parallel()
	take := synthetic(100)
	_, starts := replay(t, 100, take)
	behind := -starts[0].Add(take.Duration()).Since(motion.TimeOf(time.Now()))
	if behind < 0 || behind > 5 {
		t.Errorf("the last frame is %.1f s old", behind)
	}
}

func TestTakesFollowEachOther(t *testing.T) {
	t.Parallel()
	_, starts := replay(t, 200, synthetic(20), synthetic(30))
	if gap := starts[1].Since(starts[0]); math.Abs(gap-20-takeGap) > 1e-3 {
		t.Errorf("the second take starts %v s after the first, want 23", gap)
	}
}

func TestRealCapturesAreReplayed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		path      []string
		receivers int
		seconds   float64
	}{
		{"labelled amplitudes", []string{"csi", "ialr", "part_1.csv.gz"}, 1, 150},
		{"labelled I/Q", []string{"csi", "espectre", "test_c3_64sc_20260317_180816.csv.gz"}, 1, 60},
		{"two nodes, I/Q lines", []string{"csi", "ruview", "pretrain-1775182186.csi.jsonl"}, 2, 120},
		{"amplitude lines", []string{"csi", "ruview", "rec_1772470567081.csi.jsonl"}, 1, 5},
	} {
		takes, err := OpenTakes(dataFile(t, test.path...))
		if err != nil || len(takes) != 1 {
			t.Errorf("%s: %d takes, %v", test.name, len(takes), err)
			continue
		}
		if d := takes[0].Duration(); d < test.seconds*0.9 {
			t.Errorf("%s lasts %.1f s, want about %.0f", test.name, d, test.seconds)
		}
		frames := 0
		for _, c := range takes[0].Captures {
			frames += len(c.Frames)
		}
		got, _ := replay(t, 500, takes[0])
		received := 0
		for _, batches := range got {
			for _, b := range batches {
				received += len(b.Frames)
			}
		}
		if len(got) != test.receivers || received != frames {
			t.Errorf("%s: %d frames of %d receivers, want %d of %d", test.name, received, len(got), frames, test.receivers)
		}
	}
}

func TestPartsOfARecordingAreOneTake(t *testing.T) {
	t.Parallel()
	takes, err := OpenTakes(dataFile(t, "csi", "espectre"))
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := capture.Scan(dataFile(t, "csi", "espectre"))
	if err != nil {
		t.Fatal(err)
	}
	if len(takes) != len(recordings) {
		t.Errorf("%d takes, want the %d recordings", len(takes), len(recordings))
	}
}
