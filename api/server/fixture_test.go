package server

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"sensegate/api"
	"sensegate/api/sampletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testServer serves the sample interface with a live operation.
func testServer(t testing.TB, stream api.Operation) (*Server, *sampletest.LogBuffer) {
	t.Helper()
	log := &sampletest.LogBuffer{}
	c := Defaults()
	c.Listen = "127.0.0.1:0"
	c.Hosts = []string{"home.example"}
	s := New(c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s.Mount(sampletest.Interface(stream))
	return s, log
}
