package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/api"
	"sensegate/motion/fault"
)

// Health serves /healthz and /readyz to anyone: a status, and the cause of a failure that
// passes by itself, such as a full disk. ready returns nil when the appliance can do its
// work; it is called concurrently.
func (s *Server) Health(ready func() error) {
	ok := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, "{\"status\":\"ok\"}\n") // the client may be gone
	}
	s.add(mount{path: "/healthz", quiet: true, handler: api.ReadOnly(func(w http.ResponseWriter, _ *http.Request) { ok(w) })})
	s.add(mount{path: "/readyz", quiet: true, handler: api.ReadOnly(func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			api.Refuse(w, notReady(err))
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
func (s *Server) Metrics(guard func(context.Context, *api.Request) error, more ...func(io.Writer)) {
	s.add(mount{path: "/metrics", quiet: true, handler: api.ReadOnly(func(w http.ResponseWriter, r *http.Request) {
		if req := api.NewRequest(r); !req.Local() {
			err := guard(r.Context(), req)
			if slow := s.limits.Allow(req, err == nil); slow != nil {
				err = slow
			}
			if err != nil {
				api.Refuse(w, err)
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
