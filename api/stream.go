package api

import (
	"bufio"
	"errors"
	"net/http"
	"time"
)

const (
	streamTime  = 10 * time.Minute // for a whole stream
	streamBlock = 64 << 10         // bytes that are sent at a time
)

// stream writes an answer in blocks, each of which the client has to take within RequestTime.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	ends    time.Time
	err     error // why the client gets no more
}

func (s *stream) Write(b []byte) (int, error) {
	now := time.Now()
	if now.After(s.ends) {
		s.err = errors.New("the client is too slow")
		return 0, s.err
	}
	_ = s.control.SetWriteDeadline(now.Add(RequestTime)) // without one, as in a test, it takes as long as it takes
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// send writes the file. When it cannot be written to its end the connection is broken off.
func (z written) send(w http.ResponseWriter, r *http.Request) {
	out := &stream{w: w, control: http.NewResponseController(w), ends: time.Now().Add(streamTime)}
	blocks := bufio.NewWriterSize(out, streamBlock)
	err := errors.Join(z(r.Context(), blocks), blocks.Flush())
	if err == nil {
		return
	}
	if noted, ok := w.(interface{ Failed(error) }); ok && out.err == nil && r.Context().Err() == nil {
		noted.Failed(err)
	}
	panic(http.ErrAbortHandler)
}
