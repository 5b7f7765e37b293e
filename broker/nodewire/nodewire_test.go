package nodewire_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// dataFile returns a recording of real nodes below the data directory.
func dataFile(t testing.TB, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recordings are missing: %v", err)
		}
		t.Skipf("no recordings on this machine (set SENSEGATE_DATA): %v", err)
	}
	return path
}

// vector returns one of the messages that were put together by hand from the makers' documents.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(dataFile(t, "nodes", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors map[string]any
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	message, ok := vectors[name].(string)
	if !ok {
		t.Fatalf("no vector %s", name)
	}
	b, err := hex.DecodeString(message)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	accessPoint = motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}
	sentinels   = []error{nodewire.ErrOther, nodewire.ErrForm, nodewire.ErrTruncated}
)

// ramp returns channel state of n subcarriers, every byte another one.
func ramp(n int) []byte {
	data := make([]byte, 2*n)
	for i := range data {
		data[i] = byte(i*7 - 100)
	}
	return data
}

// checkError fails unless err is one of those that a decoder returns.
func checkError(t *testing.T, err error) {
	t.Helper()
	if !slices.Contains(sentinels, err) {
		t.Fatalf("error %v is none of the package's", err)
	}
}

// checkFrame fails if f breaks what Frame promises, or has more than limit subcarriers.
func checkFrame(t *testing.T, f *nodewire.Frame, limit int) {
	t.Helper()
	n := f.Subcarriers()
	if n < 1 || n > limit || len(f.Data) > 0 && len(f.Amplitudes) > 0 || len(f.Data)%2 != 0 || f.Length < n {
		t.Fatalf("%d subcarriers, %d bytes and %d amplitudes of %d bytes", n, len(f.Data), len(f.Amplitudes), f.Length)
	}
	for k, a := range f.Amplitudes {
		if !(a >= 0 && a <= 1<<62) {
			t.Fatalf("amplitude %d is %v", k, a)
		}
	}
	if len(f.Data) > 0 && f.Flags&csi.ImagFirst == 0 {
		t.Fatal("the order of the pairs is not told")
	}
	if len(f.Ends) > 0 && (!slices.IsSorted(f.Ends) || f.Ends[0] < 1 || f.Ends[len(f.Ends)-1] != n) {
		t.Fatalf("segments end at %v of %d", f.Ends, n)
	}
	if f.Seq.Bits < 32 && f.Seq.Number>>f.Seq.Bits != 0 {
		t.Fatalf("number %d of %d bits", f.Seq.Number, f.Seq.Bits)
	}
}

// fuzzDecoder checks that decode survives every message: that it returns one of the package's errors or a frame
// within the limits, the same one each time, and that neither the message nor what is behind it matters more
// than it should.
func fuzzDecoder(f *testing.F, limit int, decode func([]byte, *nodewire.Frame) error, check func(*testing.T, *nodewire.Frame)) {
	f.Fuzz(func(t *testing.T, message []byte) {
		original := slices.Clone(message)
		var frame nodewire.Frame
		err := decode(slices.Clip(message), &frame)
		if !slices.Equal(message, original) {
			t.Fatal("the message was changed")
		}
		if err != nil {
			checkError(t, err)
			return
		}
		checkFrame(t, &frame, limit)
		if check != nil {
			check(t, &frame)
		}
	})
}

// message is one of each kind, with 64 subcarriers, and how it is decoded again and again.
type message struct {
	name   string
	decode func(*nodewire.Frame) error
}

func messages(t testing.TB) []message {
	t.Helper()
	frame := nodewire.Frame{Node: 2, Src: accessPoint, Channel: 6, RSSI: -52, Noise: -95, Data: ramp(64), Format: 0x222}
	ruView := nodewire.AppendRuView(nil, &frame)
	micro := nodewire.AppendMicroESPectre(nil, &frame)
	line := nodewire.AppendLine(nil, &frame)
	integer := nodewire.AppendNexmon(nil, &frame)
	packed := slices.Clone(integer)
	packed[16] = 0x6a

	var session nodewire.ESPectreSession
	var lines nodewire.Lines
	var nexmon nodewire.Nexmon
	stream := nodewire.NewESPectreStream(&endless{session: session, frame: frame})
	return []message{
		{"ruview", func(f *nodewire.Frame) error { return nodewire.RuView(ruView, f) }},
		{"micro-espectre", func(f *nodewire.Frame) error { return nodewire.MicroESPectre(micro, f) }},
		{"espectre", stream.Next},
		{"nexmon integers", func(f *nodewire.Frame) error { return nexmon.Decode(integer, f) }},
		{"nexmon floats", func(f *nodewire.Frame) error { return nexmon.Decode(packed, f) }},
		{"lines", func(f *nodewire.Frame) error { return lines.Decode(line, f) }},
	}
}

// endless is a stream of raw records without an end.
type endless struct {
	session nodewire.ESPectreSession
	frame   nodewire.Frame
	record  []byte
	at      int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at == len(e.record) {
		e.record, e.at = e.session.Append(e.record[:0], nodewire.ESP32C6, &e.frame), 0
	}
	n := copy(p, e.record[e.at:])
	e.at += n
	return n, nil
}

func TestDecodingAllocatesNothing(t *testing.T) {
	for _, m := range messages(t) {
		var f nodewire.Frame
		if allocations := testing.AllocsPerRun(1000, func() {
			if err := m.decode(&f); err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
		}); allocations != 0 {
			t.Errorf("%s: %v allocations a frame", m.name, allocations)
		}
		if f.Subcarriers() != 64 {
			t.Errorf("%s: %d subcarriers", m.name, f.Subcarriers())
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, m := range messages(b) {
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			var f nodewire.Frame
			for b.Loop() {
				if err := m.decode(&f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

// is fails unless err is want.
func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
