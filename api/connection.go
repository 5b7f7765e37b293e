package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// pace holds the times of live connections.
type pace struct {
	ping  time.Duration // between pings
	pong  time.Duration // without a sign of life until the connection is given up
	write time.Duration // for one message
	bye   time.Duration // for the other end to answer a close
}

// livePace is the product's pace. A write and a goodbye together take less than
// stopTime, so that no viewer can hold up a stop.
func livePace() pace {
	return pace{ping: 30 * time.Second, pong: 75 * time.Second, write: 3 * time.Second, bye: 500 * time.Millisecond}
}

const (
	readLimit   = 512   // bytes: viewers have nothing to say
	sendBuffer  = 32768 // bytes the kernel may hold for a viewer that does not read
	readBuffer  = 128   // bytes: pongs and a close fit
	writeBuffer = 1024
)

// connection is one websocket. read and write run in a goroutine each; write is
// the only one that sends messages. It waits for messages and for wake alone, as
// each further channel would cost every message.
type connection struct {
	ws   *websocket.Conn
	pace pace
	stop <-chan struct{} // the server stops
	gone chan struct{}   // closed by read when the other end is gone
	wake chan struct{}   // holds one when write is to attend to what follows, stop or gone

	pingDue, recheckDue atomic.Bool

	recheck func(context.Context) error // whether the viewer may still see this

	mu      sync.Mutex
	leaving bool // a close frame is out
}

func newConnection(ws *websocket.Conn, set *liveSet, recheck func(context.Context) error) *connection {
	if v := visitorOf(ws.NetConn()); v != nil {
		_ = v.SetWriteBuffer(sendBuffer) // the default works too, with more memory
	}
	return &connection{
		ws: ws, pace: set.pace, stop: set.stop, recheck: recheck,
		gone: make(chan struct{}), wake: make(chan struct{}, 1),
	}
}

// rouse has write look at what else there is to do.
func (c *connection) rouse() {
	select {
	case c.wake <- struct{}{}:
	default: // it will look
	}
}

// read drops what the viewer says, watches for pongs and for the end, and closes
// the connection.
func (c *connection) read() {
	defer c.rouse()
	defer close(c.gone)
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

// wait gives the other end until d from now for a sign of life, and no more after
// leaving.
func (c *connection) wait(d time.Duration, leaving bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return
	}
	c.leaving = leaving
	_ = c.ws.NetConn().SetReadDeadline(time.Now().Add(d)) // fails on a closed one, which needs none
}

// write sends the stream until it ends, says why, and leaves the closing to read,
// which gives the other end a moment to answer.
func (c *connection) write(s *Stream) (err error) {
	code := websocket.CloseInternalServerErr
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
		c.sayBye(code)
	}()
	if code, err = s.pump(c); code == websocket.CloseNormalClosure && s.ended != code {
		code = cmp.Or(c.refused(), s.ended) // credentials that went along are told first
	}
	return err
}

// sayBye sends a close frame with code; 0 when nobody listens any more.
func (c *connection) sayBye(code int) {
	if code != 0 {
		message := websocket.FormatCloseMessage(code, closeReason(code))
		if c.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(c.pace.bye)) == nil {
			c.wait(c.pace.bye, true)
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
	case closedAs + http.StatusUnauthorized:
		return "the credentials are no longer valid"
	case closedAs + http.StatusForbidden, closedAs + http.StatusNotFound:
		return "no longer open to these credentials"
	}
	return ""
}

// closedAs and an HTTP status make the close code of a viewer who would now get
// that answer.
const closedAs = 4000

// refused returns the close code of a viewer who may no longer watch, 0 while they
// may. Trouble of our own ends nothing.
func (c *connection) refused() int {
	ctx, cancel := context.WithTimeout(context.Background(), c.pace.write)
	defer cancel()
	err := c.recheck(ctx)
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.Forbidden, fault.NotFound:
		p, _ := problemOf(err)
		return closedAs + int(p.Status)
	}
	return 0
}

// send writes a message and reports whether the viewer is still there.
func (c *connection) send(write func() error) bool {
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.pace.write)) // always nil in gorilla
	return write() == nil
}

// ended returns the close code for a subscription whose channel was closed.
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

// attend does what write was roused for: it sees the end of the server or of the
// viewer, shows the credentials again, and pings. over ends the connection with a
// close code, 0 for none.
func (c *connection) attend(pings *time.Timer) (code int, over bool) {
	select {
	case <-c.stop:
		return websocket.CloseGoingAway, true
	case <-c.gone:
		return 0, true
	default:
	}
	ping, recheck := c.pingDue.Swap(false), c.recheckDue.Swap(false)
	if ping || recheck {
		if code := c.refused(); code != 0 {
			return code, true
		}
	}
	if !ping {
		return 0, false
	}
	pings.Reset(c.pace.ping)
	return 0, c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.pace.write)) != nil
}

// pump sends messages and pings until the source, the viewer or the server ends.
// It returns the close code to say, 0 for none.
func pump[M any](c *connection, sub Subscription[M], frame func(M) (*websocket.PreparedMessage, error)) (code int, err error) {
	pings := time.AfterFunc(c.pace.ping, func() {
		c.pingDue.Store(true)
		c.rouse()
	})
	defer pings.Stop()
	if code := c.refused(); code != 0 { // what ended while the connection was made
		return code, nil
	}
	for {
		select {
		case m, open := <-sub.C():
			if !open {
				return c.ended(sub.Behind(), sub.Stopped()), nil
			}
			prepared, err := frame(m)
			if err != nil {
				return websocket.CloseInternalServerErr, fmt.Errorf("encode message: %w", err)
			}
			if prepared != nil && !c.send(func() error { return c.ws.WritePreparedMessage(prepared) }) {
				return 0, nil
			}
		case <-c.wake:
			if code, over := c.attend(pings); over {
				return code, nil
			}
		}
	}
}
