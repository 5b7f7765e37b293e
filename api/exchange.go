package api

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
)

// exchange is one request and its answer as the middleware sees them. It is the
// response writer of the request, and travels in its context. One goroutine
// uses it.
type exchange struct {
	http.ResponseWriter
	id        string
	route     string // template with its base; "" = no row matched
	params    []param
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

// Unwrap serves http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }
