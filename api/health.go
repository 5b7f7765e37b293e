package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/motion/fault"
)

// Health serves /healthz and /readyz to anyone: a status, and of what passes by
// itself, such as a full disk, what it is. ready returns nil when the appliance can
// do its work; it is called concurrently.
func (s *Server) Health(ready func() error) {
	ok := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, "{\"status\":\"ok\"}\n") // the client may be gone
	}
	s.add(mount{path: "/healthz", quiet: true, handler: readOnly(func(w http.ResponseWriter, _ *http.Request) { ok(w) })})
	s.add(mount{path: "/readyz", quiet: true, handler: readOnly(func(w http.ResponseWriter, r *http.Request) {
		if err := ready(); err != nil {
			fail(w, r, notReady(err))
			return
		}
		ok(w)
	})})
}

// notReady returns what may be told of err.
func notReady(err error) error {
	var known *fault.Error
	if errors.As(err, &known) && known.Kind == fault.Unavailable {
		return known
	}
	return fault.New(fault.Unavailable, "not ready")
}

// WriteMetrics writes what this server counts, in the Prometheus text format.
func (s *Server) WriteMetrics(w io.Writer) { s.metrics.WritePrometheus(w) }

// Metrics serves /metrics in the Prometheus text format: the process, this
// server, and what each of more writes. Programs on the appliance itself may read
// it; any other caller has to pass guard.
func (s *Server) Metrics(guard func(context.Context, *Request) error, more ...func(io.Writer)) {
	s.add(mount{path: "/metrics", quiet: true, handler: readOnly(func(w http.ResponseWriter, r *http.Request) {
		req := &Request{http: r, route: "/metrics"}
		if !onAppliance(r) {
			err := guard(r.Context(), req)
			if slow := s.env.limiter.allow(req, err == nil); slow != nil {
				err = slow
			}
			if err != nil {
				fail(w, r, err)
				return
			}
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		metrics.WriteProcessMetrics(w)
		s.WriteMetrics(w)
		for _, write := range more {
			write(w)
		}
	})})
}

// onAppliance reports whether a request was made on the appliance. One that a
// proxy passed on was not.
func onAppliance(r *http.Request) bool {
	for _, passed := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(passed) != "" {
			return false
		}
	}
	return remoteAddr(r).IsLoopback()
}

// readOnly answers 405 to anything but GET and HEAD.
func readOnly(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			p := newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "this address takes GET, HEAD")
			p.header.Set("Allow", "GET, HEAD")
			p.write(w)
			return
		}
		h(w, r)
	})
}
