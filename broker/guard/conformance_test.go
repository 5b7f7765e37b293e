package guard_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sensegate/broker/guard"
	"sensegate/broker/guard/guardtest"
)

// The public suites are not kept here: give their directories. docs/mqtt.md says how
// to fetch them and why each remaining case differs.
var (
	mosquittoData  = flag.String("mosquitto", "", "directory with mosquitto's packet sequences (test/broker/data)")
	mosquittoLeast = flag.Int("mosquitto-least", 1728, "fail when fewer sequences pass")
	pahoSuite      = flag.String("paho", "", "directory with the Paho interoperability suite (interoperability)")
	pahoLeast      = flag.Int("paho-least", 36, "fail when fewer cases pass")
)

// openBroker runs the guard and its hook under an open policy, with all that the suites
// ask for and the product forbids: QoS 2, topic aliases, bigger packets.
func openBroker(t *testing.T, keepAlive time.Duration) *guardtest.Server {
	c := guard.Defaults()
	c.MaxQoS, c.TopicAliasMaximum, c.MaxPacket, c.MaxTopic, c.MaxLevels = 2, 10, 2_000_000, 65535, 1000 // 2,000,000: as mosquitto announces it
	c.KeepAlive = keepAlive
	s := guardtest.Serve(t, c, guardtest.Listen(t), func(o *guardtest.Open) { o.Denied = "test/nosubscribe" })
	s.MQTT.Options.Capabilities.Compatibilities.ObscureNotAuthorized = true // 0x80 for a denied subscription, as Paho wants it
	return s
}

// manner is how a sequence begins and ends; what it does not say is as its group says.
type manner struct {
	Version          *byte `json:"ver"`
	Connect          *bool `json:"connect"`
	ExpectDisconnect *bool `json:"expect_disconnect"`
}

// sequence is a case of mosquitto's packet sequences.
type sequence struct {
	manner
	Group    string
	Name     string    `json:"name"`
	Messages []message `json:"msgs"`
}

// message is a step of a sequence.
type message struct {
	Type    string `json:"type"`
	Payload string `json:"payload"`
	Topic   string `json:"topic"`
	QoS     byte   `json:"qos"`
	Retain  bool   `json:"retain"`

	packet []byte // of Payload, when it is one
}

// TestMosquittoPacketSequences runs every sequence on a connection of its own. After
// each one that fails a bystander, connected all the time, still has to be served.
func TestMosquittoPacketSequences(t *testing.T) {
	if *mosquittoData == "" {
		t.Skip("give -mosquitto, the directory with the sequences")
	}
	files, err := filepath.Glob(filepath.Join(*mosquittoData, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences in %s: %v", *mosquittoData, err)
	}
	s := openBroker(t, 43690*time.Second)
	s.MQTT.Options.Capabilities.ReceiveMaximum = 20 // as mosquitto has it
	bystander := guardtest.Dial(t, s.Addr)
	bystander.Login(guardtest.Connect{ClientID: "bystander"})
	total, failed := 0, map[string]int{}
	for _, file := range files {
		for _, q := range readSequences(t, file) {
			total++
			err := q.prepare()
			if err != nil {
				t.Errorf("cannot be run: %s %s: %v", q.Group, q.Name, err)
			} else {
				err = q.play(s.Addr)
				bystander.Alive()
			}
			if err != nil {
				t.Logf("differs: %s %s: %v", q.Group, q.Name, err)
				failed[q.Group]++
				forget(s) // the sequences that follow begin without what it retained
			}
		}
	}
	passed := total
	for _, group := range slices.Sorted(maps.Keys(failed)) {
		t.Logf("%4d differ in %s", failed[group], group)
		passed -= failed[group]
	}
	t.Logf("mosquitto packet sequences, %s: %d of %d as mosquitto has them (%.1f %%); the bystander was served after each",
		commit(t, *mosquittoData), passed, total, 100*float64(passed)/float64(total))
	if passed < *mosquittoLeast {
		t.Errorf("%d passed, want at least %d", passed, *mosquittoLeast)
	}
}

// forget deletes all retained messages.
func forget(s *guardtest.Server) {
	retained := s.MQTT.Topics.Retained
	for topic := range retained.GetAll() {
		retained.Delete(topic)
	}
}

// commit says which commit of its repository a directory is at.
func commit(t *testing.T, dir string) string {
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "log", "-1", "--format=commit %H of %cs").Output()
	if err != nil {
		t.Errorf("%s is no checkout of a repository, so nobody knows what was measured: %v", dir, err)
	}
	return strings.TrimSpace(string(out))
}

