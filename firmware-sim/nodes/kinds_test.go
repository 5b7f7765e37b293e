package nodes_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// measured returns what a node of a kind measures in some seconds.
func measured(t *testing.T, kind motion.NodeKind) []nodes.Frame {
	t.Helper()
	frames, _ := vacant(t).Radio(nodes.RadioConfig{Kind: kind, Rate: 50, Router: router}).Frames(nil, noon, noon+4)
	return frames
}

func TestMicroESPectreDatagramsSayWhatWasMeasured(t *testing.T) {
	t.Parallel()
	encode := nodes.MicroESPectre()
	for i, f := range measured(t, motion.MicroESPectre) {
		f.Seq.Number = uint32(200 + i)
		var got nodewire.Frame
		err := nodewire.MicroESPectre(encode(nil, &f.Frame), &got)
		if err != nil || !bytes.Equal(got.Data, f.Data) || got.Seq != (nodewire.Sequence{Number: uint32(200+i) % 256, Bits: 8}) || got.Flags != csi.ImagFirst|csi.GainLocked ||
			nodewire.ESPectreChip(got.Format) != nodewire.ESP32C6 {
			t.Fatalf("%+v was decoded as %+v: %v", f, got, err)
		}
	}
}

func TestNexmonDatagramsSayWhatWasMeasured(t *testing.T) {
	t.Parallel()
	encode := nodes.Nexmon()
	var decoder nodewire.Nexmon
	for i, f := range measured(t, motion.Nexmon) {
		var got nodewire.Frame
		if err := decoder.Decode(encode(nil, &f.Frame), &got); err != nil {
			t.Fatal(err)
		}
		if got.Src != router || got.Channel != f.Channel || got.RSSI != f.RSSI || got.Subcarriers() != 64 {
			t.Fatalf("%+v was decoded as %+v", f, got)
		}
		for k, a := range got.Amplitudes {
			im, re := float32(int8(f.Data[2*k])), float32(int8(f.Data[2*k+1]))
			if a != 0 && (a*a-im*im-re*re > 0.5 || a*a-im*im-re*re < -0.5) {
				t.Fatalf("frame %d subcarrier %d: %v, measured (%v, %v)", i, k, a, im, re)
			}
		}
	}
}

func TestLinesSayWhatWasMeasured(t *testing.T) {
	t.Parallel()
	node, err := nodes.NewLines("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, unplug := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	house := vacant(t)
	go func() {
		ended <- node.Run(ctx, house.Radio(nodes.RadioConfig{Kind: motion.CSILines, Rate: 200, Router: router}))
	}()
	reader := dial(t, node.At())
	lines := bufio.NewReader(reader)
	var decoder nodewire.Lines
	var last uint32
	for i := range 50 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var f nodewire.Frame
		if err := decoder.Decode(line, &f); err != nil || f.Src != router || f.Channel != 6 || f.Subcarriers() != 128 || i > 0 && f.Seq.Number != last+1 {
			t.Fatalf("line %q: %+v: %v", line, f, err)
		}
		last = f.Seq.Number
	}
	unplug()
	if err := <-ended; err != nil || node.Sent() < 50 {
		t.Errorf("after %d lines: %v", node.Sent(), err)
	}
	if _, err := lines.WriteTo(new(bytes.Buffer)); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection does not end: %v", err)
	}
}

// dial connects to a node.
func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}
