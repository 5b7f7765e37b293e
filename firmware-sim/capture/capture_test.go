package capture

import (
	"bufio"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes a `*.csv.gz` file of the lines given.
func write(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

const columns = "t_ms,label,rssi,data_hex"

func TestPartsBecomeOneRecording(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x", "b.csv.gz"),
		`# {"kind":"amp_uint8","group":"g","recording":"r","part":1}`, columns, "500,2,-40,0102", "600.04,7,,0304")
	write(t, filepath.Join(dir, "y", "a.csv.gz"),
		`# {"kind":"amp_uint8","group":"g","recording":"r","part":0,"skip_frames":1,"calibrate":{"part":0},"quiet_guard_s":20}`,
		columns, "0,0,-50,0000", "10,0,-50.4,0a0b", "110,1,,0c0d")
	write(t, filepath.Join(dir, "z", "lonely.csv.gz"), `# {"kind":"amp_uint8"}`, columns, "0,0,,00")
	recordings, err := Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(recordings) != 2 {
		t.Fatalf("%d recordings", len(recordings))
	}
	r := recordings[0]
	if err := r.Load(); err != nil {
		t.Fatal(err)
	}
	want := []Frame{
		{0, Quiet, -50, []byte{10, 11}}, {0.1, Still, 0, []byte{12, 13}},
		{0.11, Motion, -40, []byte{1, 2}}, {0.21, Ignored, 0, []byte{3, 4}},
	}
	if len(r.Frames) != len(want) {
		t.Fatalf("frames %v", r.Frames)
	}
	for i, f := range r.Frames {
		if f.Time != want[i].Time || f.Label != want[i].Label || f.RSSI != want[i].RSSI || !slices.Equal(f.Data, want[i].Data) {
			t.Errorf("frame %d: %v, want %v", i, f, want[i])
		}
	}
	if end, some := r.CalibrationEnd(); !some || end != 0.1 || r.Header.QuietGuard != 20 {
		t.Errorf("calibration until %v (%v), guard %v", end, some, r.Header.QuietGuard)
	}
	if l := recordings[1]; l.Group != "z" || l.Name != "lonely" {
		t.Errorf("a capture without names is %q of %q", l.Name, l.Group)
	}
}

func TestCalibrationEndsWhereTheHeaderSays(t *testing.T) {
	t.Parallel()
	r := &Recording{}
	for i := range 10 {
		r.Frames = append(r.Frames, Frame{Time: float64(i), Label: []Label{Motion, Quiet}[i%2]})
	}
	r.ends = []float64{4, 9}
	n := func(v int) *int { return &v }
	for _, c := range []struct {
		name string
		c    *Calibration
		want float64
		some bool
	}{
		{"none", nil, 0, false},
		{"empty", &Calibration{}, 0, false},
		{"frames", &Calibration{Frames: n(3)}, 3, true},
		{"more frames than there are", &Calibration{Frames: n(30)}, 9, true},
		{"quiet frames", &Calibration{QuietFrames: n(2)}, 4, true},
		{"more quiet frames than there are", &Calibration{QuietFrames: n(30)}, 9, true},
		{"first part", &Calibration{Part: n(0)}, 4, true},
		{"a part that is missing", &Calibration{Part: n(5)}, 9, true},
	} {
		r.Header.Calibrate = c.c
		if got, some := r.CalibrationEnd(); got != c.want || some != c.some {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, got, some, c.want, c.some)
		}
	}
}

func TestBadFileIsNamedAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := `# {"kind":"amp_uint8"}`
	write(t, filepath.Join(dir, "good.csv.gz"), good, columns, "0,0,,00")
	write(t, filepath.Join(dir, "plain.csv.gz"), columns, "0,0,,00")
	write(t, filepath.Join(dir, "kind.csv.gz"), `# {"kind":"complex128"}`)
	if err := os.WriteFile(filepath.Join(dir, "zip.csv.gz"), []byte("PK"), 0o644); err != nil {
		t.Fatal(err)
	}
	recordings, err := Scan(dir)
	if len(recordings) != 1 || !errors.Is(err, ErrNoHeader) {
		t.Fatalf("%d recordings, error %v", len(recordings), err)
	}
	for _, name := range []string{"plain.csv.gz", "kind.csv.gz", "zip.csv.gz"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	for _, line := range []string{"0,0,00", "x,0,,00", "0,0,loud,00", "0,0,,0", "NaN,0,,00"} {
		path := write(t, filepath.Join(dir, "bad.csv.gz"), good, columns, "0,0,,00", line)
		if _, err := ReadCSV(path); err == nil || !strings.Contains(err.Error(), "line 4") {
			t.Errorf("%q: error %v", line, err)
		}
	}
}