// readSequences returns the sequences of a file that are not disabled.
func readSequences(t *testing.T, file string) []sequence {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		manner
		Group   string     `json:"group"`
		Disable bool       `json:"disable"`
		Tests   []sequence `json:"tests"`
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []sequence
	for _, g := range groups {
		for _, q := range g.Tests {
			q.manner = manner{cmp.Or(q.Version, g.Version), cmp.Or(q.Connect, g.Connect), cmp.Or(q.ExpectDisconnect, g.ExpectDisconnect)}
			q.Group = filepath.Base(file) + ": " + g.Group
			if !g.Disable {
				all = append(all, q)
			}
		}
	}
	return all
}

// prepare reads the packets of the sequence; a type of message or a form of packet that
// is not known is an error.
func (q sequence) prepare() error {
	for i := range q.Messages {
		m := &q.Messages[i]
		var err error
		switch m.Type {
		case "send", "recv":
			m.packet, err = parsePacket(m.Payload)
		case "publish", "external_publish": // the name until 2025, and since
		default:
			err = errors.New("unknown type")
		}
		if err != nil {
			return fmt.Errorf("message %d, %s: %w", i+1, m.Type, err)
		}
	}
	return nil
}

// parsePacket reads a packet as mosquitto writes it: hexadecimal, with spaces anywhere;
// since 2025 also 'text', i1 (8 bits), H1, k1, m1 and s1 (16 bits), L1 (32 bits) and v1 and
// r1 (a variable length integer, of any size).
func parsePacket(text string) ([]byte, error) {
	var packet []byte
	digits := ""
	flush := func() error {
		raw, err := hex.DecodeString(digits)
		packet, digits = append(packet, raw...), ""
		return err
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		if quoted, isText := strings.CutPrefix(rest, "'"); isText {
			content, after, closed := strings.Cut(quoted, "'")
			if err := flush(); err != nil || !closed {
				return nil, cmp.Or(err, fmt.Errorf("%s: no end of the text", rest))
			}
			packet, rest = append(packet, content...), after
			continue
		}
		var token string
		token, rest, _ = strings.Cut(rest, " ")
		bits := map[byte]int{'i': 8, 'H': 16, 'k': 16, 'm': 16, 's': 16, 'L': 32, 'v': 64, 'r': 64}[token[0]]
		if bits == 0 {
			digits += token
			continue
		}
		n, err := strconv.ParseUint(token[1:], 10, bits)
		if err := errors.Join(err, flush()); err != nil {
			return nil, err
		}
		if bits == 64 {
			packet = binary.AppendUvarint(packet, n)
			continue
		}
		packet = append(packet, binary.BigEndian.AppendUint32(nil, uint32(n))[4-bits/8:]...)
	}
	return packet, flush()
}

func TestPacketsOfBothFormsAreRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"hexadecimal":                  {"30 0E 0005 746f706963 7061796c6f6164", "300e0005746f7069637061796c6f6164"},
		"hexadecimal, oddly cut":       {"70 0C 0001 00 08 1F0001701 F000171", "700c000100081f0001701f000171"},
		"since 2025":                   {"30 r14 s5 'topic' 'payload'", "300e0005746f7069637061796c6f6164"},
		"every kind of number":         {"i1 H258 k2 m3 s4 L16909060 v127 r128", "01 0102 0002 0003 0004 01020304 7f 8001"},
		"a length that is not allowed": {"r268435456", "8080808001"},
		"a text with spaces":           {"s3 'a b'", "0003 612062"},
	} {
		if got, err := parsePacket(test.text); err != nil || !bytes.Equal(got, guardtest.Hex(test.want)) {
			t.Errorf("%s: %s is % x (%v), want %s", name, test.text, got, err, test.want)
		}
	}
	for _, unknown := range []string{"30 x14", "30 s70000", "i256", "30 0", "30 'topic", "r", "3 'a'", "30 q"} {
		if got, err := parsePacket(unknown); err == nil {
			t.Errorf("%s is % x, want an error", unknown, got)
		}
	}
	if err := (sequence{Messages: []message{{Type: "shout", Payload: "30"}}}).prepare(); err == nil || !strings.Contains(err.Error(), "shout") {
		t.Errorf("a message of an unknown type: %v", err)
	}
}

// answerTime is how long a sequence waits for a packet, as mosquitto's own runner does.
const answerTime = 2 * time.Second

