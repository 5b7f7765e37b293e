package nodewire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

func TestIdentityOfESPectreIsAHashOfItsMAC(t *testing.T) {
	t.Parallel()
	for mac, want := range map[motion.MAC]uint64{
		{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}: 0x3cf79180d3a0aca4, // the makers' own example
		{0x3c, 0x84, 0x27, 0xa1, 0xb2, 0xc3}: 0xdc90b0929e8c3383,
	} {
		if got := nodewire.ESPectreDeviceID(mac); got != want {
			t.Errorf("%s: %016x, want %016x", mac, got, want)
		}
	}
}

func TestRecordOfESPectreIsRead(t *testing.T) {
	t.Parallel()
	record := vector(t, "espectre_http_record")
	stream := nodewire.NewESPectreStream(bytes.NewReader(record))
	var f nodewire.Frame
	if err := stream.Next(&f); err != nil {
		t.Fatal(err)
	}
	if f.Seq != (nodewire.Sequence{Number: 41, Bits: 32}) || f.Channel != 6 || f.RSSI != -45 || f.Noise != -96 ||
		f.Format != 0x221 || f.Flags != csi.ImagFirst || f.Subcarriers() != 64 || !bytes.Equal(f.Data, record[124:]) {
		t.Errorf("%+v", f)
	}
	s := stream.Session
	if s.Number != 1 || stream.Lost != 0 || s.DeviceID != nodewire.ESPectreDeviceID(motion.MAC{0x3c, 0x84, 0x27, 0xa1, 0xb2, 0xc3}) ||
		!bytes.Equal(s.ID[:], record[8:24]) {
		t.Errorf("session %+v, %d lost", s, stream.Lost)
	}
	is(t, "the end of the stream", stream.Next(&f), io.EOF)
}

// records returns a stream of so many records; change may alter each.
func records(n int, change func(i int, record []byte)) []byte {
	session := nodewire.ESPectreSession{ID: [16]byte{1, 2, 3}, DeviceID: 77}
	var stream []byte
	for i := range n {
		f := nodewire.Frame{Channel: 11, RSSI: -60, Noise: csi.NoiseUnknown, Format: 0x221, Data: ramp(64), Seq: nodewire.Sequence{Number: uint32(i)}}
		begin := len(stream)
		stream = session.Append(stream, nodewire.ESP32, &f)
		if change != nil {
			change(i, stream[begin:])
		}
	}
	return stream
}

func TestStreamIsReadHoweverItIsCut(t *testing.T) {
	t.Parallel()
	text := records(20, nil)
	for name, from := range map[string]io.Reader{
		"whole":            bytes.NewReader(text),
		"byte by byte":     iotest.OneByteReader(bytes.NewReader(text)),
		"in halves":        iotest.HalfReader(bytes.NewReader(text)),
		"with data at end": iotest.DataErrReader(bytes.NewReader(text)),
	} {
		stream := nodewire.NewESPectreStream(from)
		var f nodewire.Frame
		for i := range 20 {
			if err := stream.Next(&f); err != nil || f.Seq.Number != uint32(i) || f.Noise != csi.NoiseUnknown || !bytes.Equal(f.Data, ramp(64)) {
				t.Fatalf("%s: record %d is %+v, %v", name, i, f, err)
			}
		}
		is(t, name, stream.Next(&f), io.EOF)
	}
}

