package guard

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// FuzzPacketsReachTheLibraryUnharmed feeds a byte stream, as from a client, and
// decodes what passes as the library does: whatever passes must not make it
// panic, and what the guard takes for well formed must be so for the library.
func FuzzPacketsReachTheLibraryUnharmed(f *testing.F) {
	for _, seed := range []string{
		"10 0c 0004 4d515454 04 02 0000 0000  82 05 0001 0001 61 00",
		"10 0d 0004 4d515454 05 02 0000 00 0000  82 06 0001 00 0001 61  30 04 0001 61 00",
		"10 13 0004 4d515454 05 02 0000 06 210001220001 0000  32 0a 0001 61 0001 03 230001 62  32 09 0000 0002 03 230001 62",
		"10 19 0004 4d515454 05 06 0000 00 0000 00 0006 612f622f6364 0001 62  e0 02 04 00",
		"10 0c 0004 4d515454 04 02 0000 0000  a2 05 0001 0001 61 40 02 0001 62 02 0001 c0 00",
		"10 0d 0004 4d515454 05 02 0000 00 0000  30 0b 0001 61 06 26 0001 61 0001 62",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(seed, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(1), uint16(0))
		f.Add(b, byte(2), uint16(10))
	}
	server := mqtt.New(nil)
	f.Fuzz(func(t *testing.T, stream []byte, maxQoS byte, aliases uint16) {
		cfg := Defaults()
		cfg.MaxQoS, cfg.TopicAliasMaximum, cfg.MessagesPerSecond = maxQoS%3, aliases, 0
		g, err := New(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		c := newConn(g, &replay{Reader: bytes.NewReader(stream)})
		defer c.finish()
		if c.await() != nil {
			return
		}
		con, err := c.readConnect()
		if err != nil {
			return
		}
		decode(t, c.packet, con.version, aliases)
		c.client = server.NewClient(c, "fuzz", "", false)
		c.client.Properties.ProtocolVersion = con.version
		c.unread = nil // the library has read the CONNECT
		for {
			body, err := c.next()
			if err != nil {
				var v *Violation
				if !errors.As(err, &v) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("unexpected end: %v", err)
				}
				return
			}
			decode(t, c.packet, con.version, aliases)
			ours, ourErr := c.read(body)
			c.unread = c.packet
			first, err := header(c.client)
			if err != nil {
				t.Fatalf("% x: header: %v", c.packet, err)
			}
			if library, err := c.client.ReadPacket(first); !reflect.DeepEqual(ours, library) || !errors.Is(ourErr, err) {
				t.Fatalf("% x is read as %+v, %v; the library: %+v, %v", c.packet, ours, ourErr, library, err)
			}
		}
	})
}

// finish closes the connection and waits for its writer.
func (c *Conn) finish() {
	_ = c.Close()
	c.drain()
}

// decode does with a packet what the library does with it first.
func decode(t *testing.T, packet []byte, version byte, aliases uint16) {
	in := bufio.NewReader(bytes.NewReader(packet))
	first, _ := in.ReadByte()
	pk := packets.Packet{ProtocolVersion: version}
	err := pk.FixedHeader.Decode(first)
	if err == nil {
		pk.FixedHeader.Remaining, _, err = packets.DecodeLength(in)
	}
	if err != nil {
		t.Fatalf("% x: header: %v", packet, err)
	}
	body, _ := io.ReadAll(in)
	if len(body) != pk.FixedHeader.Remaining {
		t.Fatalf("% x: %d bytes follow the header", packet, len(body))
	}
	valid := packets.CodeSuccess
	switch pk.FixedHeader.Type {
	case packets.Connect:
		err = pk.ConnectDecode(body)
		pk.ConnectValidate() // stricter than MQTT about empty wills and passwords
	case packets.Publish:
		err = pk.PublishDecode(body)
		valid = pk.PublishValidate(aliases)
	case packets.Subscribe:
		err = pk.SubscribeDecode(body)
		valid = pk.SubscribeValidate()
	case packets.Unsubscribe:
		err = pk.UnsubscribeDecode(body)
		valid = pk.UnsubscribeValidate()
	case packets.Puback, packets.Pubrec, packets.Pubrel, packets.Pubcomp:
		err = pk.PubackDecode(body)
	case packets.Disconnect:
		err = pk.DisconnectDecode(body)
	}
	if err != nil || valid != packets.CodeSuccess {
		t.Fatalf("% x: passed, but the library says %v, %v", packet, err, valid)
	}
}

// FuzzWritesWithoutDisconnects checks the filter on what is written to clients
// of MQTT 3: it never panics, and leaves what is not whole packets alone.
func FuzzWritesWithoutDisconnects(f *testing.F) {
	f.Add([]byte{0x40, 2, 0, 1, 0xe0, 0, 0xd0, 0})
	f.Add([]byte{0xe0, 1, 0x8e})
	f.Add([]byte{0xe0})
	f.Fuzz(func(t *testing.T, p []byte) {
		before := bytes.Clone(p)
		if got := withoutDisconnects(p); len(got) > len(p) || !bytes.Equal(p, before) {
			t.Fatalf("% x became % x, input % x", before, got, p)
		}
	})
}

func TestDisconnectsAreTakenOutOfWrites(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want []byte }{
		"nothing to take":   {[]byte{0x40, 2, 0, 1}, []byte{0x40, 2, 0, 1}},
		"at the end":        {[]byte{0x40, 2, 0, 1, 0xe0, 1, 0x8e}, []byte{0x40, 2, 0, 1}},
		"between":           {[]byte{0xd0, 0, 0xe0, 0, 0x40, 2, 0, 1}, []byte{0xd0, 0, 0x40, 2, 0, 1}},
		"alone":             {[]byte{0xe0, 0}, nil},
		"inside a payload":  {[]byte{0x30, 5, 0, 1, 'a', 0xe0, 0}, []byte{0x30, 5, 0, 1, 'a', 0xe0, 0}},
		"not whole packets": {[]byte{0x40, 9, 0xe0, 0}, []byte{0x40, 9, 0xe0, 0}},
	} {
		if got := withoutDisconnects(tc.in); !bytes.Equal(got, tc.want) {
			t.Errorf("%s: got % x, want % x", name, got, tc.want)
		}
	}
}
