package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"sensegate/motion"
)

// Message is what a node of another maker has sent: a datagram, or a line with its end.
type Message struct {
	Time    motion.Seconds // since the first packet or line of the file; later ones may be earlier
	Port    uint16         // that a datagram was sent to, 0: a line
	Payload []byte
}

// Formats of `*.pcap` files (draft-ietf-opsawg-pcap), in the byte order of the machine that wrote them.
const (
	pcapMicroseconds = 0xa1b2c3d4
	pcapNanoseconds  = 0xa1b23c4d

	pcapHeader = 24
	pcapRecord = 16
	pcapPacket = 256 << 10 // maximum of a packet
)

// ErrNoPCAP means that a file is not a packet capture that is read here.
var ErrNoPCAP = errors.New("not a packet capture of the form pcap (pcapng is not read)")

// ReadPCAP reads the UDP datagrams over IPv4 of a `*.pcap` file of Ethernet (link type 1), IP (101) or Linux cooked packets
// (113). Other packets, fragments, and datagrams that were captured in part are counted as others.
func ReadPCAP(path string) (datagrams []Message, others int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open capture: %w", err)
	}
	defer f.Close()
	datagrams, others, err = parsePCAP(bufio.NewReader(f))
	if err != nil {
		return nil, 0, fmt.Errorf("read capture %s: %w", path, err)
	}
	return datagrams, others, nil
}

func parsePCAP(r io.Reader) (datagrams []Message, others int, err error) {
	var header [pcapHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, 0, ErrNoPCAP
	}
	order, fractions := binary.ByteOrder(binary.LittleEndian), 1e6
	if magic := order.Uint32(header[:]); magic != pcapMicroseconds && magic != pcapNanoseconds {
		order = binary.BigEndian
	}
	switch order.Uint32(header[:]) {
	case pcapMicroseconds:
	case pcapNanoseconds:
		fractions = 1e9
	default:
		return nil, 0, ErrNoPCAP
	}
	network, err := networkOffset(order.Uint32(header[20:]) & 0xffff)
	if err != nil {
		return nil, 0, err
	}
	start := 0.0
	for number := 1; ; number++ {
		var record [pcapRecord]byte
		if _, err := io.ReadFull(r, record[:]); err == io.EOF {
			return datagrams, others, nil
		} else if err != nil {
			return nil, 0, fmt.Errorf("packet %d: %w", number, err)
		}
		at := float64(order.Uint32(record[:])) + float64(order.Uint32(record[4:]))/fractions
		if number == 1 {
			start = at
		}
		length := order.Uint32(record[8:])
		if length > pcapPacket {
			return nil, 0, fmt.Errorf("packet %d: %d bytes, want at most %d", number, length, pcapPacket)
		}
		packet := make([]byte, length)
		if _, err := io.ReadFull(r, packet); err != nil {
			return nil, 0, fmt.Errorf("packet %d: %w", number, io.ErrUnexpectedEOF)
		}
		port, payload, ok := udpOf(packet, network)
		if !ok {
			others++
			continue
		}
		datagrams = append(datagrams, Message{Time: at - start, Port: port, Payload: payload})
	}
}

// networkOffset returns where the network protocol begins in a packet of a link type.
func networkOffset(link uint32) (int, error) {
	switch link {
	case 1:
		return 14, nil
	case 101:
		return 0, nil
	case 113:
		return 16, nil
	}
	return 0, fmt.Errorf("link type %d: want Ethernet (1), IP (101) or Linux cooked (113)", link)
}

// udpOf returns the port and the payload of the whole UDP datagram over IPv4 in packet.
func udpOf(packet []byte, network int) (port uint16, payload []byte, ok bool) {
	const ipHeader, udpHeader, udp = 20, 8, 17
	if len(packet) < network+ipHeader+udpHeader {
		return 0, nil, false
	}
	if network > 0 && binary.BigEndian.Uint16(packet[network-2:]) != 0x0800 {
		return 0, nil, false
	}
	ip := packet[network:]
	header, length := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	whole := binary.BigEndian.Uint16(ip[6:])&0x3fff == 0 // neither a fragment nor followed by one
	if ip[0]>>4 != 4 || header < ipHeader || ip[9] != udp || !whole || length < header+udpHeader || length > len(ip) {
		return 0, nil, false
	}
	datagram := ip[header:length]
	size := int(binary.BigEndian.Uint16(datagram[4:]))
	if size < udpHeader || size > len(datagram) {
		return 0, nil, false
	}
	return binary.BigEndian.Uint16(datagram[2:]), datagram[udpHeader:size], true
}
