package guard

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"
)

func TestDeadlineIsCapped(t *testing.T) {
	t.Parallel()
	g, err := New(Defaults(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	raw := &replay{}
	c := newConn(g, raw)
	for name, asked := range map[string]time.Time{"none": {}, "a day": time.Now().Add(24 * time.Hour)} {
		if err := c.SetDeadline(asked); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(raw.deadline); left < 2690*time.Second || left > 2700*time.Second {
			t.Errorf("%s: the deadline is in %v, want one and a half of 1800 s", name, left)
		}
	}
	c.finish()
	if err := c.SetDeadline(time.Now()); err != net.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

func TestKernelHoldsLittleForAClient(t *testing.T) {
	t.Parallel()
	g, err := New(Defaults(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, above := range map[string]func(net.Conn) net.Conn{
		"plain": func(c net.Conn) net.Conn { return c },
		"TLS":   func(c net.Conn) net.Conn { return layer{layer{c}} },
	} {
		raw := &replay{}
		newConn(g, above(raw)).finish()
		if raw.buffer != sendBuffer {
			t.Errorf("%s: the kernel may hold %d bytes, want %d", name, raw.buffer, sendBuffer)
		}
	}
}

// layer is a connection on another, as TLS is.
type layer struct{ net.Conn }

func (l layer) NetConn() net.Conn { return l.Conn }

// replay is a connection whose peer has sent everything already.
type replay struct {
	net.Conn
	io.Reader
	deadline time.Time // as last set for reading
	buffer   int       // as set for writing
}

func (r *replay) Read(p []byte) (int, error)  { return r.Reader.Read(p) }
func (r *replay) Write(p []byte) (int, error) { return len(p), nil }
func (r *replay) Close() error                { return nil }
func (r *replay) SetWriteBuffer(n int) error  { r.buffer = n; return nil }

func (r *replay) RemoteAddr() net.Addr              { return &net.TCPAddr{} }
func (r *replay) SetDeadline(t time.Time) error     { return r.SetReadDeadline(t) }
func (r *replay) SetReadDeadline(t time.Time) error { r.deadline = t; return nil }
func (r *replay) SetWriteDeadline(time.Time) error  { return nil }
