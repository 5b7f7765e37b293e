package nodes_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/nodes"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/csi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; nothing comes near it unless it is broken.
const patience = time.Minute

var router = motion.MAC{0x02, 0xaa, 0, 0, 1, 0x12}

// vacant returns a house in which nobody lives.
func vacant(t *testing.T) *nodes.House {
	t.Helper()
	place, err := scenario.Open("house")
	if err != nil {
		t.Fatal(err)
	}
	return nodes.NewHouse(place, 1, true)
}

// noon is a time in the life of a house.
const noon motion.Time = 1_700_000_000

func TestSimulatedFramesRepeatAndKeepTheirRate(t *testing.T) {
	t.Parallel()
	once, again := vacant(t).Radio(nodes.RadioConfig{Kind: motion.RuView, Rate: 50, Router: router}), vacant(t).Radio(nodes.RadioConfig{Kind: motion.RuView, Rate: 50, Router: router})
	whole, _ := once.Frames(nil, noon, noon+10)
	if len(whole) != 500 {
		t.Fatalf("%d frames in 10 s at 50 a second", len(whole))
	}
	n := 0
	for at := noon; at < noon+10; at++ {
		part, more := again.Frames(nil, at, at+1)
		if !more {
			t.Fatal("a house ends")
		}
		for _, f := range part {
			w := whole[n]
			if f.At != w.At || !bytes.Equal(f.Data, w.Data) || f.At < at || f.At >= at+1 || f.Src != router || len(f.Data) != 128 {
				t.Fatalf("frame %d at %v is another one than before, at %v", n, f.At, w.At)
			}
			n++
		}
	}
	if n != len(whole) {
		t.Errorf("%d frames in seconds, %d at once", n, len(whole))
	}
}

func TestMixedFramesAreAsRecorded(t *testing.T) {
	t.Parallel()
	frames, _ := vacant(t).Radio(nodes.RadioConfig{Kind: motion.RuView, Rate: 1000, Router: router, Mixed: true, Foreign: 0.75}).Frames(nil, noon, noon+10)
	lengths, foreign, level := map[int]int{}, 0, 0.0
	for _, f := range frames {
		lengths[len(f.Data)]++
		if f.Src != router {
			foreign++
			continue
		}
		for k := range 64 {
			re, im := float64(int8(f.Data[2*k+1])), float64(int8(f.Data[2*k]))
			level += (re*re + im*im) / 64
		}
	}
	all := len(frames)
	for length, share := range map[int]float64{128: 0.78, 256: 0.21, 384: 0.01} {
		if got := float64(lengths[length]) / float64(all); got < share-0.02 || got > share+0.02 || got == 0 {
			t.Errorf("%.3f of the frames have %d bytes, want %.2f", got, length, share)
		}
	}
	if got := float64(foreign) / float64(all); got < 0.72 || got > 0.78 || len(lengths) != 3 {
		t.Errorf("%.2f of the frames are foreign, lengths %v", got, lengths)
	}
	if level == 0 {
		t.Error("the first training field is empty")
	}
}

func TestRuViewDatagramsSayWhatWasMeasured(t *testing.T) {
	t.Parallel()
	for header, size := range map[int]int{1: 20, 2: 26, 3: 28} {
		frames, _ := vacant(t).Radio(nodes.RadioConfig{Kind: motion.RuView, Rate: 50, Router: router, Mixed: true}).Frames(nil, noon, noon+4)
		encode := nodes.RuView(7, header)
		for i, f := range frames {
			f.Seq.Number = uint32(1000 + i)
			datagram := encode(nil, &f.Frame)
			var got nodewire.Frame
			if err := nodewire.RuView(datagram, &got); err != nil || len(datagram) != size+len(f.Data) {
				t.Fatalf("header %d: %d bytes: %v", header, len(datagram), err)
			}
			src := router
			if header == 1 {
				src = motion.MAC{}
			}
			if got.Node != 7 || got.Src != src || got.Seq != (nodewire.Sequence{Number: uint32(1000 + i), Bits: 32}) || got.Channel != f.Channel ||
				got.RSSI != f.RSSI || got.Noise != f.Noise || got.Length != len(f.Data) || !bytes.Equal(got.Data, f.Data[:128]) {
				t.Fatalf("header %d: %+v was decoded as %+v", header, f, got)
			}
		}
	}
}

