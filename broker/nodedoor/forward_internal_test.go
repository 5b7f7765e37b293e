package nodedoor

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// forwarding starts a door that sends datagrams of RuView nodes on, and returns its intake.
func forwarding(t *testing.T, to string, log *slog.Logger) *udp {
	t.Helper()
	c := Defaults()
	c.RuView = RuViewConfig{Listen: "127.0.0.1:0", Forward: to}
	door := New(c, Options{
		Log: log, Connected: func() ([]netip.Prefix, error) { return nil, nil },
	})
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	u := door.intakes[0].(*udp)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- u.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return u
}

// TestNameThatIsNotKnownYetEndsNothing: the box starts before the house has a name server.
func TestNameThatIsNotKnownYetEndsNothing(t *testing.T) {
	t.Parallel()
	said := make(chan string, 10)
	log := slog.New(slog.NewTextHandler(writer(func(line string) { said <- line }), nil))
	u := forwarding(t, "nowhere.invalid:5005", log)
	if line := <-said; !strings.Contains(line, "cannot be sent on yet") || u.on.Load() != nil {
		t.Errorf("it says %s", line)
	}
}

// TestNameIsFound and datagrams go there.
func TestNameIsFound(t *testing.T) {
	t.Parallel()
	end, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	u := forwarding(t, end.LocalAddr().String(), slog.New(slog.DiscardHandler))
	for u.on.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := u.on.Load().Write([]byte("frame")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if n, _, err := end.ReadFrom(got); err != nil || string(got[:n]) != "frame" {
		t.Errorf("%q %v", got[:n], err)
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }
