package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"sensegate/api"
	"sensegate/motion/fault"
)

// noPage is the content security policy of everything that is no page.
const noPage = "default-src 'none'; frame-ancestors 'none'"

// ServeHTTP is the outermost layer of every request: its id, the recovery from panics,
// the access log and the counters, the checks of Host and Origin, and the body limit.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := newRecorder(w)
	h := w.Header()
	h.Set("X-Request-Id", rec.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", noPage)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// A copy: net/http has to know its own body again to see that it is not worth reading
	// to its end.
	if r.Body == nil || r.Body == http.NoBody {
		r = r.WithContext(r.Context())
		connectionIn(r.Context()).busy()
	} else {
		r = r.WithContext(api.WithWholeBody(r.Context(), r.Body))
		r.Body = http.MaxBytesReader(w, r.Body, api.MaxBody+1) // the handlers say 413
	}
	m, ok := s.find(r.URL.EscapedPath())
	r.Pattern = ""
	if ok && !m.routed {
		r.Pattern = m.path
	}
	defer func() {
		v := recover()
		if v != nil {
			s.recovered(rec, v)
		}
		s.finished(rec, r, m.quiet, time.Since(start))
		if v != nil && rec.broken {
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}
	}()
	switch {
	case !m.anyHost && !s.hosts.allows(r.Host):
		api.Refuse(rec, wrongHost(r.Host))
	case !m.anyHost && s.origins.share(rec, r):
	case !m.anyHost && !s.origins.admits(r):
		api.RefuseUnread(rec, r, errOrigin)
	case !ok:
		api.Refuse(rec, errNoHandler)
	default:
		s.dispatch(m, rec, r)
	}
}

// errNoHandler is the answer for a path where nothing is mounted.
var errNoHandler = fault.New(fault.NotFound, "no such address")

// dispatch counts the request and hands it to a handler. Interfaces count their own callers,
// and so do handlers that serve every host; probes are not counted, because a supervisor
// makes them.
func (s *Server) dispatch(m mount, rec *recorder, r *http.Request) {
	if !m.routed && !m.anyHost && !m.quiet {
		if slow := s.limits.Allow(api.NewRequest(r), false); slow != nil {
			api.RefuseUnread(rec, r, slow)
			return
		}
	}
	m.handler.ServeHTTP(rec, r)
}

// recovered notes a panic and answers it, unless the answer has begun.
func (s *Server) recovered(rec *recorder, v any) {
	if v == http.ErrAbortHandler { // a handler breaks off what it has begun
		rec.broken = true
		return
	}
	s.meter.panics.Inc()
	cause := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if rec.status != 0 {
		rec.cause, rec.broken = cause, true
		return
	}
	rec.Header().Del("Content-Encoding")
	api.Refuse(rec, cause)
}

// finished counts and logs a request: never its query, its body or a token, and
// its path only as the row's template. Refusals of callers who have to wait (429) get a line
// a second, after sixty.
func (s *Server) finished(rec *recorder, r *http.Request, quiet bool, took time.Duration) {
	if rec.status == 0 { // nothing written: net/http says 200
		rec.status = http.StatusOK
	}
	s.meter.count(r.Pattern, r.Method, rec.status, took)
	if rec.status == http.StatusTooManyRequests && !s.slowed.Allow() {
		return
	}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", r.Pattern), slog.Int("status", rec.status),
		slog.Duration("took", took), slog.Int64("bytes", rec.bytes), slog.String("request", rec.id),
	}
	if rec.cause != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("err", rec.cause))
	}
	s.log.LogAttrs(r.Context(), level, "request", attrs...)
}
