package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// exchange is one request and its answer as the middleware sees them. It is the
// response writer of the request, and travels in its context. One goroutine
// uses it.
type exchange struct {
	http.ResponseWriter
	id        string
	route     string // template with its base; "" = no row matched
	params    []param
	query     string // as it was sent
	principal any    // who calls, once authenticated
	decoded   func() // gives back what the body holds
	status    int    // 0 = nothing written yet
	bytes     int64
	cause     error // our own trouble: logged, never shown
	quiet     bool  // probes are logged for debugging only
	broken    bool  // the answer broke off after it had begun

	recheck func(context.Context) error // of a live row: authenticates again
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request's context; outside the server
// (a handler called by a test) a fresh one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// RequestID returns the id of the request that ctx belongs to, as it stands in
// the log and in the X-Request-Id header; "" outside a request.
func RequestID(ctx context.Context) string { return exchangeOf(ctx).id }

func newExchange(w http.ResponseWriter) *exchange {
	return &exchange{ResponseWriter: w, id: rand.Text()[:16]}
}

// WriteHeader notes the status; a second one is dropped.
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 {
		return
	}
	if status >= 200 || status == http.StatusSwitchingProtocols {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts what is sent.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Hijack hands the connection to a websocket.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h, ok := x.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, errors.New("connection cannot be taken over")
	}
	conn, rw, err := h.Hijack()
	if err == nil {
		x.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// leaveTime is how long a client may go on sending a body that nobody reads, before it
// gets to know by a reset of the connection, with which it would lose the answer.
const leaveTime = 500 * time.Millisecond

// leave answers a request whose body is left unread, as its header Connection says, and
// ends the connection. It reports false when there is no such header. net/http would do
// the same, but keep all that it has for a connection meanwhile, which is what a flood
// of large bodies is after.
func (x *exchange) leave(status int, body []byte) bool {
	if x.Header().Get("Connection") != "close" {
		return false
	}
	conn, _, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err != nil {
		return false
	}
	x.status, x.bytes = status, int64(len(body))
	answer := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: x.Header(), Close: true,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	_ = conn.SetWriteDeadline(time.Now().Add(leaveTime)) // fails on a closed one, as the writing does
	_ = answer.Write(conn)                               // the client may be gone
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	time.AfterFunc(leaveTime, func() { _ = conn.Close() })
	return true
}

// Unwrap serves http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }
