package mdns

import (
	"context"
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestResponderWithoutALinkSaysWhyAndEnds(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Responder{
		"off":          Off("it is off"),
		"no such link": New(Options{Host: "boxa", Port: 8080, Interfaces: []string{"nosuch0"}}, slog.New(slog.DiscardHandler)),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-r.Settled()
		if s := r.State(); len(s.Names) != 0 || s.Why == "" || r.Holds("sensegate.local") {
			t.Errorf("%s: %+v", name, s)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