func TestDroppedRecordsAreCounted(t *testing.T) {
	t.Parallel()
	stream := nodewire.NewESPectreStream(bytes.NewReader(records(3, func(i int, r []byte) {
		binary.LittleEndian.PutUint64(r[24:], []uint64{5, 6, 10}[i])
	})))
	var f nodewire.Frame
	for i := range 3 {
		if err := stream.Next(&f); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if stream.Lost != 3 || stream.Session.Number != 10 {
		t.Errorf("%d lost up to number %d, want 3 up to 10", stream.Lost, stream.Session.Number)
	}
}

func TestStreamOutOfStepEnds(t *testing.T) {
	t.Parallel()
	second := func(change func(r []byte)) []byte {
		return records(2, func(i int, r []byte) {
			if i == 1 {
				change(r)
			}
		})
	}
	put := func(at int, b ...byte) []byte { return second(func(r []byte) { copy(r[at:], b) }) }
	whole := records(2, nil)
	for _, test := range []struct {
		name   string
		stream []byte
		want   error
	}{
		{"another magic", put(0, 0), nodewire.ErrForm},
		{"another version", put(4, 2), nodewire.ErrForm},
		{"another length of the first part", put(6, 64), nodewire.ErrForm},
		{"another session", put(8, 9), nodewire.ErrForm},
		{"the same number again", put(24, 1), nodewire.ErrForm},
		{"number 0", put(24, 0), nodewire.ErrForm},
		{"an empty record", put(32, 0, 0), nodewire.ErrForm},
		{"a record of 2,049 bytes", put(32, 1, 8), nodewire.ErrForm},
		{"another magic of the header", put(60, 0), nodewire.ErrForm},
		{"another node", put(74, 1), nodewire.ErrForm},
		{"another number of subcarriers", put(70, 65), nodewire.ErrForm},
		{"an unknown width", put(123, 16), nodewire.ErrOther},
		{"cut after a byte", whole[:252+1], nodewire.ErrTruncated},
		{"cut in the first part", whole[:252+20], nodewire.ErrTruncated},
		{"cut in the channel state", whole[:len(whole)-1], nodewire.ErrTruncated},
	} {
		stream := nodewire.NewESPectreStream(bytes.NewReader(test.stream))
		var f nodewire.Frame
		if err := stream.Next(&f); err != nil {
			t.Fatalf("%s: first record: %v", test.name, err)
		}
		is(t, test.name, stream.Next(&f), test.want)
	}
	var f nodewire.Frame
	is(t, "a broken connection", nodewire.NewESPectreStream(iotest.ErrReader(io.ErrClosedPipe)).Next(&f), io.ErrClosedPipe)
	is(t, "a reader that gives nothing", nodewire.NewESPectreStream(nothing{}).Next(&f), io.ErrNoProgress)
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestRecordsOfLaterVersionsAreSkipped(t *testing.T) {
	t.Parallel()
	known := records(2, func(i int, r []byte) { binary.LittleEndian.PutUint64(r[24:], []uint64{1, 3}[i]) })
	later := slices.Concat(known[:60], make([]byte, 2048))
	later[5] = 9
	later[24] = 2
	binary.LittleEndian.PutUint16(later[32:], 2048)
	stream := nodewire.NewESPectreStream(iotest.HalfReader(bytes.NewReader(slices.Concat(known[:252], later, known[252:]))))
	var f nodewire.Frame
	for i, want := range []error{nil, nodewire.ErrOther, nil, io.EOF} {
		is(t, "record "+string(rune('1'+i)), stream.Next(&f), want)
	}
	if stream.Lost != 0 {
		t.Errorf("%d lost", stream.Lost)
	}
}

func TestFirstSubcarriersThatAreNotValidAreCleared(t *testing.T) {
	t.Parallel()
	for chip, cleared := range map[nodewire.ESPectreChip][]byte{
		nodewire.ESP32:   {0, 0, 0, 0}, // begins with the middle of the band
		nodewire.ESP32C3: {0, 0, 0, 0},
		nodewire.ESP32C6: ramp(64)[64:68], // begins with its lower end, where nothing is
	} {
		record := records(1, func(_ int, r []byte) { r[64], r[65] = byte(chip), r[65]|1 })
		var f nodewire.Frame
		if err := nodewire.NewESPectreStream(bytes.NewReader(record)).Next(&f); err != nil {
			t.Fatal(err)
		}
		want := slices.Concat(ramp(64)[:64], cleared, ramp(64)[68:])
		if !bytes.Equal(f.Data, want) || f.Format != 1<<15|0x221 {
			t.Errorf("chip %d: format %x, data % x", chip, f.Format, f.Data)
		}
	}
}

// FuzzESPectre reads a stream in pieces of a size, whose first record is whole.
func FuzzESPectre(f *testing.F) {
	f.Add(records(2, nil), uint8(0))
	f.Add(records(3, nil)[:700], uint8(7))
	f.Fuzz(func(t *testing.T, text []byte, piece uint8) {
		for _, begin := range [][]byte{nil, records(1, nil)} {
			from := &pieces{slices.Concat(begin, text), int(piece) + 1}
			stream := nodewire.NewESPectreStream(from)
			var frame nodewire.Frame
			for number := uint64(0); ; {
				err := stream.Next(&frame)
				if err == io.EOF || err == nodewire.ErrTruncated || err == nodewire.ErrForm {
					break
				}
				if err != nil {
					checkError(t, err)
					continue
				}
				checkFrame(t, &frame, 64)
				if stream.Session.Number <= number {
					t.Fatalf("number %d after %d", stream.Session.Number, number)
				}
				number = stream.Session.Number
				if stream.Lost >= number {
					t.Fatalf("%d lost of %d", stream.Lost, number)
				}
			}
		}
	})
}

// pieces is a reader that gives so many bytes at once.
type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

func TestMotionEventsOfESPectreAreRead(t *testing.T) {
	t.Parallel()
	text := "retry: 3000\n: connected\n\n" +
		"event: motion\ndata: {\"timestamp_ms\":42000,\"state\":\"idle\",\"score\":0.0123}\n\n" +
		"event: health\ndata: {\"state\":\"motion\"}\n\n" +
		": heartbeat\n\n" +
		"id: 7\r\nevent:motion\r\ndata:{\"timestamp_ms\":42250,\r\ndata:\"state\":\"motion\",\"score\":1,\"more\":[]}\r\n\r\n" +
		"event: motion\ndata: {\"timestamp_ms\":1,\"state\":\"idle\"}\n\n" +
		"event: motion\ndata: {\"timestamp_ms\":1,\"state\":\"idle\",\"score\":1.5}\n\n" +
		"event: motion\ndata: {\"timestamp_ms\":-1,\"state\":\"idle\",\"score\":0}\n\n" +
		"event: motion\ndata: {\"timestamp_ms\":1,\"state\":\"\",\"score\":0}\n\n" +
		"event: motion\ndata: {\"state\":\"idle\",\"score\":0}\n\n" +
		"event: motion\ndata: nonsense\n\n" +
		"data: {\"timestamp_ms\":1,\"state\":\"idle\",\"score\":0}\n\n" +
		"event: motion\ndata: {\"timestamp_ms\":2,\"state\":\"idle\",\"score\":0}"
	type result struct {
		motion nodewire.ESPectreMotion
		err    error
	}
	wants := []result{
		{err: nodewire.ErrOther},
		{motion: nodewire.ESPectreMotion{Uptime: 42000, Score: 0.0123}},
		{err: nodewire.ErrOther},
		{err: nodewire.ErrOther},
		{motion: nodewire.ESPectreMotion{Uptime: 42250, Motion: true, Score: 1}},
		{err: nodewire.ErrForm}, {err: nodewire.ErrForm}, {err: nodewire.ErrForm}, {err: nodewire.ErrForm}, {err: nodewire.ErrForm}, {err: nodewire.ErrForm},
		{err: nodewire.ErrOther},
		{err: io.EOF},
	}
	for _, from := range []io.Reader{bytes.NewReader([]byte(text)), iotest.OneByteReader(bytes.NewReader([]byte(text)))} {
		events := nodewire.NewESPectreEvents(from)
		for i, want := range wants {
			var got nodewire.ESPectreMotion
			if err := events.Next(&got); !errors.Is(err, want.err) || got != want.motion {
				t.Fatalf("event %d: %+v, %v; want %+v, %v", i, got, err, want.motion, want.err)
			}
		}
	}
}

func TestLinesAndEventsOfESPectreAreBounded(t *testing.T) {
	t.Parallel()
	line := slices.Concat([]byte("data: "), bytes.Repeat([]byte{'x'}, 4089), []byte{'\n'})
	var m nodewire.ESPectreMotion
	fits := nodewire.NewESPectreEvents(bytes.NewReader(append(line, '\n')))
	is(t, "a line of 4 KiB", fits.Next(&m), nodewire.ErrOther)
	long := nodewire.NewESPectreEvents(bytes.NewReader(append([]byte{'x'}, line...)))
	is(t, "a longer line", long.Next(&m), nodewire.ErrTruncated)
	many := nodewire.NewESPectreEvents(bytes.NewReader(slices.Concat(line, line)))
	is(t, "an event of many lines", many.Next(&m), nodewire.ErrTruncated)
}

func FuzzESPectreEvents(f *testing.F) {
	f.Add(nodewire.AppendESPectreMotion(nil, nodewire.ESPectreMotion{Uptime: 42000, Score: 0.0123}))
	f.Add([]byte("retry: 3000\n: connected\n\nevent: motion\r\ndata: {\r\ndata: }\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events := nodewire.NewESPectreEvents(bytes.NewReader(text))
		var m nodewire.ESPectreMotion
		for range len(text) + 1 {
			err := events.Next(&m)
			if err == io.EOF || err == nodewire.ErrTruncated {
				return
			}
			if err != nil {
				checkError(t, err)
				continue
			}
			if !(m.Score >= 0 && m.Score <= 1) {
				t.Fatalf("score %v", m.Score)
			}
			var again nodewire.ESPectreMotion
			if err := nodewire.NewESPectreEvents(bytes.NewReader(nodewire.AppendESPectreMotion(nil, m))).Next(&again); err != nil ||
				again.Uptime != m.Uptime || again.Motion != m.Motion {
				t.Fatalf("%+v became %+v, %v", m, again, err)
			}
		}
		t.Fatal("more events than bytes")
	})
}
