package api_test

import (
	"flag"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"sensegate/api"
	"sensegate/api/sampletest"
	"sensegate/api/server"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testServer serves the sample interface with a live operation.
func testServer(t testing.TB, stream api.Operation) (*server.Server, *sampletest.LogBuffer) {
	t.Helper()
	log := &sampletest.LogBuffer{}
	s := server.New(server.Defaults(), slog.New(slog.NewTextHandler(log, nil)))
	s.Mount(sampletest.Interface(stream))
	return s, log
}
