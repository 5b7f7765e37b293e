package abusetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
)

// stranger is a connection of somebody without credentials: what it says and what it
// then waits for, which is the end.
type stranger struct {
	mqtt bool   // at the MQTT door, else that of HTTP
	says string // perhaps nothing
}

// silent says nothing, or too little for an answer.
var silent = []stranger{
	{mqtt: true},
	{says: "GET /core/network/1/events/live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"},
	{mqtt: true},
	{},
	{mqtt: true, says: "\x10\x7f\x00\x04MQTT"}, // a CONNECT that does not end
	{says: "POST /gatekeeper HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"},
}

// refused makes the product do something before it says no.
var refused = []stranger{
	{mqtt: true, says: login("guest", "let me in")},
	{says: "GET /core/network/1/events/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: sg_guess\r\n\r\n"},
	{mqtt: true, says: "\x82\x06\x00\x01\x00\x00\x01\x61"}, // a SUBSCRIBE without options, and without a CONNECT
	{says: "GET /core/network/find/id/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"},
	{mqtt: true},
	{},
}

// login returns the bytes of a CONNECT.
func login(username, password string) string {
	hello := packets.NewControlPacket(packets.CONNECT)
	c := hello.Content.(*packets.Connect)
	c.ClientID, c.KeepAlive, c.CleanStart = username, 60, true
	c.UsernameFlag, c.Username, c.PasswordFlag, c.Password = true, username, true, []byte(password)
	var text writer
	if _, err := hello.WriteTo(&text); err != nil {
		panic(err) // memory takes everything
	}
	return string(text)
}

// writer collects bytes.
type writer []byte

func (w *writer) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// crowd is strangers, from eight addresses of loopback that no resident uses.
type crowd struct {
	http, mqtt string
	opened     atomic.Int64
	failed     atomic.Int64 // could not even connect
	open       atomic.Int64
	wg         sync.WaitGroup
}

// visit opens a connection, says what there is to say and waits for the end.
func (c *crowd) visit(ctx context.Context, s stranger, n int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n%8))}}
	address := c.http
	if s.mqtt {
		address = c.mqtt
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		c.failed.Add(1)
		return
	}
	c.opened.Add(1)
	c.open.Add(1)
	defer c.open.Add(-1)
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, s.says); err == nil {
		_, _ = io.Copy(io.Discard, conn) // until the end
	}
}

// stay keeps n silent connections open until ctx ends, and opens each again when it
// is closed.
func (c *crowd) stay(ctx context.Context, n int, among []stranger) {
	for i := range n {
		c.wg.Go(func() {
			for ctx.Err() == nil {
				c.visit(ctx, among[i%len(among)], i)
			}
		})
	}
}

// come opens connections at a rate until ctx ends.
func (c *crowd) come(ctx context.Context, perSecond int) {
	c.wg.Go(func() {
		ticks := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticks.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				c.wg.Go(func() { c.visit(ctx, refused[n%len(refused)], n) })
			}
		}
	})
}

// String tells how much came.
func (c *crowd) String() string {
	return fmt.Sprintf("%d connections of strangers, %d that could not be made", c.opened.Load(), c.failed.Load())
}
