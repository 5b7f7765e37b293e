package broker

import (
	"encoding/binary"
	"net/netip"

	"sensegate/motion"
)

// Numbers of the kernel's neighbour messages (Linux, include/uapi/linux/neighbour.h and
// rtnetlink.h).
const (
	getNeighbours   = 0x1e // RTM_GETNEIGH
	neighbourHeader = 12   // bytes of struct ndmsg
	attributeHeader = 4    // bytes of struct rtattr
	neighbourDst    = 1    // NDA_DST
	neighbourLLAddr = 2    // NDA_LLADDR
	// neighbourUnusable are the states in which an entry has no address that was
	// learned: incomplete, failed, and those that need none.
	neighbourUnusable = 0x01 | 0x20 | 0x40
)

// neighbour is an entry of the neighbour table.
type neighbour struct {
	address netip.Addr // without a zone
	link    int        // index of the interface
	mac     motion.MAC
}

// parseNeighbour reads the data of one RTM_NEWNEIGH message; ok is false when it holds
// no MAC of an IP address.
func parseNeighbour(data []byte) (n neighbour, ok bool) {
	if len(data) < neighbourHeader {
		return n, false
	}
	n.link = int(int32(binary.NativeEndian.Uint32(data[4:])))
	if binary.NativeEndian.Uint16(data[8:])&neighbourUnusable != 0 {
		return n, false
	}
	for rest := data[neighbourHeader:]; len(rest) >= attributeHeader; {
		length := int(binary.NativeEndian.Uint16(rest))
		if length < attributeHeader || length > len(rest) {
			return n, false
		}
		value := rest[attributeHeader:length]
		switch binary.NativeEndian.Uint16(rest[2:]) {
		case neighbourDst:
			n.address, _ = netip.AddrFromSlice(value)
		case neighbourLLAddr:
			if len(value) == len(n.mac) {
				n.mac = motion.MAC(value)
			}
		}
		rest = rest[min((length+3)&^3, len(rest)):]
	}
	return n, n.address.IsValid() && !n.mac.IsZero()
}

// macOf returns the MAC that neighbours have for an address on the interface with that index,
// 0 = any; zero when there is none, or several that differ.
func macOf(neighbours []neighbour, address netip.Addr, link int) (mac motion.MAC) {
	for _, n := range neighbours {
		if n.address.Unmap() != address || link != 0 && n.link != link {
			continue
		}
		if !mac.IsZero() && mac != n.mac {
			return motion.MAC{}
		}
		mac = n.mac
	}
	return mac
}
