// Package live serves websockets: it upgrades a request, sends what a subscription yields
// until the subscription, the viewer or the server ends, and counts the connections.
//
// The package knows websockets, and which kinds of [fault.Error] end a connection. It must
// not know operations, problems, or what a message says.
//
// Each connection has a goroutine that reads and one that writes; [Set.Shutdown] waits for
// both.
package live

import (
	"fmt"
	"net/http"

	"github.com/gorilla/websocket"
)

// Frame is a message that is encoded once for any number of connections. Each puts a header of some bytes before it: to
// prepare that too, as a websocket.PreparedMessage does, takes a connection and its buffer for each message.
type Frame struct{ text []byte }

// Prepared is a frame, or why there is none: one value, so that it can be kept for the next
// connection.
type Prepared struct {
	Frame *Frame
	Err   error
}

// Prepare makes a text frame of JSON.
func Prepare(json []byte) Prepared {
	return Prepared{Frame: &Frame{json}}
}

// NetworkKey is the key of streams about a network: those of both interfaces count together.
func NetworkKey[ID ~uint32](id ID) string { return fmt.Sprintf("network/%d", id) }

// Subscription is where a connection takes its messages from, such as one of motion/feed. It
// ends when the reader falls behind, or when there is nothing more to say.
type Subscription[M any] interface {
	Next() (m M, ok, open bool) // the next message; without one, open says whether there can be more
	Ready() chan struct{}       // holds one when Next may have more to say; the connection puts one in as well
	Behind() bool               // why it has ended: the reader fell behind
	Stopped() bool              // or the source stops, with what it tells of still there
	Close()
}

// Stream is a connection that is ready to start: everything that can fail has been checked
// and the subscription stands, so that nothing is missed between the answer and the first
// message. Make it with [NewStream]; [Set.Start] closes the subscription, also when the
// upgrade fails.
//
// The close code says why it ended: 1000 the subscription ended and everything was sent, or
// 4404 what it is about is gone ([Stream.UntilGone]), 1001 the appliance or the source stops,
// 1011 our own trouble, 1013 the reader fell behind. The credentials are checked again with
// each ping (every 30 s) and after [Set.Recheck]: one that would now be answered with 401, 403
// or 404 ends with 4401, 4403 or 4404.
type Stream struct {
	key   string
	pump  func(*connection) (code int, err error)
	wake  chan struct{}
	close func()
	ended int // close code when the subscription has ended
}

// NewStream makes a stream from a subscription. key is what connections are
// counted by, such as that of NetworkKey. frame turns a message into what is sent: a
// frame that is prepared once for all viewers, or nil to send nothing for it. One
// goroutine calls frame; an error ends the connection with 1011 and is logged.
//
// first is sent before any message, one text frame of JSON each, such as a
// snapshot. Subscribe first, then read it, so that no change is lost between the
// two; frame returns nil for a message whose change the snapshot holds already.
// For what has ended by then, close the subscription: first is sent, then 1000.
func NewStream[M any](key string, sub Subscription[M], frame func(M) (*Frame, error), first ...[]byte) *Stream {
	return &Stream{
		key:   key,
		wake:  sub.Ready(),
		close: sub.Close,
		ended: websocket.CloseNormalClosure,
		pump: func(c *connection) (int, error) {
			for _, json := range first {
				if !c.send(func() error { return c.ws.WriteMessage(websocket.TextMessage, json) }) {
					return 0, nil
				}
			}
			return pump(c, sub, frame)
		},
	}
}

// UntilGone says that the subscription ends, unless its source stops, only with what it is
// about, such as a network: who asked again would be answered 404, or 401 when the
// credentials ended along with it, which is then told. It returns s.
func (s *Stream) UntilGone() *Stream {
	s.ended = closeNotFound
	return s
}

// Requested reports whether the headers of a request ask for a websocket.
func Requested(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }
