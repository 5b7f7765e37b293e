package live

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// pace holds the times of connections.
type pace struct {
	ping  time.Duration // between pings, and until the first at most
	pong  time.Duration // without a sign of life until the connection is given up
	write time.Duration // for one message
	close time.Duration // for the other end to answer a close
}

// productPace is the pace of the product. A write and a close together take less than the
// 4 s that a server takes to stop, so that no viewer can hold up a stop.
func productPace() pace {
	return pace{ping: 30 * time.Second, pong: 75 * time.Second, write: 3 * time.Second, close: 500 * time.Millisecond}
}

const (
	readLimit   = 512   // bytes: viewers have nothing to say
	sendBuffer  = 32768 // bytes the kernel may hold for a viewer that does not read
	readBuffer  = 128   // bytes: pongs and a close fit
	writeBuffer = 1024
)

// The close codes of a viewer who would now be answered with an HTTP status: 4000 and the
// status.
const (
	closeUnauthorized = 4000 + http.StatusUnauthorized
	closeForbidden    = 4000 + http.StatusForbidden
	closeNotFound     = 4000 + http.StatusNotFound
)

// connection is one websocket. read and write run in a goroutine each; only write sends
// messages. It waits for one channel alone, that of the stream's subscription, because each
// further one would slow down every message and take memory.
type connection struct {
	ws   *websocket.Conn
	pace pace
	stop <-chan struct{} // the server stops
	wake chan struct{}   // holds one when there may be messages, or signalled is set

	gone                atomic.Bool // read has ended, as the other end is gone
	pingDue, recheckDue atomic.Bool
	signalled           atomic.Bool // stop, gone, pingDue or recheckDue may have changed

	recheck func(context.Context) error // whether the viewer may still see this
	turn    int                         // of Set, at which it is pinged

	mu      sync.Mutex
	leaving bool // a close frame is out
}

func newConnection(ws *websocket.Conn, set *Set, wake chan struct{}, recheck func(context.Context) error) *connection {
	setWriteBuffer(ws.NetConn())
	return &connection{ws: ws, pace: set.pace, stop: set.stop, wake: wake, recheck: recheck}
}

// setWriteBuffer limits what the kernel holds for a viewer. A TCP connection may be below
// others, such as TLS.
func setWriteBuffer(conn net.Conn) {
	for {
		switch c := conn.(type) {
		case interface{ SetWriteBuffer(bytes int) error }:
			_ = c.SetWriteBuffer(sendBuffer) // the default works too, with more memory
			return
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return
		}
	}
}

// signal makes write check stop, gone, pingDue and recheckDue.
func (c *connection) signal() {
	c.signalled.Store(true)
	select {
	case c.wake <- struct{}{}:
	default: // it is about to
	}
}

// read drops what the viewer says, watches for pongs and for the end, and closes
// the connection.
func (c *connection) read() {
	defer c.signal()
	defer c.gone.Store(true)
	defer c.ws.Close()
	c.ws.SetReadLimit(readLimit)
	c.wait(c.pace.pong, false)
	c.ws.SetPongHandler(func(string) error {
		c.wait(c.pace.pong, false)
		return nil
	})
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}

// wait gives the other end until d from now for a sign of life. After a call with leaving it
// changes nothing any more.
func (c *connection) wait(d time.Duration, leaving bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return
	}
	c.leaving = leaving
	_ = c.ws.NetConn().SetReadDeadline(time.Now().Add(d)) // fails on a closed one, which needs none
}

// write sends the stream until it ends, and then a close frame. read closes the connection,
// after the other end has had a moment to answer.
func (c *connection) write(s *Stream) (err error) {
	code := websocket.CloseInternalServerErr
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
		c.sendClose(code)
	}()
	if code, err = s.pump(c); code == websocket.CloseNormalClosure && s.ended != code {
		code = cmp.Or(c.refused(), s.ended) // credentials that went along are told first
	}
	return err
}

// sendClose sends a close frame with code; 0 when nobody listens any more.
func (c *connection) sendClose(code int) {
	if code != 0 {
		message := websocket.FormatCloseMessage(code, closeReason(code))
		if c.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(c.pace.close)) == nil {
			c.wait(c.pace.close, true)
			return
		}
	}
	_ = c.ws.Close() // ends read
}

func closeReason(code int) string {
	switch code {
	case websocket.CloseTryAgainLater:
		return "fell behind; read the history and connect again"
	case websocket.CloseGoingAway:
		return "the appliance stops"
	case closeUnauthorized:
		return "the credentials are no longer valid"
	case closeForbidden, closeNotFound:
		return "no longer open to these credentials"
	}
	return ""
}

// refused returns the close code of a viewer who may no longer watch, 0 while they
// may. Trouble of our own ends nothing.
func (c *connection) refused() int {
	ctx, cancel := context.WithTimeout(context.Background(), c.pace.write)
	defer cancel()
	switch fault.KindOf(c.recheck(ctx)) {
	case fault.Unauthorized:
		return closeUnauthorized
	case fault.Forbidden:
		return closeForbidden
	case fault.NotFound:
		return closeNotFound
	}
	return 0
}

// send writes a message and reports whether the viewer is still there.
func (c *connection) send(write func() error) bool {
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.pace.write)) // always nil in gorilla
	return write() == nil
}

// ended returns the close code for a subscription that has ended.
func (c *connection) ended(behind, stopped bool) int {
	select {
	case <-c.stop: // the source stops with the server
		return websocket.CloseGoingAway
	default:
	}
	switch {
	case behind:
		return websocket.CloseTryAgainLater
	case stopped: // the source stops before the server
		return websocket.CloseGoingAway
	}
	return websocket.CloseNormalClosure
}

// woken handles a signal: it looks for the end of the server and of the viewer, checks the
// credentials again, and pings. over ends the connection with a close code, 0 for none.
func (c *connection) woken() (code int, over bool) {
	select {
	case <-c.stop:
		return websocket.CloseGoingAway, true
	default:
	}
	if c.gone.Load() {
		return 0, true
	}
	ping, recheck := c.pingDue.Swap(false), c.recheckDue.Swap(false)
	if ping || recheck {
		if code := c.refused(); code != 0 {
			return code, true
		}
	}
	return 0, ping && c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.pace.write)) != nil
}

// pump sends messages and pings until the source, the viewer or the server ends.
// It returns the close code to say, 0 for none.
func pump[M any](c *connection, sub Subscription[M], frame func(M) (*Frame, error)) (code int, err error) {
	if code := c.refused(); code != 0 { // what ended while the connection was made
		return code, nil
	}
	for {
		if c.signalled.Load() && c.signalled.Swap(false) {
			if code, over := c.woken(); over {
				return code, nil
			}
		}
		m, ok, open := sub.Next()
		switch {
		case ok:
			prepared, err := frame(m)
			if err != nil {
				return websocket.CloseInternalServerErr, fmt.Errorf("encode message: %w", err)
			}
			if prepared != nil && !c.send(func() error { return c.ws.WriteMessage(websocket.TextMessage, prepared.text) }) {
				return 0, nil
			}
		case !open:
			return c.ended(sub.Behind(), sub.Stopped()), nil
		default:
			<-c.wake
		}
	}
}
