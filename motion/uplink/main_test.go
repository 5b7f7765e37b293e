package uplink

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/motion/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests.
const patience = time.Minute

// quick is a backoff for tests.
var quick = hook.Backoff{First: time.Millisecond, Most: 10 * time.Millisecond}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// running runs a webhook until the test ends or stop is called.
func running(t *testing.T, p *webhook) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); p.run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("run does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

// next returns the next value of a channel.
func next[T any](t *testing.T, values <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-values:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return value
}

// eventually waits until something holds, which goroutines of others bring about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}
