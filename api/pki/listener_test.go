package pki

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// mute is a connection whose client sends and never reads: its handshake stays half done.
type mute struct{ net.Conn }

func (mute) Read([]byte) (int, error) { return 0, io.EOF }

// serveHandshakes makes the handshakes of all who come, each with a deadline, until
// the test ends, and returns the address.
func serveHandshakes(t testing.TB, c *Certificates) string {
	t.Helper()
	bound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := c.Listener(bound)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
					return
				}
				if _, err := conn.Write([]byte("!")); err == nil {
					_, _ = conn.Read(make([]byte, 1)) // until the client goes
				}
			}()
		}
	}()
	t.Cleanup(func() {
		bound.Close()
		<-served
	})
	return bound.Addr().String()
}

// TestStalledHandshakesKeepNobodyWaiting has many clients send their hello and then
// nothing, or go at once; afterwards others come as always.
func TestStalledHandshakesKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	address := serveHandshakes(t, c)
	for i := range 200 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		hello := tls.Client(mute{conn}, client(c.Authority(), "gw", b.clock))
		if err := hello.Handshake(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if i%2 == 0 {
			conn.Close()
		}
	}
	for range 3 {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 30 * time.Second}, "tcp", address, client(c.Authority(), "gw", b.clock))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

func TestClosedSocketHoldsNoTurn(t *testing.T) {
	t.Parallel()
	there, here := net.Pipe()
	defer there.Close()
	s := &socket{Conn: here, slots: make(chan struct{}, 1)}
	s.acquire()
	if len(s.slots) != 1 {
		t.Error("no turn is held")
	}
	s.Close()
	s.acquire() // the handshake had waited for its turn meanwhile
	if len(s.slots) != 0 {
		t.Error("a turn is held after the end")
	}
}

func BenchmarkHandshake(b *testing.B) {
	around := newBox(b)
	c := around.open(Config{})
	address := serveHandshakes(b, c)
	config := client(c.Authority(), "gw", around.clock)
	for b.Loop() {
		conn, err := tls.Dial("tcp", address, config)
		if err != nil {
			b.Fatal(err)
		}
		conn.Close()
	}
}
