package crashtest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/google/go-cmp/cmp"
)

// step is something that a traced product did, in its order: what it wrote when it
// began to, a sync when it was over.
type step struct {
	kind   stepKind
	offset int64
	data   []byte  // of a write
	synced int     // of a sync: the steps before this one are on the disk
	ack    receipt // of an acknowledgement
}

type stepKind int

const (
	writes stepKind = iota + 1
	resizes
	syncs
	acks
)

// longestString is what strace prints of a string: more than the product writes at
// once.
const longestString = 1 << 20

// tracer returns the command line before the product's. Options may inject faults.
func tracer(out string, options ...string) []string {
	line := []string{"strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", strconv.Itoa(longestString), "-o", out}
	line = append(line, options...)
	return append(line, "-e", "trace=pwrite64,ftruncate,fsync,fdatasync,write,openat,renameat2,unlinkat")
}

// trace reads what strace wrote of a product whose database is file.
type trace struct {
	file    string
	steps   []step
	syncing map[string]int           // by thread: the steps before a sync that is under way
	mqtt    map[string]*bytes.Buffer // by socket: what is not yet a whole packet
}

func readTrace(r io.Reader, file string) ([]step, error) {
	t := trace{file: file, syncing: map[string]int{}, mqtt: map[string]*bytes.Buffer{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*longestString)
	for n := 1; lines.Scan(); n++ {
		if err := t.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d of the trace: %w: %.200s", n, err, lines.Text())
		}
	}
	return t.steps, lines.Err()
}

// call is the shape of all system calls that are looked at.
var call = regexp.MustCompile(`^(\d+) +(write|pwrite64|ftruncate|fsync|fdatasync)\(\d+<([^>]*)>(?:, (.*)|\).*| <unfinished \.\.\.>)$`)

// resumed is the end of a sync in whose midst another thread was heard.
var resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (?:fsync|fdatasync) resumed>.* = 0$`)

func (t *trace) line(line string) error {
	if m := resumed.FindStringSubmatch(line); m != nil {
		if before, ok := t.syncing[m[1]]; ok {
			t.steps = append(t.steps, step{kind: syncs, synced: before})
			delete(t.syncing, m[1])
		}
		return nil
	}
	m := call.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	thread, name, arguments := m[1], m[2], m[4]
	raw, err := unhex(m[3])
	if err != nil {
		return err
	}
	path := string(raw)
	socket := strings.HasPrefix(path, "socket:")
	switch {
	case name == "write" && socket:
		return t.said(path, arguments)
	case path != t.file:
		return nil
	case name == "pwrite64" || name == "write":
		return t.wrote(arguments)
	case name == "ftruncate":
		size, _, _ := strings.Cut(strings.TrimSuffix(arguments, " <unfinished ...>"), ")")
		n, err := strconv.ParseInt(size, 10, 64)
		t.steps = append(t.steps, step{kind: resizes, offset: n})
		return err
	case strings.HasSuffix(line, "<unfinished ...>"):
		t.syncing[thread] = len(t.steps)
	case strings.HasSuffix(line, " = 0"): // not one that was swallowed: = 0 (INJECTED)
		t.steps = append(t.steps, step{kind: syncs, synced: len(t.steps)})
	}
	return nil
}

// wrote takes a write to the database: "data", length, offset.
func (t *trace) wrote(arguments string) error {
	data, rest, err := quoted(arguments)
	if err != nil {
		return err
	}
	var length, offset int64
	if _, err := fmt.Sscanf(rest, ", %d, %d", &length, &offset); err != nil {
		return err
	}
	if length != int64(len(data)) {
		return fmt.Errorf("%d bytes of %d", len(data), length)
	}
	t.steps = append(t.steps, step{kind: writes, offset: offset, data: data})
	return nil
}

// requestID is the acknowledgement of a request.
var requestID = regexp.MustCompile(`\r\nX-Request-Id: ([0-9A-Z]+)\r\n`)

// said takes what the product sends to a socket.
func (t *trace) said(socket, arguments string) error {
	data, _, err := quoted(arguments)
	if err != nil {
		return err
	}
	if m := requestID.FindSubmatch(data); m != nil {
		t.steps = append(t.steps, step{kind: acks, ack: ofRequest(string(m[1]))})
		return nil
	}
	stream := t.mqtt[socket]
	if stream == nil {
		if len(data) == 0 || data[0] != packets.CONNACK<<4 {
			return nil
		}
		stream = &bytes.Buffer{}
		t.mqtt[socket] = stream
	}
	stream.Write(data)
	for {
		rest := bytes.NewReader(stream.Bytes())
		packet, err := packets.ReadPacket(rest)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		stream.Next(stream.Len() - rest.Len())
		if p, ok := packet.Content.(*packets.Puback); ok {
			t.steps = append(t.steps, step{kind: acks, ack: ofPacket(p.PacketID)})
		}
	}
}

// quoted returns the string that arguments begin with, and what follows it.
func quoted(arguments string) (data []byte, rest string, err error) {
	text, found := strings.CutPrefix(arguments, `"`)
	text, rest, closed := strings.Cut(text, `"`)
	if !found || !closed || strings.HasPrefix(rest, "...") {
		return nil, "", errors.New("want a whole string")
	}
	data, err = unhex(text)
	return data, rest, err
}

// unhex decodes \x2f\x74 and so on.
func unhex(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
}

func TestTraceTellsTheOrderOfWritesSyncsAndAcknowledgements(t *testing.T) {
	t.Parallel()
	const socket = `9<\x73\x6f\x63\x6b\x65\x74\x3a\x5b\x31\x5d>` // socket:[1]
	const text = `7 ftruncate(3<\x64\x62>, 8192) = 0
7  pwrite64(3<\x64\x62>, "\x01\x02", 2, 4096 <unfinished ...>
8 fdatasync(3<\x64\x62> <unfinished ...>
7 <... pwrite64 resumed>)              = 2
7 pwrite64(3<\x64\x62>, "\x03", 1, 0) = 1
8 <... fdatasync resumed>)             = 0
7 fdatasync(4<\x6f\x74\x68\x65\x72>) = 0
7 fsync(3<\x64\x62>) = 0 (INJECTED)
7 write(` + socket + `, "\x20\x03\x00\x00\x00", 5) = 5
7 write(` + socket + `, "\x40\x02\x01", 3) = 3
7 write(` + socket + `, "\x02\x40\x02\x00\x05", 5) = 5
7 fsync(3<\x64\x62>) = 0
+++ exited with 0 +++
`
	got, err := readTrace(strings.NewReader(text), "db")
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{kind: resizes, offset: 8192},
		{kind: writes, offset: 4096, data: []byte{1, 2}},
		{kind: writes, offset: 0, data: []byte{3}},
		{kind: syncs, synced: 2},
		{kind: acks, ack: ofPacket(258)},
		{kind: acks, ack: ofPacket(5)},
		{kind: syncs, synced: 6},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if _, err := readTrace(strings.NewReader(`7 pwrite64(3<\x64\x62>, "\x01"..., 2, 0) = 2`), "db"); err == nil {
		t.Error("a string that was cut off is taken as whole")
	}
}
