package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// noPage is the content security policy of everything that is no page.
const noPage = "default-src 'none'; frame-ancestors 'none'"

// ServeHTTP is the outermost layer of every request: its id, the panic barrier,
// the access log and the counters, the checks of Host and Origin, and the body limit.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := newExchange(w)
	h := w.Header()
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", noPage)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// A copy: net/http has to know its own body again to see that it is not worth reading
	// to its end.
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	if r.Body == nil || r.Body == http.NoBody {
		visitorIn(r.Context()).busy()
	} else {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody+1) // the handlers say 413
	}
	defer func() {
		v := recover()
		if v != nil {
			s.recovered(x, v)
		}
		s.finished(x, r, time.Since(start))
		if v != nil && x.broken {
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}
	}()
	s.dispatch(x, r)
}

// dispatch hands the request to what is mounted at its path.
func (s *Server) dispatch(x *exchange, r *http.Request) {
	m, ok := s.find(r.URL.EscapedPath())
	if ok && !m.routed {
		x.route = m.path
	}
	x.quiet = m.quiet
	switch {
	case !m.anyHost && !s.hosts.allows(r.Host):
		wrongHost(r.Host).write(x)
	case !m.anyHost && s.origins.share(x, r):
	case !m.anyHost && !s.origins.admits(r):
		leaveUnread(x, r)
		foreignPage().write(x)
	case !ok:
		fail(x, r, errNoRow)
	default:
		s.hand(m, x, r)
	}
}

// hand gives the request to a handler. Interfaces count their callers themselves, as
// does whoever serves every host; probes are not counted, as a supervisor makes them.
func (s *Server) hand(m mount, x *exchange, r *http.Request) {
	if !m.routed && !m.anyHost && !m.quiet {
		if slow := s.env.limiter.allowAnyone(r); slow != nil {
			leaveUnread(x, r)
			fail(x, r, slow)
			return
		}
	}
	m.handler.ServeHTTP(x, r)
}

// recovered notes a panic and answers it, unless the answer has begun.
func (s *Server) recovered(x *exchange, v any) {
	s.meter.panics.Inc()
	x.cause = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if x.status != 0 {
		x.broken = true
		return
	}
	p, _ := problemOf(x.cause)
	x.Header().Del("Content-Encoding")
	p.write(x)
}

// finished counts and logs a request: never its query, its body or a token, and
// its path only as the row's template. Those that have to wait have a line a second,
// after sixty.
func (s *Server) finished(x *exchange, r *http.Request, took time.Duration) {
	if x.status == 0 { // nothing written: net/http says 200
		x.status = http.StatusOK
	}
	s.meter.count(x.route, r.Method, x.status, took)
	if x.status == http.StatusTooManyRequests && !s.slowed.Allow() {
		return
	}
	level := slog.LevelInfo
	if x.quiet {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", x.route), slog.Int("status", x.status),
		slog.Duration("took", took), slog.Int64("bytes", x.bytes), slog.String("request", x.id),
	}
	if x.cause != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("err", x.cause))
	}
	s.log.LogAttrs(r.Context(), level, "request", attrs...)
}
