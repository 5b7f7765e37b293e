package crashtest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/google/go-cmp/cmp"
)

// step is something that a traced product did, in its order: what it wrote when it
// began to, names in directories and syncs when they were over.
type step struct {
	kind    stepKind
	inode   int // of the file that is written, or the file or directory that is synced
	offset  int64
	data    []byte  // of a write
	entries []entry // that change together
	synced  int     // of a sync: what was done to the inode before this step is on the disk
	ack     receipt // of an acknowledgement
}

type stepKind int

const (
	writes stepKind = iota + 1
	resizes
	names
	syncs
	acks
)

// changes reports whether a sync of the inode makes the step durable.
func (s step) changes(inode int) bool {
	for _, e := range s.entries {
		if e.directory == inode {
			return true
		}
	}
	return s.kind != names && s.inode == inode
}

// removes reports whether the step does nothing but remove names.
func (s step) removes() bool {
	for _, e := range s.entries {
		if e.inode != 0 {
			return false
		}
	}
	return s.kind == names
}

// longestString is what strace prints of a string: more than the product writes at
// once.
const longestString = 1 << 20

// tracedCalls are all system calls by which the product changes files. That none is
// missing is seen at the end: what the trace tells must be what lies on the disk.
const tracedCalls = "trace=write,pwrite64,ftruncate,fsync,fdatasync,openat,?mkdir,mkdirat,?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat"

// tracer returns the command line before the product's. Options may inject faults.
func tracer(out string, options ...string) []string {
	line := []string{"strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", strconv.Itoa(longestString), "-o", out}
	line = append(line, options...)
	return append(line, "-e", tracedCalls)
}

// trace reads what strace wrote of a product that works below root.
type trace struct {
	root         string
	live         *disk // with all steps so far
	steps        []step
	handles      map[string]*handle       // of files and directories below root, by their numbers
	pending      map[string]started       // by thread: calls in whose midst another was heard
	mqtt         map[string]*bytes.Buffer // by socket: what is not yet a whole packet
	administered int                      // answers at the administration socket
}

// handle is an open file.
type handle struct {
	inode int
	at    int64 // where the next write goes
}

// started is a call that is not over.
type started struct {
	text   string // name and arguments
	before int    // how many steps there were
}

