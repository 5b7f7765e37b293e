package guard

import "encoding/binary"

// cursor reads the data types of MQTT section 1.5 from a packet. A read past
// the end yields zero values and sets short, so that a caller may check once.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.rest) {
		c.short, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) uint8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// varint reads a variable byte integer of at most four bytes, and no more than
// it needs (MQTT-1.5.5-1).
func (c *cursor) varint() uint32 {
	var value uint32
	for shift := 0; shift < 28; shift += 7 {
		b := c.uint8()
		value |= uint32(b&0x7f) << shift
		if b == 0 && shift > 0 {
			break
		}
		if b < 0x80 {
			return value
		}
	}
	c.short, c.rest = true, nil
	return 0
}

// binary reads a length-prefixed string of bytes.
func (c *cursor) binary() []byte { return c.take(int(c.uint16())) }
