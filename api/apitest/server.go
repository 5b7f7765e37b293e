package apitest

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"sensegate/api/server"
)

// NewServer returns a server on a free port of the loopback interface, whose limits no
// test reaches. Trouble of its own, which it logs, fails the test.
func NewServer(t testing.TB) *server.Server {
	config := server.Defaults()
	config.Listen, config.Rate, config.Burst = "127.0.0.1:0", 1e6, 1e6
	return server.New(config, slog.New(slog.NewTextHandler(TroubleLog{t}, &slog.HandlerOptions{Level: slog.LevelError})))
}

// TroubleLog fails a test in which the server has trouble of its own, and shows it.
type TroubleLog struct{ testing.TB }

func (t TroubleLog) Write(line []byte) (int, error) {
	t.Errorf("the server logs: %s", line)
	return len(line), nil
}

// Start runs a server, with everything mounted, until the test ends, and calls it from
// now on.
func (c *Client) Start(server *server.Server) {
	c.T.Helper()
	if err := server.Listen(); err != nil {
		c.T.Fatal(err)
	}
	c.Address = server.Addr().String()
	Background(c.T, server.Run)
	c.T.Cleanup(http.DefaultClient.CloseIdleConnections)
}

// Background runs a part of an appliance until the test ends, or stop is called, which
// waits for it.
func Background(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}
