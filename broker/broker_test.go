package broker

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// message is what a test sink was given.
type message struct {
	id      Identity
	topic   string
	payload string
	qos     byte
}

// testSink lets in the devices and users of people, whose password is "secret",
// and passes on everything it is told.
type testSink struct {
	people       map[string]Identity     // by user name for users, by client id for devices
	checked      func(Credentials) error // after the credentials were found right
	ingest       func(ctx context.Context, m message) error
	connected    chan Identity
	disconnected chan string
	ingested     chan message
	refused      chan Refusal
}

var (
	guardian = motion.DeviceKey{Kind: motion.Guardian, ID: "a41f00c2"}
	radar    = motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-a-02aa00000110"}
)

const (
	guardianRoot = "iot-2/type/guardian/id/a41f00c2/"
	radarRoot    = "iot-2/type/radar/id/csi-a-02aa00000110/"
)

func newSink() *testSink {
	return &testSink{
		people: map[string]Identity{
			guardian.ID:     {Device: guardian},
			radar.ID:        {Device: radar},
			"homeassistant": {User: "homeassistant", Prefix: "homeassistant"},
			"lights":        {User: "lights", Prefix: "homeassistant/lights"},
		},
		connected:    make(chan Identity, 1000),
		disconnected: make(chan string, 1000),
		ingested:     make(chan message, 1000),
		refused:      make(chan Refusal, 1000),
	}
}

func (s *testSink) Login(_ context.Context, c Credentials) (Identity, error) {
	switch {
	case c.Username == "unready":
		return Identity{}, fault.New(fault.Unavailable, "the store is not open")
	case c.Password != "secret":
		return Identity{}, fault.New(fault.Unauthorized, "wrong token")
	case c.Username == "device" && c.ClientID == "borrowed":
		return Identity{Device: guardian}, nil
	case c.Username == "device":
		return s.people[c.ClientID], nil
	}
	if s.checked != nil {
		if err := s.checked(c); err != nil {
			return Identity{}, err
		}
	}
	return s.people[c.Username], nil
}

func (s *testSink) Connected(id Identity, _ Session)       { s.connected <- id }
func (s *testSink) Disconnected(_ Identity, reason string) { s.disconnected <- reason }
func (s *testSink) Refused(r Refusal)                      { s.refused <- r }
func (s *testSink) Ingest(ctx context.Context, id Identity, topic string, payload []byte, qos byte) error {
	m := message{id, topic, string(payload), qos}
	if s.ingest != nil {
		if err := s.ingest(ctx, m); err != nil {
			return err
		}
	}
	s.ingested <- m
	return nil
}

// logBuffer is a log that tests read.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// running is a broker under test.
type running struct {
	*Server
	sink *testSink
	log  *logBuffer
	stop func() error
	addr string
}

// Online reports whether a device has an authenticated connection.
func (r *running) Online(d motion.DeviceKey) bool {
	_, ok := r.sessions.get(Identity{Device: d}.String())
	return ok
}

func start(t testing.TB, sink *testSink, change func(*Config)) *running {
	t.Helper()
	r := startWith(t, sink, change)
	r.sink = sink
	return r
}

func startWith(t testing.TB, sink Sink, change func(*Config)) *running {
	t.Helper()
	cfg := Defaults()
	cfg.Listen = "127.0.0.1:0"
	if change != nil {
		change(&cfg)
	}
	logged := &logBuffer{}
	s, err := New(cfg, sink, slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	if err := s.Listen(); err != nil {
		t.Fatalf("listen: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return &running{Server: s, log: logged, stop: stop, addr: s.Addr().String()}
}

func login(version byte, d motion.DeviceKey) guardtest.Connect {
	return guardtest.Connect{Version: version, ClientID: d.ID, Username: "device", Password: "secret", KeepAlive: 60}
}

// device connects a raw client as d.
func (r *running) device(t testing.TB, version byte, d motion.DeviceKey) *guardtest.Client {
	t.Helper()
	c := guardtest.Dial(t, r.addr)
	c.Login(login(version, d))
	return c
}

// user connects a raw client as an integration user.
func (r *running) user(t testing.TB, name, clientID string) *guardtest.Client {
	t.Helper()
	c := guardtest.Dial(t, r.addr)
	c.Login(guardtest.Connect{ClientID: clientID, Username: name, Password: "secret"})
	return c
}

// next waits for the next value of a sink's channel.
func next[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(guardtest.Patience):
		t.Fatalf("nothing came of %T", ch)
		panic("unreachable")
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
