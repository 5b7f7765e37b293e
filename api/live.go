package api

import (
	"errors"
	"net/http"

	"github.com/gorilla/websocket"
)

// Subscription is where a live connection takes its messages from. The channel
// is bounded; the other side closes it when the reader falls behind, or when
// there is nothing more to say.
type Subscription[M any] interface {
	C() <-chan M
	Behind() bool  // why the channel was closed: the reader fell behind
	Stopped() bool // or the source stops, with what it tells of still there
	Close()
}

// Stream is a live connection that is ready to start: everything that can fail
// has been checked and the subscription stands, so that nothing is missed
// between the answer and the first message. Make it with [NewStream]; the server
// closes the subscription, also when the upgrade fails.
//
// The close code says why it ended: 1000 the subscription ended and everything
// was sent, or 4404 what it is about is gone ([Stream.UntilGone]), 1001 the appliance
// or the source stops, 1011 our own trouble, 1013 the reader fell behind. The credentials are checked again with each ping (every 30 s) and after
// [Server.Recheck]: one that would now be answered with 401, 403 or 404 ends with
// 4401, 4403 or 4404.
type Stream struct {
	key   string
	pump  func(*connection) (code int, err error)
	close func()
	ended int // close code when the subscription has ended
}

// UntilGone says that the subscription ends, unless its source stops, only with what it is
// about, such as a network: who asked again would be answered 404, or 401 when the
// credentials ended along with it, which is then told. It returns s.
func (s *Stream) UntilGone() *Stream {
	s.ended = closedAs + http.StatusNotFound
	return s
}

// NewStream makes a stream from a subscription. key is what connections are
// counted by, such as "network/1042". frame turns a message into what is sent: a
// prepared message, so that it is encoded once for all viewers, or nil to send
// nothing for it. frame is called by one goroutine; an error ends the connection
// with 1011 and is logged.
//
// first is sent before any message, one text frame of JSON each, such as a
// snapshot. Subscribe first, then read it, so that no change is lost between the
// two; frame returns nil for a message whose change the snapshot holds already.
// For what has ended by then, close the subscription: first is sent, then 1000.
func NewStream[M any](key string, sub Subscription[M], frame func(M) (*websocket.PreparedMessage, error), first ...[]byte) *Stream {
	return &Stream{
		key:   key,
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

// TextFrame prepares JSON for any number of connections.
func TextFrame(json []byte) (*websocket.PreparedMessage, error) {
	return websocket.NewPreparedMessage(websocket.TextMessage, json)
}

// upgradeable refuses what cannot become a websocket.
func upgradeable(r *http.Request) error {
	if !websocket.IsWebSocketUpgrade(r) {
		p := newProblem(http.StatusUpgradeRequired, "upgrade_required", "this address is a websocket")
		p.header.Set("Upgrade", "websocket")
		p.header.Set("Connection", "Upgrade")
		return p
	}
	return nil
}

// start upgrades a request and hands the connection to its two goroutines, so
// that the request's own goroutine and buffers are freed.
func (l *liveSet) start(w http.ResponseWriter, r *http.Request, s *Stream) {
	x := exchangeOf(r.Context())
	caller := ""
	if named, ok := x.principal.(Named); ok {
		caller = named.Caller()
	}
	leave, err := l.join(s.key, caller)
	if err != nil {
		s.close()
		fail(w, r, err)
		return
	}
	ws, err := l.upgrader.Upgrade(w, r, nil)
	if err != nil { // answered by the upgrader
		s.close()
		leave()
		return
	}
	c, route := newConnection(ws, l, x.recheck), x.route // and nothing else of the request is kept
	l.add(c)
	go c.read()
	go func() {
		defer leave()
		defer l.remove(c)
		err := c.write(s)
		s.close()
		if err != nil {
			l.log.Error("live connection failed", "route", route, "err", err)
		}
		<-c.gone
	}()
}

// upgradeFailed answers a handshake that gorilla refuses.
func upgradeFailed(w http.ResponseWriter, r *http.Request, status int, reason error) {
	var taken websocket.HandshakeError
	if status >= http.StatusInternalServerError || !errors.As(reason, &taken) {
		fail(w, r, reason)
		return
	}
	newProblem(status, "handshake", reason.Error()).write(w)
}
