package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// packet returns an Ethernet packet with a datagram.
func packet(port uint16, payload string) []byte {
	p := make([]byte, 14+20+8, 14+20+8+len(payload))
	p[12], p[13] = 8, 0
	ip := p[14:]
	ip[0], ip[9] = 0x45, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(28+len(payload)))
	binary.BigEndian.PutUint16(ip[22:], port)
	binary.BigEndian.PutUint16(ip[24:], uint16(8+len(payload)))
	return append(p, payload...)
}

// pcap returns a file of packets, one each 0.25 s.
func pcap(order binary.AppendByteOrder, magic, link uint32, packets ...[]byte) []byte {
	file := order.AppendUint32(nil, magic)
	file = append(file, make([]byte, 16)...)
	file = order.AppendUint32(file, link)
	quarter := uint32(250_000)
	if magic == pcapNanoseconds {
		quarter *= 1000
	}
	for i, p := range packets {
		file = order.AppendUint32(file, 1_700_000_000+uint32(i/4))
		file = order.AppendUint32(file, uint32(i%4)*quarter)
		file = order.AppendUint32(file, uint32(len(p)))
		file = order.AppendUint32(file, uint32(len(p)))
		file = append(file, p...)
	}
	return file
}

func TestPCAPOfEveryByteOrderAndLinkIsRead(t *testing.T) {
	t.Parallel()
	whole := packet(5500, "one")
	for _, test := range []struct {
		name        string
		order       binary.AppendByteOrder
		magic, link uint32
		strip       func([]byte) []byte
	}{
		{"little endian", binary.LittleEndian, pcapMicroseconds, 1, slices.Clip[[]byte]},
		{"big endian", binary.BigEndian, pcapMicroseconds, 1, slices.Clip[[]byte]},
		{"nanoseconds", binary.LittleEndian, pcapNanoseconds, 1, slices.Clip[[]byte]},
		{"nanoseconds, big endian", binary.BigEndian, pcapNanoseconds, 1, slices.Clip[[]byte]},
		{"IP", binary.LittleEndian, pcapMicroseconds, 101, func(p []byte) []byte { return p[14:] }},
		{"Linux cooked", binary.LittleEndian, pcapMicroseconds, 113, func(p []byte) []byte { return append([]byte{0, 0}, p...) }},
	} {
		fragment := bytes.Clone(whole)
		fragment[14+6] = 0x20
		tcp := bytes.Clone(whole)
		tcp[14+9] = 6
		packets := [][]byte{whole, packet(80, ""), fragment, tcp, whole[:len(whole)-1], append(bytes.Clone(whole), 1, 2, 3, 4)}
		for i := range packets {
			packets[i] = test.strip(packets[i])
		}
		got, others, err := parsePCAP(bytes.NewReader(pcap(test.order, test.magic, test.link, packets...)))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := []Message{{0, 5500, []byte("one")}, {0.25, 80, nil}, {1.25, 5500, []byte("one")}}
		if others != 3 || !slices.EqualFunc(got, want, func(a, b Message) bool {
			return math.Abs(a.Time-b.Time) < 1e-6 && a.Port == b.Port && bytes.Equal(a.Payload, b.Payload)
		}) {
			t.Errorf("%s: %v and %d others", test.name, got, others)
		}
	}
}

func TestDamagedPCAPIsRefused(t *testing.T) {
	t.Parallel()
	file := pcap(binary.LittleEndian, pcapMicroseconds, 1, packet(1, "x"))
	large := bytes.Clone(file)
	large[pcapHeader+8+3] = 1
	for name, bad := range map[string][]byte{
		"cut within a packet": file[:len(file)-1],
		"cut within a record": file[:pcapHeader+3],
		"a packet of 16 MB":   large,
		"another link":        pcap(binary.LittleEndian, pcapMicroseconds, 127),
	} {
		if _, _, err := parsePCAP(bytes.NewReader(bad)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	path := filepath.Join(t.TempDir(), "x.pcap")
	if err := os.WriteFile(path, []byte("\n\r\r\n a pcapng"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadPCAP(path); !errors.Is(err, ErrNoPCAP) {
		t.Errorf("another form: %v", err)
	}
}

func TestRealNexmonCapturesAreRead(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"4339": 2850, "43455c0": 566, "4358": 4, "4366c0": 293} {
		datagrams, others, err := ReadPCAP(filepath.Join(data(t), "nodes", "nexmon", "example_"+name+".pcap"))
		if err != nil {
			t.Fatal(err)
		}
		if len(datagrams) != want || others != 0 {
			t.Errorf("%s: %d datagrams and %d others", name, len(datagrams), others)
		}
		for _, d := range datagrams {
			if d.Port != 5500 || len(d.Payload) != 18+4*256 {
				t.Fatalf("%s: %d bytes to port %d", name, len(d.Payload), d.Port)
			}
		}
	}
}

func FuzzPCAP(f *testing.F) {
	f.Add(pcap(binary.LittleEndian, pcapMicroseconds, 1, packet(5500, "one")))
	f.Add(pcap(binary.BigEndian, pcapNanoseconds, 101, packet(5500, "one")[14:]))
	f.Fuzz(func(t *testing.T, file []byte) {
		datagrams, _, err := parsePCAP(bytes.NewReader(file))
		if err != nil {
			return
		}
		total := pcapHeader
		for _, d := range datagrams {
			total += pcapRecord + 28 + len(d.Payload)
		}
		if total > len(file) {
			t.Errorf("%d bytes of datagrams in a file of %d", total, len(file))
		}
	})
}
