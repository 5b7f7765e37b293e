package nodewire_test

import (
	"bytes"
	"testing"

	"sensegate/broker/nodewire"
	"sensegate/motion/csi"
)

func TestBothHeadersOfMicroESPectreAreRead(t *testing.T) {
	t.Parallel()
	state := append(make([]byte, 8), 0x01, 0xfe, 0x03, 0xfc)
	for _, test := range []struct {
		vector string
		flags  csi.Flags
	}{
		{"micro_v1", csi.ImagFirst},
		{"micro_v2", csi.ImagFirst | csi.GainLocked},
	} {
		var f nodewire.Frame
		if err := nodewire.MicroESPectre(vector(t, test.vector), &f); err != nil {
			t.Fatalf("%s: %v", test.vector, err)
		}
		if f.Seq != (nodewire.Sequence{Number: 200, Bits: 8}) || f.Flags != test.flags || f.Subcarriers() != 64 || f.Length != 128 ||
			!bytes.HasPrefix(f.Data, state) || nodewire.ESPectreChip(f.Format) != nodewire.ESP32C6 {
			t.Errorf("%s: %+v", test.vector, f)
		}
		if f.RSSI != 0 || f.Noise != csi.NoiseUnknown || f.Channel != 0 || !f.Src.IsZero() {
			t.Errorf("%s has what no such message tells: %+v", test.vector, f)
		}
	}
}

func TestOtherDatagramsAreNotMicroESPectre(t *testing.T) {
	t.Parallel()
	whole := vector(t, "micro_v2")
	for _, test := range []struct {
		name     string
		datagram []byte
		want     error
	}{
		{"nothing", nil, nodewire.ErrForm},
		{"another magic", append([]byte{0x54}, whole[1:]...), nodewire.ErrForm},
		{"a header cut short", whole[:6], nodewire.ErrTruncated},
		{"a pair too few", whole[:len(whole)-2], nodewire.ErrTruncated},
		{"a pair too many", append(bytes.Clone(whole), 0, 0), nodewire.ErrForm},
		{"no subcarriers", []byte{0x53, 0x43, 6, 1, 0, 0, 0}, nodewire.ErrForm},
		{"a record of version 3", vector(t, "espectre_http_record")[60:], nodewire.ErrForm},
	} {
		var f nodewire.Frame
		is(t, test.name, nodewire.MicroESPectre(test.datagram, &f), test.want)
	}
}

func FuzzMicroESPectre(f *testing.F) {
	f.Add([]byte("\x53\x43\x06\x01\xc8\x02\x00\x00\x01\x02\x03"))
	f.Add([]byte("\x53\x43\x06\xc8\x02\x00\x00\x01\x02\x03"))
	fuzzDecoder(f, nodewire.MicroESPectreSubcarriers, nodewire.MicroESPectre, func(t *testing.T, frame *nodewire.Frame) {
		var again nodewire.Frame
		if err := nodewire.MicroESPectre(nodewire.AppendMicroESPectre(nil, frame), &again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Data, frame.Data) || again.Seq != frame.Seq || again.Flags != frame.Flags || again.Format != frame.Format {
			t.Fatalf("%+v became %+v", frame, again)
		}
	})
}
