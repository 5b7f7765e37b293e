package nodes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// Encode appends a frame to dst as a kind of node sends it.
type Encode func(dst []byte, f *nodewire.Frame) []byte

// RuView returns how the node of a number sends frames with a header of version 1, 2 or 3.
func RuView(number uint8, header int) Encode {
	const versionAt, sequenceAt, sequenceEnd = 0, 26, 28
	return func(dst []byte, f *nodewire.Frame) []byte {
		f.Node = number
		if header == 1 {
			f.Src = motion.MAC{}
		}
		begin := len(dst)
		dst = nodewire.AppendRuView(dst, f)
		if header == 2 { // that is version 3 without the sequence control
			dst[begin+versionAt] = 8
			dst = append(dst[:begin+sequenceAt], dst[begin+sequenceEnd:]...)
		}
		return dst
	}
}

// MicroESPectre returns how a node with an ESP32-C6 sends frames; its gain is locked.
func MicroESPectre() Encode {
	return func(dst []byte, f *nodewire.Frame) []byte {
		f.Format = uint16(nodewire.ESP32C6)
		f.Flags |= csi.GainLocked
		return nodewire.AppendMicroESPectre(dst, f)
	}
}

// Nexmon returns how a Raspberry Pi forwards data frames of one antenna.
func Nexmon() Encode {
	const qosData = 0x88 >> 2 // type and subtype of frame control
	return func(dst []byte, f *nodewire.Frame) []byte {
		f.Format = qosData << 6
		return nodewire.AppendNexmon(dst, f)
	}
}

// UDP is a node that sends each frame in a datagram.
type UDP struct {
	To     string     // host:port of the appliance
	From   netip.Addr // address that it sends from; zero: the system chooses
	Encode Encode

	sent atomic.Int64
}

// Run sends the frames of a source until ctx ends, or the source does. As with a real node, it does not matter
// whether anybody listens.
func (n *UDP) Run(ctx context.Context, source Source) error {
	to, err := net.ResolveUDPAddr("udp", n.To)
	if err != nil {
		return fmt.Errorf("send as a node: %w", err)
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.From, 0)))
	if err != nil {
		return fmt.Errorf("send as a node: %w", err)
	}
	defer conn.Close()
	var datagram []byte
	play(ctx, source, func(f *Frame) {
		datagram = n.Encode(datagram[:0], &f.Frame)
		if _, err := conn.WriteToUDP(datagram, to); err == nil {
			n.sent.Add(1)
		}
	})
	return nil
}

// Sent returns how many frames have been sent.
func (n *UDP) Sent() int64 { return n.sent.Load() }
