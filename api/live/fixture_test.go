package live_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/api/sampletest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { http.DefaultClient.CloseIdleConnections() }))
}

// newSet returns a set with the limits and the pace of the product.
func newSet() *live.Set { return live.NewSet(64, 16, api.Refuse, slog.New(slog.DiscardHandler)) }

// handler serves an interface, of which nothing but the connections is limited.
func handler(set *live.Set, i api.Interface) http.Handler {
	return (&api.Environment{Limits: sampletest.NoLimits{}, Live: set}).Handler(i)
}

// serve serves an interface until the test ends, and its connections as well.
func serve(t *testing.T, set *live.Set, i api.Interface) (addr string) {
	t.Helper()
	server := httptest.NewServer(handler(set, i))
	t.Cleanup(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := set.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return server.Listener.Addr().String()
}