// listen returns a socket at which datagrams arrive.
func listen(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestNodeSendsFromItsAddressAndCountsAnewWhenPluggedInAgain(t *testing.T) {
	t.Parallel()
	at, house := listen(t), vacant(t)
	for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
		node := &nodes.UDP{To: at.LocalAddr().String(), From: netip.MustParseAddr(address), Encode: nodes.RuView(2, 3)}
		ctx, unplug := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- node.Run(ctx, house.Radio(nodes.RadioConfig{Kind: motion.RuView, Rate: 200, Router: router}))
		}()
		buffer := make([]byte, 2048)
		for number := range uint32(20) {
			n, from, err := at.ReadFromUDPAddrPort(buffer)
			if err != nil {
				t.Fatal(err)
			}
			var f nodewire.Frame
			if err := nodewire.RuView(buffer[:n], &f); err != nil || f.Seq.Number != number || f.Node != 2 || from.Addr() != node.From {
				t.Fatalf("from %v: number %d, want %d: %v", from, f.Seq.Number, number, err)
			}
		}
		unplug()
		if err := <-ended; err != nil || node.Sent() < 20 {
			t.Errorf("after %d frames: %v", node.Sent(), err)
		}
		drain(at)
	}
}

// drain reads what has arrived before now.
func drain(conn *net.UDPConn) {
	defer conn.SetReadDeadline(time.Now().Add(patience))
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	buffer := make([]byte, 2048)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
	}
}

func TestRecordedFramesComeInTheirTime(t *testing.T) {
	t.Parallel()
	c := &capture.Capture{Header: capture.Header{Kind: capture.AmplitudeBytes}, Frames: []capture.Frame{
		{Time: 3, RSSI: -40, Data: []byte{10, 200}}, {Time: 3.5, RSSI: -41, Data: []byte{12, 255}}, {Time: 5, Data: []byte{14, 0}},
	}}
	source, err := nodes.Recording(c, motion.RuView, router, true)
	if err != nil {
		t.Fatal(err)
	}
	frames, more := source.Frames(nil, noon, noon+3.2)
	if len(frames) != 4 || !more {
		t.Fatalf("%d frames, more %v", len(frames), more)
	}
	for i, want := range []motion.Time{noon, noon + 0.5, noon + 2, noon + 3} {
		if frames[i].At != want || frames[i].Src != router || frames[i].Flags != csi.ImagFirst {
			t.Errorf("frame %d: %+v", i, frames[i])
		}
	}
	if f := frames[0]; f.RSSI != -40 || !bytes.Equal(f.Data, []byte{0, 5, 0, 100}) {
		t.Errorf("%+v", f)
	}
	if once, _ := nodes.Recording(c, motion.RuView, router, false); once != nil {
		if frames, more := once.Frames(nil, noon, noon+3); len(frames) != 3 || more {
			t.Errorf("%d frames, more %v", len(frames), more)
		}
	}
	if _, err := nodes.Recording(&capture.Capture{}, motion.RuView, router, false); err == nil {
		t.Error("an unknown kind is played")
	}
}

func TestRecordedRuViewStreamIsSentWhole(t *testing.T) {
	t.Parallel()
	captures, err := capture.Read(filepath.Join(data(t), "csi", "ruview", "pretrain-1775182186.csi.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range captures {
		source, err := nodes.Recording(c, motion.RuView, router, false)
		if err != nil {
			t.Fatal(err)
		}
		frames, more := source.Frames(nil, noon, noon+200)
		if len(frames) != len(c.Frames) || more {
			t.Fatalf("node %d: %d of %d frames", c.Node, len(frames), len(c.Frames))
		}
		encode := nodes.RuView(uint8(c.Node), 2)
		for i := range frames {
			var got nodewire.Frame
			if err := nodewire.RuView(encode(nil, &frames[i].Frame), &got); err != nil || !bytes.Equal(got.Data, c.Frames[i].Data[:128]) || got.Length != len(c.Frames[i].Data) {
				t.Fatalf("node %d frame %d: %+v: %v", c.Node, i, got, err)
			}
		}
	}
}

func data(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("recordings are missing: %v", err)
		}
		t.Skipf("recordings are missing (set SENSEGATE_DATA): %v", err)
	}
	return dir
}
