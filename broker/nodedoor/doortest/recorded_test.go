package doortest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// recording returns a recording of real nodes below the data directory.
func recording(t *testing.T, parts ...string) []byte {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{dir}, parts...)...))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recordings are missing: %v", err)
		}
		t.Skipf("no recordings on this machine (set SENSEGATE_DATA): %v", err)
	}
	return data
}

// ruView returns the datagrams of two RuView nodes of 120 s. The recording has no headers; these are made here.
func ruView(t *testing.T) (messages [][]byte) {
	t.Helper()
	numbers := map[uint8]uint32{}
	lines := bufio.NewScanner(bytes.NewReader(recording(t, "csi", "ruview", "pretrain-1775182186.csi.jsonl")))
	for lines.Scan() {
		var r struct {
			Node uint8  `json:"node_id"`
			Type string `json:"type"`
			IQ   string `json:"iq_hex"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Type != "raw_csi" {
			continue
		}
		data, err := hex.DecodeString(r.IQ)
		if err != nil {
			t.Fatal(err)
		}
		numbers[r.Node]++
		f := nodewire.Frame{Node: r.Node, Seq: nodewire.Sequence{Number: numbers[r.Node]}, Channel: 6, RSSI: -50, Noise: -95, Data: data}
		messages = append(messages, nodewire.AppendRuView(nil, &f))
	}
	return messages
}

// nexmon returns the datagrams of a capture file.
func nexmon(t *testing.T, name string) (messages [][]byte) {
	t.Helper()
	const fileHeader, packetHeader, udpHeader = 24, 16, 42 // the last one of Ethernet, IPv4 and UDP
	for rest := recording(t, "nodes", "nexmon", name)[fileHeader:]; len(rest) > packetHeader; {
		n := int(binary.LittleEndian.Uint32(rest[8:]))
		messages, rest = append(messages, rest[packetHeader+udpHeader:packetHeader+n]), rest[packetHeader+n:]
	}
	return messages
}

// TestRecordedFramesCountOnceInTheRightLink plays recordings against the real binary over real sockets and compares
// what it counts with what is in them.
func TestRecordedFramesCountOnceInTheRightLink(t *testing.T) {
	t.Parallel()
	const pace = 5 * time.Millisecond // fewer than one node may send
	for name, c := range map[string]struct {
		kind     motion.NodeKind
		messages func(*testing.T) [][]byte
		decode   func([]byte, *nodewire.Frame) error
		byLine   bool
	}{
		"RuView":         {motion.RuView, ruView, nodewire.RuView, false},
		"nexmon 43455c0": {motion.Nexmon, func(t *testing.T) [][]byte { return nexmon(t, "example_43455c0.pcap") }, new(nodewire.Nexmon).Decode, false},
		"nexmon 4358":    {motion.Nexmon, func(t *testing.T) [][]byte { return nexmon(t, "example_4358.pcap") }, new(nodewire.Nexmon).Decode, false},
		"ESP32-CSI-Tool": {motion.CSILines, func(t *testing.T) [][]byte {
			return bytes.SplitAfter(recording(t, "nodes", "esp32_csi_tool", "example_data.csv"), []byte("\n"))
		}, new(nodewire.Lines).Decode, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := c.messages(t)
			want, transmitters := map[string]int64{}, map[string]bool{}
			for _, m := range messages {
				var f nodewire.Frame
				if c.decode(m, &f) != nil {
					continue
				}
				link := fmt.Sprint("node ", f.Node)
				if c.kind == motion.Nexmon {
					link = fmt.Sprint("node ", f.Format&nodewire.NexmonAntenna)
				}
				if !f.Src.IsZero() {
					link += " " + f.Src.String()
					transmitters[f.Src.String()] = true
				}
				want[strings.Replace(link, "node 0 ", "node ", 1)]++
			}
			if len(want) == 0 {
				t.Fatal("the recording has no frame")
			}
			var picked []string
			for mac := range transmitters {
				picked = append(picked, mac)
			}
			if len(picked) > 12 {
				t.Skipf("%d transmitters, more than a node tells apart", len(picked))
			}
			player := play(t, c.byLine)
			dir := t.TempDir()
			box.Start(t, box.Setup{Dir: dir, Line: []string{product, "serve"}, Environment: append(player.settings(c.kind), "SENSEGATE_NODES_TRANSMITTERS="+strings.Join(picked, ","))})
			for end := time.Now().Add(box.Patience); !met(t, dir, want); { // some frames, over and over, until every node is let in
				for _, m := range messages[:min(len(messages), 300)] {
					player.send(m)
					time.Sleep(pace)
				}
				if time.Now().After(end) {
					list, in := devices(t, dir)
					t.Fatalf("not every node of %v comes in: %+v, %+v", want, list, in)
				}
			}
			time.Sleep(3 * time.Second) // any number is as good now
			before := counts(t, dir)
			for _, m := range messages {
				player.send(m)
				time.Sleep(pace)
			}
			time.Sleep(3 * time.Second) // figures are told each second
			after := counts(t, dir)
			for link, n := range want {
				if got := after[link] - before[link]; got != n {
					t.Errorf("%s: %d frames count, want %d", link, got, n)
				}
			}
		})
	}
}

// player sends messages to the product: as datagrams, or as lines to whoever connects, as ser2net does.
type player struct {
	t     *testing.T
	to    string // host:port of datagrams
	conn  net.Conn
	serve net.Listener
}

func play(t *testing.T, byLine bool) *player {
	t.Helper()
	p := &player{t: t}
	if byLine {
		serve, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.serve = serve
		t.Cleanup(func() { _ = serve.Close() })
		return p
	}
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.to = free.LocalAddr().String()
	_ = free.Close() // the product binds it
	return p
}

// settings let the product listen for the player.
func (p *player) settings(kind motion.NodeKind) []string {
	if p.serve != nil {
		return []string{"SENSEGATE_NODES_LINES=tcp://" + p.serve.Addr().String()}
	}
	return []string{"SENSEGATE_NODES_" + strings.ToUpper(string(kind)) + "_LISTEN=" + p.to}
}

// send sends a message, the first one once the product is there.
func (p *player) send(m []byte) {
	p.t.Helper()
	if p.conn == nil {
		var err error
		if p.serve != nil {
			p.conn, err = p.serve.Accept()
		} else {
			p.conn, err = net.Dial("udp", p.to)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { _ = p.conn.Close() })
	}
	if _, err := p.conn.Write(m); err != nil {
		p.t.Fatal(err)
	}
}

// counts returns how many frames of each link are counted.
func counts(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	list, _ := devices(t, dir)
	for _, d := range list {
		link := "node "
		if number := motion.NodeNumberOf(d.ID); number != "" && number != "0" {
			link += number + " "
		}
		if d.Node == nil {
			continue
		}
		if len(d.Node.Transmitters) == 0 {
			counts[strings.TrimSpace(link)] = d.Node.Counted
		}
		for _, o := range d.Node.Transmitters {
			counts[link+o.MAC.String()] = o.Counted
		}
	}
	return counts
}

// met reports whether frames of every link have been counted.
func met(t *testing.T, dir string, links map[string]int64) bool {
	t.Helper()
	counts := counts(t, dir)
	for link := range links {
		if counts[link] == 0 {
			return false
		}
	}
	return true
}
