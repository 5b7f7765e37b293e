package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// recorder is the response writer of a request, and notes what the log and the counters say
// of the answer. One goroutine uses it.
type recorder struct {
	http.ResponseWriter
	id     string // of the request
	status int    // 0 = nothing written yet
	bytes  int64
	cause  error // our own trouble: logged, never shown
	broken bool  // the answer broke off after it had begun
}

func newRecorder(w http.ResponseWriter) *recorder {
	return &recorder{ResponseWriter: w, id: rand.Text()[:16]}
}

// Failed notes our own trouble for the log.
func (rec *recorder) Failed(cause error) { rec.cause = cause }

// WriteHeader notes the status; a second one is dropped.
func (rec *recorder) WriteHeader(status int) {
	if rec.status != 0 {
		return
	}
	if status >= 200 || status == http.StatusSwitchingProtocols {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

// Write counts what is sent.
func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Hijack hands the connection to a websocket.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h, ok := rec.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, errors.New("connection cannot be taken over")
	}
	conn, rw, err := h.Hijack()
	if err == nil {
		rec.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// leaveTime is how long a client may keep sending a body that nobody reads. Then the
// connection is reset, and a client that has not read the answer loses it.
const leaveTime = 500 * time.Millisecond

// Leave answers a request whose body is left unread, as its header Connection says, and
// ends the connection. It reports false when there is no such header. net/http would do
// the same, but keep its buffers meanwhile, and a flood of large bodies would fill the
// memory.
func (rec *recorder) Leave(status int, body []byte) bool {
	if rec.Header().Get("Connection") != "close" {
		return false
	}
	conn, _, err := http.NewResponseController(rec.ResponseWriter).Hijack()
	if err != nil {
		return false
	}
	rec.status, rec.bytes = status, int64(len(body))
	answer := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: rec.Header(), Close: true,
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
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
