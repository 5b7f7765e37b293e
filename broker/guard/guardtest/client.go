// Package guardtest helps tests to speak MQTT byte by byte, and to run a guard
// under an open policy: everybody may connect, publish and subscribe. It knows
// the wire format only; no product code may import it.
package guardtest

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a Client waits for what has to come.
const Patience = time.Minute

// Client is a raw MQTT connection. Its methods fail the test on the first
// surprise; they belong to one goroutine.
type Client struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

// Dial opens a connection that the test closes at its end.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &Client{Conn: conn, t: t, in: bufio.NewReader(conn)}
}

// Send writes packets.
func (c *Client) Send(packets ...[]byte) {
	c.t.Helper()
	for _, p := range packets {
		if _, err := c.Write(p); err != nil {
			c.t.Fatalf("send % x: %v", p[:min(len(p), 16)], err)
		}
	}
}

// SendRefused writes a packet that the server does not read to its end because it
// ends the connection first: the write may meet the reset.
func (c *Client) SendRefused(packet []byte) {
	c.t.Helper()
	if _, err := c.Write(packet); err != nil && !Closed(err) {
		c.t.Fatalf("send % x: %v", packet[:min(len(packet), 16)], err)
	}
}

// Packet reads the next packet.
func (c *Client) Packet() []byte {
	c.t.Helper()
	p, err := c.TryPacket()
	if err != nil {
		c.t.Fatalf("read packet: %v", err)
	}
	return p
}

// TryPacket reads the next packet and does not fail the test without one.
func (c *Client) TryPacket() ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		return nil, err
	}
	first, err := c.in.ReadByte()
	if err != nil {
		return nil, err
	}
	packet, size := []byte{first}, 0
	for shift := 0; ; shift += 7 {
		b, err := c.in.ReadByte()
		if err != nil {
			return nil, err
		}
		packet, size = append(packet, b), size|int(b&0x7f)<<shift
		if b < 0x80 {
			break
		}
	}
	body := make([]byte, size)
	_, err = io.ReadFull(c.in, body)
	return append(packet, body...), err
}

// Expect reads packets and compares them, given as hexadecimal.
func (c *Client) Expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := hex.EncodeToString(c.Packet()); got != strings.ReplaceAll(w, " ", "") {
			c.t.Fatalf("got packet %s, want %s", got, w)
		}
	}
}

// ExpectClosed waits until the server has closed the connection, with nothing
// more to read.
func (c *Client) ExpectClosed() {
	c.t.Helper()
	p, err := c.TryPacket()
	if err == nil {
		c.t.Fatalf("got packet % x, want the connection closed", p)
	}
	if !Closed(err) {
		c.t.Fatalf("got %v, want the connection closed", err)
	}
}

// Closed reports whether err says that the peer closed the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Login sends a CONNECT and expects it to be accepted.
func (c *Client) Login(o Connect) {
	c.t.Helper()
	c.Send(o.Bytes())
	if p := c.Packet(); p[0] != 0x20 || p[3] != 0 {
		c.t.Fatalf("connack % x, want success", p)
	}
}

// Alive checks that the server still answers.
func (c *Client) Alive() {
	c.t.Helper()
	c.Send([]byte{0xc0, 0})
	c.Expect("d000")
}
