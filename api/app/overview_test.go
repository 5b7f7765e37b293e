package app_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/app"
	"sensegate/api/server"
)

func TestVersionIsTheOneThatClientsKnow(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.WantJSON(t, h.as(person{}, http.MethodGet, "/version", ""), `{"version":"v1-5-0","product":"app-cloud"}`)
}

func TestHealthSaysWhetherTheApplianceWorksAndNotWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble error
		status  int
		body    string
	}{
		"well":  {nil, http.StatusOK, `{"status":"ok"}`},
		"ill":   {errors.New("disk on fire"), http.StatusServiceUnavailable, "not ready"},
		"again": {nil, http.StatusOK, `{"status":"ok"}`},
	} {
		server := server.New(server.Defaults(), slog.New(slog.DiscardHandler))
		server.Mount(app.New(app.Parts{Ready: func() error { return c.trouble }}).Interface())
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/healthz/", nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || strings.Contains(w.Body.String(), "fire") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if retry := w.Header().Get("Retry-After"); (retry != "") != (c.trouble != nil) {
			t.Errorf("%s: Retry-After %q", name, retry)
		}
	}
}