// play runs the sequence, which is prepared, on a new connection.
func (q sequence) play(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	version := byte(4)
	if q.Version != nil {
		version = *q.Version
	}
	if q.Connect == nil || *q.Connect {
		if err := login(conn, version, q.Group+" "+q.Name); err != nil {
			return fmt.Errorf("default connect: %w", err)
		}
	}
	for i := 0; i < len(q.Messages); i++ {
		m := q.Messages[i]
		var err error
		switch two := q.Messages[i:min(i+2, len(q.Messages))]; {
		case m.Type == "send":
			_, err = conn.Write(m.packet)
		case unordered(two):
			i++
			err = receiveUnordered(conn, m.packet, q.Messages[i].packet)
		case m.Type == "recv":
			err = receive(conn, m.packet)
		default:
			err = m.publish(address)
		}
		if err != nil {
			return fmt.Errorf("message %d, %s: %w", i+1, m.Type, err)
		}
	}
	if q.ExpectDisconnect == nil || *q.ExpectDisconnect {
		return wantEnd(conn)
	}
	if _, err := conn.Write([]byte{0xc0, 0}); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return receive(conn, []byte{0xd0, 0})
}

// login sends the sequences' default CONNECT.
func login(conn net.Conn, version byte, id string) error {
	c := guardtest.Connect{Version: version, ClientID: id, KeepAlive: 60}
	if _, err := conn.Write(c.Bytes()); err != nil {
		return err
	}
	header := make([]byte, 2)
	_ = conn.SetReadDeadline(time.Now().Add(answerTime)) // a failed one fails the reading
	if _, err := io.ReadFull(conn, header); err != nil {
		return err
	}
	body := make([]byte, header[1])
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	if header[0] != 0x20 || body[1] != 0 {
		return fmt.Errorf("connack % x % x", header, body)
	}
	return nil
}

// receive reads as many bytes as are expected and compares them.
func receive(conn net.Conn, want []byte) error {
	_ = conn.SetReadDeadline(time.Now().Add(answerTime))
	if len(want) > connackHeader && want[0] == 0x20 && want[3] == 0 {
		return receiveAccepted(conn, want)
	}
	got := make([]byte, len(want))
	n, err := io.ReadFull(conn, got)
	if string(got[:n]) != string(want[:n]) || err != nil && n > 0 {
		return fmt.Errorf("got % x, want % x", got[:n], want)
	}
	return err
}

// unordered reports whether messages are a PUBLISH and an acknowledgement to receive. They
// may come in any order: MQTT orders messages and acknowledgements each among themselves
// (MQTT 5, 4.6).
func unordered(messages []message) bool {
	published, acknowledged := 0, 0
	for _, m := range messages {
		switch {
		case m.Type != "recv" || len(m.packet) == 0:
		case m.packet[0]>>4 == 3:
			published++
		case m.packet[0]>>4 >= 4 && m.packet[0]>>4 <= 7:
			acknowledged++
		}
	}
	return published == 1 && acknowledged == 1
}

// receiveUnordered reads two packets that may come in any order.
func receiveUnordered(conn net.Conn, a, b []byte) error {
	_ = conn.SetReadDeadline(time.Now().Add(answerTime))
	got := make([]byte, len(a)+len(b))
	n, err := io.ReadFull(conn, got)
	if err == nil && (bytes.Equal(got, slices.Concat(a, b)) || bytes.Equal(got, slices.Concat(b, a))) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("got % x, want % x and % x", got[:n], a, b))
}

// connackHeader is what stands before the properties of a CONNACK.
const connackHeader = 5

// maximumPacketSize is the property of that name, the one with four bytes (MQTT 5, 3.2.2.3.6).
const maximumPacketSize = 0x27

// receiveAccepted reads a CONNACK that accepts: with the wanted properties, which are
// numbers, in any order (MQTT 5, section 2.2.2.2), and whatever else is announced.
func receiveAccepted(conn net.Conn, want []byte) error {
	got := make([]byte, 2)
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	got = append(got, make([]byte, got[1])...)
	if _, err := io.ReadFull(conn, got[2:]); err != nil {
		return err
	}
	for properties := want[connackHeader:]; len(properties) > 0; {
		size := 3
		if properties[0] == maximumPacketSize {
			size = 5
		}
		if got[3] != 0 || len(properties) < size || !bytes.Contains(got, properties[:size]) {
			return fmt.Errorf("got % x, want % x", got, want)
		}
		properties = properties[size:]
	}
	return nil
}

