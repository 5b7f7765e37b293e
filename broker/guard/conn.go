package guard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"golang.org/x/time/rate"

	"sensegate/motion/peer"
)

// Errors that end a connection, beside a *Violation.
var (
	ErrSlowReader     = errors.New("the client does not read")
	ErrConnectTimeout = errors.New("no CONNECT in time")
	ErrKeepAlive      = errors.New("nothing heard within the keep-alive")
	ErrTakenOver      = errors.New("the same client connected again")
	ErrShutdown       = errors.New("the server stops")
	ErrGaveWay        = errors.New("silent for longest, when there was no room for another")
	ErrPanic          = errors.New("internal error")
)

// Sizes of the buffers of a connection in bytes.
const (
	readBuffer = 2 << 10
	keepBuffer = 4 << 10  // larger packet and write buffers are given back
	idleBuffer = 128      // larger write buffers are given back when nothing is left to write
	sendBuffer = 64 << 10 // what the kernel may hold for a client that does not read
)

// Conn is one client connection as the library sees it: Read yields checked
// packets only, Write and Close never block.
type Conn struct {
	sender
	place    *peer.Place
	client   *mqtt.Client  // nil until CONNECT has been read
	in       *bufio.Reader // nil until CONNECT has been read
	limit    *rate.Limiter // nil without a limit
	checker  checker
	hello    [1]byte // the first byte of CONNECT
	welcomed bool    // the client has its CONNACK
	largest  int     // packet that is read, in bytes after its fixed header
	head     [5]byte // of the packet that is read
	packet   []byte  // the last packet, header included
	unread   []byte  // what of it the library has not read yet

	owner atomic.Value // see Own

	ends []func(reason error) // run when the library has dropped the connection, last one first
	done chan struct{}        // closed after them; nil until CONNECT has been read
}

func newConn(g *Guard, raw net.Conn) *Conn {
	c := &Conn{largest: g.cfg.MaxPacket}
	c.sender.init(g, raw)
	bound(raw)
	c.checker.Config = &g.cfg
	return c
}

// bound limits what the kernel buffers for a client that does not read: by default megabytes,
// which would also hide that client for long.
func bound(raw net.Conn) {
	for {
		above, ok := raw.(interface{ NetConn() net.Conn }) // TLS
		if !ok {
			break
		}
		raw = above.NetConn()
	}
	if tcp, ok := raw.(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // the default works too, with more memory
	}
}

// Own sets what Owner returns: whose connection it is. It is always of one type.
func (c *Conn) Own(owner any) { c.owner.Store(owner) }

// Owner returns whose connection it is, nil when Own has not been called.
func (c *Conn) Owner() any { return c.owner.Load() }

// OnEnd registers fn to run once after the library has dropped the connection, for whatever
// reason, a panic included; reason is nil after an orderly DISCONNECT. Call it from a hook on
// the connection's own goroutine.
func (c *Conn) OnEnd(fn func(reason error)) { c.ends = append(c.ends, fn) }

// OnStall registers fn to run when retained messages have waited for the client for a second,
// while they go on waiting; what it returns runs before the next one is sent. Call it from a
// hook on the connection's own goroutine.
func (c *Conn) OnStall(fn func() (resume func())) { c.onStall = fn }

// AllowPackets sets the largest packet that is read from now on, in bytes after its
// fixed header: Config.MaxPacket at first. As much as two of them may wait to be
// written. Call it from a hook on the connection's own goroutine.
func (c *Conn) AllowPackets(n int) {
	c.largest = n
	c.hold(2 * n)
}

// Closing reports whether the connection is being closed: nothing more is delivered.
func (c *Conn) Closing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// Done is closed once the connection of a client has ended and all OnEnd functions have run.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Read implements net.Conn for the library.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.unread) == 0 {
		if _, err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// await reads the first byte. Most of what a stranger's idle connection costs is
// the stack of its goroutine, so this is called before anything that needs more.
func (c *Conn) await() error {
	if err := c.raw.SetDeadline(time.Now().Add(c.guard.cfg.ConnectTimeout)); err != nil {
		return err
	}
	_, err := c.raw.Read(c.hello[:])
	return err
}

// readConnect reads and checks the rest of the CONNECT, which becomes the first
// packet that the library reads. Until then the connection holds no buffer.
func (c *Conn) readConnect() (connect, error) {
	from := io.MultiReader(bytes.NewReader(c.hello[:]), c.raw)
	body, v, err := c.readPacket(from, c.guard.cfg.MaxConnect, checkFirst)
	if err != nil {
		return connect{}, c.connectError(err)
	}
	var con connect
	if v == nil {
		con, v = c.guard.cfg.parseConnect(body)
	}
	if v != nil {
		c.guard.counters.refused(v)
		c.shut(v, connack(con.version, v))
		return con, v
	}
	c.checker.version = con.version
	c.in = bufio.NewReaderSize(c.raw, readBuffer)
	if n := c.guard.cfg.MessagesPerSecond; n > 0 {
		c.limit = rate.NewLimiter(rate.Limit(n), n)
	}
	return con, nil
}

// connectError counts a time-out before the CONNECT was complete and returns the error that
// names it.
func (c *Conn) connectError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && c.cause() == nil {
		c.guard.counters.connectTimeout.Add(1)
		return ErrConnectTimeout
	}
	return err
}

func checkFirst(first byte) *Violation {
	if first != typeConnect<<4 {
		return refuse(codeProtocol, "connect: must come first")
	}
	return nil
}

// next reads and checks the next packet, and delays it if the client sends faster than its
// rate. It returns what follows the packet's fixed header, valid until the next call.
func (c *Conn) next() ([]byte, error) {
	body, v, err := c.readPacket(c.in, c.largest, c.checker.checkHeader)
	if err != nil {
		return nil, c.readError(err)
	}
	if v == nil {
		v = c.checker.check(c.packet[0], body)
	}
	if v != nil {
		c.unread = nil
		c.guard.counters.refused(v)
		c.sayGoodbye(v)
		return nil, v
	}
	return body, c.pace()
}

func (c *Conn) sayGoodbye(v *Violation) {
	if v.silent {
		c.shut(v, nil)
		return
	}
	c.Kick(v.Code, v)
}

// readError returns why a read failed: our reason, if we closed first.
func (c *Conn) readError(err error) error {
	if cause := c.cause(); cause != nil {
		return cause
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrKeepAlive
	}
	return err
}

// pace delays the packets of a client that sends faster than its rate; later ones wait in its
// socket, and nothing is dropped.
func (c *Conn) pace() error {
	if c.limit == nil {
		return nil
	}
	if c.limit.Allow() {
		return nil
	}
	wait := c.limit.Reserve().Delay()
	c.guard.counters.throttled.Add(1)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closing:
		return c.readError(net.ErrClosed)
	}
}

// SetDeadline sets the read deadline, at most one and a half of the longest
// keep-alive from now. Writes have a deadline of their own.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline is SetDeadline.
func (c *Conn) SetReadDeadline(t time.Time) error {
	latest := time.Now().Add(c.guard.cfg.KeepAlive * 3 / 2)
	if t.IsZero() || t.After(latest) {
		t = latest
	}
	return c.readUntil(t)
}

// SetWriteDeadline does nothing: a write never blocks.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr returns the address that the client reached.
func (c *Conn) LocalAddr() net.Addr { return c.raw.LocalAddr() }

// RemoteAddr returns the client's address.
func (c *Conn) RemoteAddr() net.Addr { return c.raw.RemoteAddr() }
