package detect_test

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
)

// vector is one stream of lm1_vectors.json.
type vector struct {
	Stream     string  `json:"stream"`
	File       string  `json:"file"`
	Skip       int     `json:"skip_packets"`
	CalUntil   float64 `json:"cal_until_s"`
	WantedMode string  `json:"mode"`
	Ticks      []struct {
		T         float64  `json:"t"`
		N         int      `json:"n"`
		R         *float64 `json:"R"`
		M         *float64 `json:"M"`
		Ra        *float64 `json:"Ra"`
		Ma        *float64 `json:"Ma"`
		Rb        *float64 `json:"Rb"`
		Mb        *float64 `json:"Mb"`
		On        bool     `json:"on"`
		Stay      bool     `json:"stay"`
		B         *float64 `json:"b"`
		Intensity float64  `json:"intensity"`
		State     bool     `json:"state"`
	} `json:"ticks"`
}

func captures(t *testing.T) string {
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "csi")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("captures are missing: %v", err)
		}
		t.Skipf("captures are missing (set SENSEGATE_DATA): %v", err)
	}
	return dir
}

func TestLinkMatchesTheGoldenVectors(t *testing.T) {
	t.Parallel()
	dir := captures(t)
	data, err := os.ReadFile(filepath.Join(dir, "lm1_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		t.Run(v.Stream, func(t *testing.T) {
			t.Parallel()
			compare(t, v, runCapture(t, filepath.Join(dir, v.File), v))
		})
	}
}

func compare(t *testing.T, v vector, got []detect.Tick) {
	t.Helper()
	if len(got) != len(v.Ticks) {
		t.Fatalf("%d ticks, want %d", len(got), len(v.Ticks))
	}
	worst := 0.0
	for i, want := range v.Ticks {
		tick := got[i]
		check := func(name string, got float64, want *float64) {
			if want == nil {
				if !math.IsNaN(got) {
					t.Errorf("t=%v %s = %v, want unknown", tick.Time, name, got)
				}
				return
			}
			d := math.Abs(got - *want)
			worst = max(worst, d)
			if !(d <= 1e-6) {
				t.Errorf("t=%v %s = %v, want %v", tick.Time, name, got, *want)
			}
		}
		f := tick.Features
		check("R", f.R, want.R)
		check("M", f.M, want.M)
		check("Ra", f.Ra, want.Ra)
		check("Ma", f.Ma, want.Ma)
		check("Rb", f.Rb, want.Rb)
		check("Mb", f.Mb, want.Mb)
		check("intensity", tick.Intensity, &want.Intensity)
		if want.B != nil {
			check("baseline", tick.Baseline, want.B)
		}
		verdict := detect.Verdict{On: want.On, Stay: want.Stay, Motion: want.State}
		if float64(tick.Time) != want.T || tick.Frames != want.N || tick.Valid != (want.R != nil) || tick.Normal != verdict {
			t.Errorf("t=%v n=%d valid=%v %+v, want t=%v n=%d %+v",
				tick.Time, tick.Frames, tick.Valid, tick.Normal, want.T, want.N, verdict)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d ticks, worst difference %.2g", len(got), worst)
}

// runCapture feeds a capture to an anchored link, its times from the first
// frame on rounded to 0.1 ms as the vectors' are.
func runCapture(t *testing.T, path string, v vector) []detect.Tick {
	t.Helper()
	frames, flags, ends := readCapture(t, path)
	config := detect.Defaults()
	config.Anchored, config.LM1, config.Calibration = true, true, v.CalUntil
	link := detect.NewLink(config)
	var ticks []detect.Tick
	emit := func(tick detect.Tick) { ticks = append(ticks, tick) }
	var now motion.Time
	for _, f := range frames[v.Skip:] {
		now = motion.Time(math.Round((f.t-frames[v.Skip].t)*1e4) / 1e4)
		link.Push(now, csi.Amplitudes(nil, f.raw, flags), ends, 0, emit)
	}
	link.Advance(now, emit)
	return ticks
}

type rawFrame struct {
	t   float64
	raw []byte
}

func readCapture(t *testing.T, path string) (frames []rawFrame, flags csi.Flags, ends []int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	var head struct {
		Kind     string   `json:"kind"`
		Segments [][2]int `json:"segments"`
	}
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes()[1:], &head); err != nil {
		t.Fatal(err)
	}
	if head.Kind == "amp_uint8" {
		flags = csi.Amplitude
	}
	for _, s := range head.Segments {
		ends = append(ends, s[1])
	}
	for lines.Scan(); lines.Scan(); {
		field := strings.Split(lines.Text(), ",")
		ms, err := strconv.ParseFloat(field[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(field[3])
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, rawFrame{ms / 1e3, raw})
	}
	return frames, flags, ends
}