func TestSegmentsPickTheirBins(t *testing.T) {
	t.Parallel()
	amp := []float32{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		name string
		s    Segments
		want []float32
		ends []int
	}{
		{"none", nil, amp, nil},
		{"all", Segments{{0, 3}, {3, 6}}, amp, []int{3, 6}},
		{"a hole between", Segments{{0, 2}, {4, 6}}, []float32{0, 1, 4, 5}, []int{2, 4}},
		{"beyond the frame", Segments{{2, 9}, {9, 12}}, []float32{2, 3, 4, 5}, []int{4}},
		{"backwards", Segments{{4, 2}, {-3, 1}}, []float32{0}, []int{1}},
	} {
		if got := c.s.Pick(nil, amp); !slices.Equal(got, c.want) {
			t.Errorf("%s: picked %v, want %v", c.name, got, c.want)
		}
		if got := c.s.Ends(len(amp)); !slices.Equal(got, c.ends) {
			t.Errorf("%s: ends %v, want %v", c.name, got, c.ends)
		}
	}
}

func TestJSONLinesAreOneCapturePerNode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "two.csi.jsonl")
	text := `{"timestamp":100.5,"node_id":2,"rssi":1,"iq_hex":"00ff7f80","subcarriers":2}
{"timestamp":100.6,"node_id":1,"rssi":-61,"iq_hex":"0102030405060708","subcarriers":4}

{"timestamp":100.7,"node_id":2,"type":"vitals","breathing_bpm":12}
{"timestamp":100.8,"node_id":2,"rssi":-50,"iq_hex":"01020304","subcarriers":2}
{"timestamp":101,"rssi":0,"subcarriers":[0,3.6,300,-1]}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	captures, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(captures) != 3 {
		t.Fatalf("%d captures", len(captures))
	}
	two, one, list := captures[0], captures[1], captures[2]
	if two.Node != 2 || len(two.Frames) != 2 || two.Start != 100.5 || two.Frames[0].RSSI != 0 || two.Frames[1].RSSI != -50 {
		t.Errorf("node 2: %+v", two)
	}
	if one.Node != 1 || len(one.Frames) != 1 || one.Start != 100.5 || len(one.Frames[0].Data) != 8 || one.Header.Kind != ImaginaryFirst {
		t.Errorf("node 1: %+v", one)
	}
	if list.Header.Kind != AmplitudeBytes || !slices.Equal(list.Frames[0].Data, []byte{0, 4, 255, 0}) {
		t.Errorf("list: %+v", list)
	}
	for _, c := range captures {
		for _, f := range c.Frames {
			if f.Label != Ignored {
				t.Errorf("label %d without labels", f.Label)
			}
		}
	}
}

func TestRealTwoNodeStreamIsRead(t *testing.T) {
	t.Parallel()
	captures, err := Read(filepath.Join(data(t), "csi", "ruview", "pretrain-1775182186.csi.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for _, c := range captures {
		counts[c.Node] += len(c.Frames)
	}
	if len(captures) != 2 || counts[1] != 2133+503+23 || counts[2] != 1994+631+25 {
		t.Errorf("frames per node %v", counts)
	}
}

func data(t *testing.T) string {
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("captures are missing: %v", err)
		}
		t.Skipf("captures are missing (set SENSEGATE_DATA): %v", err)
	}
	return dir
}

func FuzzCSV(f *testing.F) {
	f.Add(`# {"kind":"amp_uint8","segments":[[0,1]]}` + "\n" + columns + "\n0,0,-50,00\n")
	f.Add(`# {"kind":"iq_int8_imag_first","calibrate":{"frames":3}}` + "\n1e9,2,,0001\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Capture{Path: "fuzz.csv.gz"}
		if c.parse(newLines(strings.NewReader(text))) != nil {
			return
		}
		if _, err := c.Header.Flags(); err != nil {
			t.Errorf("accepted %v", err)
		}
		for _, frame := range c.Frames {
			if frame.RSSI > 0 || frame.Time != frame.Time {
				t.Errorf("accepted %+v", frame)
			}
		}
	})
}

func FuzzJSONL(f *testing.F) {
	f.Add(`{"timestamp":1,"node_id":2,"rssi":1,"iq_hex":"00ff","subcarriers":2}`)
	f.Add(`{"timestamp":1,"subcarriers":[1,2.5]}`)
	f.Fuzz(func(t *testing.T, text string) {
		captures, err := parseJSONL(bufio.NewScanner(strings.NewReader(text)), "fuzz.csi.jsonl")
		if err != nil {
			return
		}
		for _, c := range captures {
			flags, err := c.Header.Flags()
			if err != nil || len(c.Frames) == 0 {
				t.Errorf("accepted %+v", c)
			}
			for _, frame := range c.Frames {
				if len(frame.Data) == 0 || len(frame.Data)%flags.Width() != 0 {
					t.Errorf("data % x of kind %s", frame.Data, c.Header.Kind)
				}
			}
		}
	})
}
