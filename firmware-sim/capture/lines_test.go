package capture

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinesComeAtTheirTimes(t *testing.T) {
	t.Parallel()
	short := func(time string) string { return "CSI_DATA,1,m,-1,11,-96,0,0,11," + time + ",4,0,2,0,\"[1,2]\"\n" }
	for _, test := range []struct {
		name, text string
		want       []float64
	}{
		{"columns by their number", short("1000000") + short("1500000") + short("1500000"), []float64{0, 0.5, 0.5}},
		{"another line between", short("10") + "boot\n" + short("20010"), []float64{0, 0, 0.02}},
		{"the clock wraps", short("4294967295") + short("999999"), []float64{0, 1}},
		{"the clock starts anew", short("9000000") + short("5"), []float64{0, 0.01}},
		{"no time", short("?") + short("!") + "CSI_DATA,[1,2]\n", []float64{0, 0.01, 0.02}},
		{"columns by their names", "type,local_timestamp,data\nCSI_DATA,5,[1]\nCSI_DATA,100005,[1]", []float64{0, 0, 0.1}},
	} {
		messages := parseLines([]byte(test.text))
		var text []byte
		for i, m := range messages {
			text = append(text, m.Payload...)
			if i < len(test.want) && math.Abs(m.Time-test.want[i]) > 1e-9 {
				t.Errorf("%s: line %d at %v, want %v", test.name, i, m.Time, test.want[i])
			}
		}
		if len(messages) != len(test.want) || string(text) != test.text {
			t.Errorf("%s: %d lines, want %d:\n%s", test.name, len(messages), len(test.want), text)
		}
	}
}

func TestRecordedLinesLastAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	messages, err := ReadLines(filepath.Join(data(t), "nodes", "esp32_csi_tool", "example_data.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if last := messages[len(messages)-1].Time; len(messages) != 61 || math.Abs(last-12.534) > 0.01 {
		t.Errorf("%d lines in %.3f s, want 61 in 12.534", len(messages), last)
	}
	if !strings.HasPrefix(string(messages[0].Payload), "type,") || !bytes.HasSuffix(messages[60].Payload, []byte("]\n")) {
		t.Errorf("%q … %q", messages[0].Payload, messages[60].Payload)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("type,local_timestamp,data\nCSI_DATA,5,[1]\n"))
	f.Add([]byte("CSI_DATA,1,m,-1,11,-96,0,0,11,4294967295,4,0,2,0,\"[1,2]\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		last, length := 0.0, 0
		for _, m := range parseLines(text) {
			if m.Time < last || m.Time > last+10 {
				t.Fatalf("%v after %v", m.Time, last)
			}
			last, length = m.Time, length+len(m.Payload)
		}
		if length != len(text) {
			t.Fatalf("%d bytes of %d", length, len(text))
		}
	})
}