// readTrace returns the steps of a product that found a disk below root. It returns what
// that disk has become, too.
func readTrace(r io.Reader, root string, found *disk) ([]step, *disk, error) {
	t := trace{root: root, live: found.clone(), handles: map[string]*handle{}, pending: map[string]started{}, mqtt: map[string]*bytes.Buffer{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*longestString)
	for n := 1; lines.Scan(); n++ {
		if err := t.line(lines.Text()); err != nil {
			return nil, nil, fmt.Errorf("line %d of the trace: %w: %.200s", n, err, lines.Text())
		}
	}
	return t.steps, t.live, lines.Err()
}

const unfinished = " <unfinished ...>"

func (t *trace) line(line string) error {
	thread, text, _ := strings.Cut(line, " ")
	text = strings.TrimLeft(text, " ")
	call := started{text, len(t.steps)}
	if cut, found := strings.CutSuffix(text, unfinished); found {
		call.text = cut
		t.pending[thread] = call
		return t.began(call)
	}
	over := true
	if rest, found := strings.CutPrefix(text, "<... "); found {
		_, rest, _ = strings.Cut(rest, " resumed>")
		call = t.pending[thread]
		delete(t.pending, thread)
		call.text += rest
		over = false
	}
	at := strings.LastIndex(call.text, " = ")
	if at < 0 || strings.HasPrefix(call.text, "+++") || strings.HasPrefix(call.text, "---") {
		return nil
	}
	result := call.text[at+len(" = "):]
	call.text = strings.TrimSuffix(strings.TrimRight(call.text[:at], " "), ")")
	if strings.HasPrefix(result, "-1") || strings.HasPrefix(result, "?") {
		return nil
	}
	if over {
		if err := t.began(call); err != nil {
			return err
		}
	}
	return t.ended(call, result)
}

// divided returns the name of a call and its arguments.
func (s started) divided() (name string, arguments []string) {
	name, rest, _ := strings.Cut(s.text, "(")
	return name, strings.Split(rest, ", ")
}

// began takes what a call may have done from its beginning on: a write may reach the disk
// before it is over.
func (t *trace) began(call started) error {
	name, arguments := call.divided()
	switch name {
	case "write", "pwrite64", "ftruncate":
	default:
		return nil
	}
	number, path, err := descriptor(arguments[0])
	if err != nil {
		return err
	}
	if name == "write" && strings.HasPrefix(path, "socket:") {
		return t.said(path, arguments[1])
	}
	if name == "write" && (number == "1" || number == "2") {
		return t.printed(number, arguments[1])
	}
	if _, inside := t.inside(path); !inside {
		return nil
	}
	file := t.handles[number]
	if file == nil {
		return errors.New("a file is written that was not opened")
	}
	s := step{kind: writes, inode: file.inode}
	if name == "ftruncate" {
		s.kind = resizes
		s.offset, err = strconv.ParseInt(arguments[1], 10, 64)
		t.add(s)
		return err
	}
	if s.data, err = quoted(arguments[1]); err != nil {
		return err
	}
	if length := strconv.Itoa(len(s.data)); arguments[2] != length {
		return fmt.Errorf("%s bytes of %s", length, arguments[2])
	}
	if name == "pwrite64" {
		s.offset, err = strconv.ParseInt(arguments[3], 10, 64)
	} else {
		s.offset = file.at
		file.at += int64(len(s.data))
	}
	t.add(s)
	return err
}

// ended takes a call that is over.
func (t *trace) ended(call started, result string) error {
	name, arguments := call.divided()
	switch name {
	case "fsync", "fdatasync":
		number, path, err := descriptor(arguments[0])
		if _, inside := t.inside(path); err != nil || !inside || result != "0" { // not one that was swallowed: 0 (INJECTED)
			return err
		}
		if t.handles[number] == nil {
			return errors.New("a file is synced that was not opened")
		}
		t.add(step{kind: syncs, inode: t.handles[number].inode, synced: call.before})
	case "openat":
		return t.opened(arguments, result)
	case "mkdirat":
		return t.named(arguments[0:2], func(to entry, _ int) []entry {
			t.live.inodes++
			to.inode, to.makes = t.live.inodes, true
			return []entry{to}
		})
	case "unlinkat":
		return t.named(arguments[0:2], func(to entry, inode int) []entry {
			if inode == 0 {
				return nil // a socket
			}
			return []entry{to}
		})
	case "linkat", "renameat":
		from, inside, err := t.place(arguments[0], arguments[1])
		if err != nil || !inside {
			return err
		}
		_, _, inode := t.live.find(from)
		return t.named(arguments[2:4], func(to entry, _ int) []entry {
			to.inode = inode
			changed := []entry{to}
			if name == "renameat" {
				directory, name, _ := t.live.find(from)
				changed = append(changed, entry{directory: directory, name: name})
			}
			return changed
		})
	case "mkdir", "rename", "renameat2", "link", "unlink":
		return errors.New("a call that the product did not make before")
	}
	return nil
}

// add adds a step and does it.
func (t *trace) add(s step) {
	t.steps = append(t.steps, s)
	t.live.apply(s)
}

// named takes a call that changes the name given by a directory and a path.
func (t *trace) named(arguments []string, change func(to entry, inode int) []entry) error {
	path, inside, err := t.place(arguments[0], arguments[1])
	if err != nil || !inside {
		return err
	}
	directory, name, inode := t.live.find(path)
	if entries := change(entry{directory: directory, name: name}, inode); entries != nil {
		t.add(step{kind: names, entries: entries})
	}
	return nil
}

// opened takes an openat, which may make the file or empty it.
func (t *trace) opened(arguments []string, result string) error {
	number, _, _ := strings.Cut(result, "<")
	delete(t.handles, number)
	path, inside, err := t.place(arguments[0], arguments[1])
	if err != nil || !inside {
		return err
	}
	flags := arguments[2]
	if strings.Contains(flags, "O_APPEND") || strings.Contains(flags, "O_TMPFILE") {
		return errors.New("a file is opened in a way that is not followed")
	}
	directory, name, inode := t.live.find(path)
	if path == "" {
		inode = rootInode
	}
	switch {
	case inode == 0 && !strings.Contains(flags, "O_CREAT"):
		return errors.New("a file is opened that there is not")
	case inode == 0:
		t.live.inodes++
		inode = t.live.inodes
		t.add(step{kind: names, entries: []entry{{directory: directory, name: name, inode: inode}}})
	case strings.Contains(flags, "O_TRUNC") && len(t.live.files[inode]) > 0:
		t.add(step{kind: resizes, inode: inode})
	}
	t.handles[number] = &handle{inode: inode}
	return nil
}

// place returns the path below root that a directory's descriptor and a path mean.
func (t *trace) place(directory, path string) (inside string, ok bool, err error) {
	name, err := quoted(path)
	if err != nil {
		return "", false, err
	}
	at := string(name)
	if !filepath.IsAbs(at) {
		_, base, err := descriptor(directory)
		if err != nil {
			return "", false, err
		}
		at = filepath.Join(base, at)
	}
	inside, ok = t.inside(at)
	return inside, ok, nil
}

// inside returns a path relative to root, "" for the root, and whether it is below it.
func (t *trace) inside(path string) (string, bool) {
	if path == t.root {
		return "", true
	}
	return strings.CutPrefix(path, t.root+"/")
}

// descriptor returns the number and the path of 7<\x2f\x74>.
func descriptor(argument string) (number, path string, err error) {
	number, rest, _ := strings.Cut(argument, "<")
	text, _, _ := strings.Cut(rest, ">")
	raw, err := unhex(text)
	return number, string(raw), err
}

// requestID is the acknowledgement of a request.
var requestID = regexp.MustCompile(`\r\nX-Request-Id: ([0-9A-Z]+)\r\n`)

// said takes what the product sends to a socket.
func (t *trace) said(socket, argument string) error {
	data, err := quoted(argument)
	if err != nil {
		return err
	}
	if m := requestID.FindSubmatch(data); m != nil {
		t.add(step{kind: acks, ack: ofRequest(string(m[1]))})
		return nil
	}
	if bytes.HasPrefix(data, []byte("HTTP/1.1 2")) { // no other answer is without an id
		t.administered++
		t.add(step{kind: acks, ack: ofCommand(t.administered)})
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
			t.add(step{kind: acks, ack: ofPacket(p.PacketID)})
		}
	}
}

