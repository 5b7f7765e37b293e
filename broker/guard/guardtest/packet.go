package guardtest

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Connect describes a CONNECT; the zero value is an anonymous clean MQTT 3.1.1
// client without a keep-alive.
type Connect struct {
	Version    byte // 0 stands for 4
	ClientID   string
	Keep       bool // without the clean flag
	KeepAlive  uint16
	Properties string // hexadecimal, without the length
	Username   string
	Password   string
	WillTopic  string
	WillRetain bool
	Will       string

	WillProperties string // hexadecimal, without the length
}

// Bytes returns the packet.
func (o Connect) Bytes() []byte {
	if o.Version == 0 {
		o.Version = 4
	}
	var flags byte
	if !o.Keep {
		flags |= 2
	}
	rest := text(o.ClientID)
	if o.WillTopic != "" {
		flags |= 4
		if o.WillRetain {
			flags |= 0x20
		}
		if o.Version == 5 {
			rest = append(rest, props(o.WillProperties)...)
		}
		rest = append(append(rest, text(o.WillTopic)...), text(o.Will)...)
	}
	if o.Username != "" {
		flags |= 0x80
		rest = append(rest, text(o.Username)...)
	}
	if o.Password != "" {
		flags |= 0x40
		rest = append(rest, text(o.Password)...)
	}
	name := "MQTT"
	if o.Version == 3 {
		name = "MQIsdp" // MQTT 3.1, section 3.1
	}
	body := append(text(name), o.Version, flags)
	body = binary.BigEndian.AppendUint16(body, o.KeepAlive)
	if o.Version == 5 {
		body = append(body, props(o.Properties)...)
	}
	return Frame(0x10, append(body, rest...))
}

// Publish describes a PUBLISH.
type Publish struct {
	Version    byte
	Topic      string
	Payload    string
	QoS        byte
	ID         uint16
	Retain     bool
	Properties string
}

// Bytes returns the packet.
func (o Publish) Bytes() []byte {
	first := byte(0x30) | o.QoS<<1
	if o.Retain {
		first |= 1
	}
	body := text(o.Topic)
	if o.QoS > 0 {
		body = binary.BigEndian.AppendUint16(body, o.ID)
	}
	if o.Version == 5 {
		body = append(body, props(o.Properties)...)
	}
	return Frame(first, append(body, o.Payload...))
}

// Subscribe returns a SUBSCRIBE with packet id 1 and the same QoS for all filters.
func Subscribe(version, qos byte, filters ...string) []byte {
	body := []byte{0, 1}
	if version == 5 {
		body = append(body, 0)
	}
	for _, f := range filters {
		body = append(append(body, text(f)...), qos)
	}
	return Frame(0x82, body)
}

// Puback returns a PUBACK.
func Puback(id uint16) []byte { return []byte{0x40, 2, byte(id >> 8), byte(id)} }

// PublishID returns the packet id of a PUBLISH with QoS over 0.
func PublishID(packet []byte) uint16 {
	at := 1
	for packet[at] >= 0x80 {
		at++
	}
	at++
	at += 2 + int(binary.BigEndian.Uint16(packet[at:]))
	return binary.BigEndian.Uint16(packet[at:])
}

// Frame puts a fixed header before body.
func Frame(first byte, body []byte) []byte {
	return append(append([]byte{first}, varint(len(body))...), body...)
}

// Hex returns the bytes of a hexadecimal text, spaces ignored; it panics on
// anything else.
func Hex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func varint(n int) []byte {
	var b []byte
	for n >= 0x80 {
		b, n = append(b, byte(n)|0x80), n>>7
	}
	return append(b, byte(n))
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }

func props(h string) []byte {
	b := Hex(h)
	return append(varint(len(b)), b...)
}
