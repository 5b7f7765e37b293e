package guard

import (
	"io"
	"slices"
)

// firstGrowth is where the buffer of a large packet starts to grow, in bytes.
const firstGrowth = 16 << 10

// readPacket reads one packet of at most limit bytes after its fixed header
// into c.packet and returns its body. Memory grows with what has arrived, not
// with what the header claims.
func (c *Conn) readPacket(from io.Reader, limit int, checkHeader func(first byte) *Violation) ([]byte, *Violation, error) {
	head, err := more(from, c.head[:0], 2)
	if err != nil {
		return nil, nil, err
	}
	if v := checkHeader(head[0]); v != nil {
		return nil, v, nil
	}
	for head[len(head)-1] >= 0x80 {
		if len(head) == 5 {
			return nil, refuseSilently("remaining length: more than four bytes"), nil
		}
		if head, err = more(from, head, 1); err != nil {
			return nil, nil, err
		}
	}
	length := cursor{rest: head[1:]}
	size := int(length.varint())
	if length.short {
		return nil, refuseSilently("remaining length: longer than needed"), nil
	}
	if size > limit {
		return nil, refuse(codeTooLarge, "packet: larger than %d bytes", limit), nil
	}
	packet := append(c.packet[:0], head...)
	for have := 0; have < size; have = len(packet) - len(head) {
		if packet, err = more(from, packet, min(size-have, max(have, firstGrowth))); err != nil {
			return nil, nil, err
		}
	}
	c.packet, c.unread = packet, packet
	return packet[len(head):], nil, nil
}

// more appends the next n bytes to b.
func more(from io.Reader, b []byte, n int) ([]byte, error) {
	b = slices.Grow(b, n)
	_, err := io.ReadFull(from, b[len(b):len(b)+n])
	return b[:len(b)+n], err
}

// withoutDisconnects removes DISCONNECT packets from what the library writes to a client of
// MQTT 3, in which a server sends none. Every write of the library holds whole packets.
func withoutDisconnects(p []byte) []byte {
	for rest := p; len(rest) > 0; {
		length := cursor{rest: rest[1:]}
		length.take(int(length.varint()))
		if length.short {
			return p
		}
		if rest[0]>>4 == typeDisconnect {
			at := len(p) - len(rest)
			return append(slices.Clone(p[:at]), withoutDisconnects(length.rest)...)
		}
		rest = length.rest
	}
	return p
}