// printed takes what a command prints, which is done then, and that the product is ready.
func (t *trace) printed(number, argument string) error {
	data, err := quoted(argument)
	switch {
	case number == "1" && len(data) > 0:
		t.add(step{kind: acks, ack: ofOutput})
	case number == "2" && bytes.Contains(data, []byte(`"msg":"ready"`)):
		t.add(step{kind: acks, ack: ofReady})
	}
	return err
}

// quoted returns what an argument in quotes stands for.
func quoted(argument string) ([]byte, error) {
	text, found := strings.CutPrefix(argument, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	if !found || !closed {
		return nil, errors.New("want a whole string")
	}
	return unhex(text)
}

// unhex decodes \x2f\x74 and so on.
func unhex(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
}

// hexed is the opposite of unhex.
func hexed(text string) string {
	var all strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&all, `\x%02x`, text[i])
	}
	return all.String()
}

func TestTraceTellsTheOrderOfChangesSyncsAndAcknowledgements(t *testing.T) {
	t.Parallel()
	const text = `7 openat(AT_FDCWD<"/">, "/s/db", O_RDWR|O_CLOEXEC) = 3<"/s/db">
7 ftruncate(3<"/s/db">, 8192) = 0
7  pwrite64(3<"/s/db">, "ab", 2, 4096 <unfinished ...>
8 fdatasync(3<"/s/db"> <unfinished ...>
7 <... pwrite64 resumed>)              = 2
7 pwrite64(3<"/s/db">, "c", 1, 0) = 1
8 <... fdatasync resumed>)             = 0
7 fdatasync(4<"/other">) = 0
7 fsync(3<"/s/db">) = 0 (INJECTED)
7 write(9<"socket:[1]">, " ~0", 5) = 5
7 write(9<"socket:[1]">, "@~1", 3) = 3
7 write(9<"socket:[1]">, "~2", 5) = 5
7 fsync(3<"/s/db">) = 0
7 mkdirat(AT_FDCWD<"/">, "/s/tls", 0700) = 0
7 openat(AT_FDCWD<"/s/tls">, "k.new", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600 <unfinished ...>
7 <... openat resumed>) = 3<"/s/tls/k.new">
7 write(3<"/s/tls/k.new">, "x", 1) = 1
7 write(3<"/s/tls/k.new">, "y", 1) = 1
7 openat(AT_FDCWD<"/">, "/s/none", O_RDONLY) = -1 ENOENT (No such file or directory)
7 renameat(AT_FDCWD<"/">, "/s/tls/k.new", AT_FDCWD<"/">, "/s/tls/k") = 0
7 openat(AT_FDCWD<"/">, "/s/tls", O_RDONLY|O_CLOEXEC) = 4<"/s/tls">
7 fsync(4<"/s/tls">) = 0
7 linkat(AT_FDCWD<"/">, "/s/tls/k", AT_FDCWD<"/">, "/s/aside", 0) = 0
7 unlinkat(AT_FDCWD<"/">, "/s/tls/k", 0) = 0
7 unlinkat(AT_FDCWD<"/">, "/s/socket", 0) = 0
7 write(1<"pipe:[4]">, "done", 4) = 4
7 write(2<"pipe:[5]">, "log", 3) = 3
+++ exited with 0 +++
`
	const connected, half, halves = "\x03\x00\x00\x00", "\x02\x01", "\x02\x40\x02\x00\x05"
	lines := strings.NewReplacer(`"@~1"`, `"@`+half+`"`, `"~2"`, `"`+halves+`"`, `" ~0"`, `" `+connected+`"`).Replace(text)
	lines = regexp.MustCompile(`(<?)"([^"]*)"(>?)`).ReplaceAllStringFunc(lines, func(s string) string {
		if inside, isPath := strings.CutPrefix(s, `<"`); isPath {
			return "<" + hexed(strings.TrimSuffix(inside, `">`)) + ">"
		}
		return `"` + hexed(strings.Trim(s, `"`)) + `"`
	})
	found := emptyDisk()
	found.inodes = 2
	found.enter(entry{directory: rootInode, name: "db", inode: 2})
	got, live, err := readTrace(strings.NewReader(lines), "/s", found)
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{kind: resizes, inode: 2, offset: 8192},
		{kind: writes, inode: 2, offset: 4096, data: []byte("ab")},
		{kind: writes, inode: 2, offset: 0, data: []byte("c")},
		{kind: syncs, inode: 2, synced: 2},
		{kind: acks, ack: ofPacket(258)},
		{kind: acks, ack: ofPacket(5)},
		{kind: syncs, inode: 2, synced: 6},
		{kind: names, entries: []entry{{directory: 1, name: "tls", inode: 3, makes: true}}},
		{kind: names, entries: []entry{{directory: 3, name: "k.new", inode: 4}}},
		{kind: writes, inode: 4, data: []byte("x")},
		{kind: writes, inode: 4, offset: 1, data: []byte("y")},
		{kind: names, entries: []entry{{directory: 3, name: "k", inode: 4}, {directory: 3, name: "k.new"}}},
		{kind: syncs, inode: 3, synced: 12},
		{kind: names, entries: []entry{{directory: 1, name: "aside", inode: 4}}},
		{kind: names, entries: []entry{{directory: 3, name: "k"}}},
		{kind: acks, ack: ofOutput},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{}, entry{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if file := live.paths()["aside"]; string(file) != "xy" || len(live.paths()) != 3 {
		t.Errorf("the disk holds %v", live.paths())
	}
	for _, wrong := range []string{
		`7 write(1<` + hexed("pipe") + `>, "\x01"..., 2) = 2`,
		`7 pwrite64(3<` + hexed("/s/db") + `>, "\x01", 1, 0) = 1`, // never opened
	} {
		if _, _, err := readTrace(strings.NewReader(wrong), "/s", found); err == nil {
			t.Errorf("%s is understood", wrong)
		}
	}
}