// wantEnd wants the broker to end the connection.
func wantEnd(conn net.Conn) error {
	_ = conn.SetReadDeadline(time.Now().Add(answerTime))
	n, err := conn.Read(make([]byte, 1))
	switch {
	case n == 1:
		return errors.New("still connected: a packet came")
	case guardtest.Closed(err):
		return nil
	}
	return fmt.Errorf("still connected: %w", err)
}

// publish sends the message from another client.
func (m message) publish(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := login(conn, 4, "helper"); err != nil {
		return err
	}
	p := guardtest.Publish{Topic: m.Topic, Payload: m.Payload, QoS: m.QoS, ID: 1, Retain: m.Retain}
	if _, err := conn.Write(p.Bytes()); err != nil {
		return err
	}
	switch m.QoS {
	case 1:
		return receive(conn, []byte{0x40, 2, 0, 1})
	case 2:
		if err := receive(conn, []byte{0x50, 2, 0, 1}); err != nil {
			return err
		}
		if _, err := conn.Write([]byte{0x62, 2, 0, 1}); err != nil {
			return err
		}
		return receive(conn, []byte{0x70, 2, 0, 1})
	}
	_, err = conn.Write([]byte{0xe0, 0})
	return err
}

// waived are the cases of the Paho suite that do not pass, with the reason.
func waived() map[string]string {
	return map[string]string{
		"test_flow_control1": "the guard takes a client's Receive Maximum away from the library, which deadlocks over it",
	}
}

var pahoFailure = regexp.MustCompile(`(?m)^(?:FAIL|ERROR): (\w+) `)

// TestPahoInteroperability runs the suite's two programs; a case that fails gets two more
// tries, because some are races of the suite itself.
func TestPahoInteroperability(t *testing.T) {
	if *pahoSuite == "" {
		t.Skip("give -paho, the directory with the suite")
	}
	total, passed := 0, 0
	for _, program := range []string{"client_test", "client_test5"} {
		t.Run(program, func(t *testing.T) {
			out := runPaho(t, program)
			ran := regexp.MustCompile(`Ran (\d+) tests`).FindStringSubmatch(out)
			if ran == nil {
				t.Fatalf("%s did not run: %s", program, out)
			}
			var failed []string
			for _, m := range pahoFailure.FindAllStringSubmatch(out, -1) {
				if name := m[1]; !slices.Contains(failed, name) && !passesAgain(t, program, name) {
					failed = append(failed, name)
				}
			}
			cases, _ := strconv.Atoi(ran[1]) // digits, as the expression has it
			total, passed = total+cases, passed+cases-len(failed)
			t.Logf("%s: %d cases, not passed: %v", program, cases, failed)
			for _, name := range failed {
				if waived()[name] == "" {
					t.Errorf("%s does not pass", name)
				}
			}
		})
	}
	t.Logf("Paho interoperability, %s: %d of %d", commit(t, *pahoSuite), passed, total)
	if passed < *pahoLeast {
		t.Errorf("%d passed, want at least %d", passed, *pahoLeast)
	}
}

// passesAgain reports whether a case passes in one of two more tries.
func passesAgain(t *testing.T, program, name string) bool {
	for range 2 {
		if !pahoFailure.MatchString(runPaho(t, program, "Test."+name)) {
			return true
		}
	}
	return false
}

// driver gives a program of the suite what its own command line cannot: a port together
// with the names of cases.
const driver = `
import importlib, sys, unittest
name, port, cases = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
suite = importlib.import_module(name)
prefix = "client_test5/" if name == "client_test5" else ""
suite.host, suite.port, suite.topic_prefix = "127.0.0.1", port, prefix
suite.topics = [prefix + t for t in ("TopicA", "TopicA/B", "Topic/C", "TopicA/C", "/TopicA")]
suite.wildtopics = [prefix + t for t in ("TopicA/+", "+/C", "#", "/#", "/+", "+/+", "TopicA/#")]
suite.nosubscribe_topics = ("test/nosubscribe",)
unittest.main(suite, argv=[name] + cases)
`

// runPaho runs a program of the suite on a broker of its own and returns what it prints.
func runPaho(t *testing.T, program string, cases ...string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(openBroker(t, time.Minute).Addr)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "python3", append([]string{"-c", driver, program, port}, cases...)...)
	command.Dir = *pahoSuite
	out, _ := command.CombinedOutput() // its exit status says whether all passed; the text says which
	return string(out)
}
