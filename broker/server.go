// Package broker is the appliance's MQTT side (device-protocol.md 2): listeners,
// authentication, the rights of each client, durable ingest before the acknowledgement, and
// commands to devices.
//
// It knows the MQTT library, which it runs behind package guard, and the topics
// of the device protocol. It must not know the database, the API, or what a
// message means: all that goes through a [Sink].
package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"sensegate/broker/guard"
)

// Server is the MQTT broker. All methods may be called concurrently, Run once.
type Server struct {
	cfg          Config
	sink         Sink
	log          *slog.Logger
	guard        *guard.Guard
	mqtt         *mqtt.Server
	policy       *hook
	local        *mqtt.Client // publishes for the appliance
	sessions     sessions
	retained     retainedRoom
	retainedLock retainedLock
	budgets      budgets
	counters     counters
	ctx          context.Context // of calls to the sink; ends when the stop gives up waiting
	cancel       context.CancelFunc

	listeners listeners // of the appliance, to integration users
	ears      ears

	mu    sync.Mutex
	bound []net.Listener // plain first, then TLS
}

type counters struct{ ingested, notStored, refused atomic.Uint64 }

// Counters are totals since the start, except Sessions and Open.
type Counters struct {
	guard.Counters
	Sessions  int    // authenticated connections now
	Ingested  uint64 // messages that the sink took
	NotStored uint64 // messages that the sink could not take
	Refused   uint64 // refusals reported to the sink
}

// New returns a Server that is not bound yet. Its errors are mistakes in cfg.
func New(cfg Config, sink Sink, log *slog.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g, err := guard.New(cfg.Guard, log)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, sink: sink, log: log, guard: g, mqtt: mqtt.New(options(cfg.Guard, log))}
	s.budgets.free = debug.FreeOSMemory
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.local = s.mqtt.NewClient(nil, mqtt.LocalListener, "appliance", true)
	s.policy = &hook{Hook: g.Hook(s.mqtt), Server: s}
	if err := s.mqtt.AddHook(s.policy, nil); err != nil {
		return nil, fmt.Errorf("add hook: %w", err)
	}
	return s, nil
}

// options are the library's settings: it keeps nothing on the disk, and little waits in
// its memory.
func options(limits guard.Config, log *slog.Logger) *mqtt.Options {
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumMessageExpiryInterval = 0 // otherwise retained messages vanish
	caps.MaximumSessionExpiryInterval = 0 // sessions end with their connection
	caps.MaximumClientWritesPending = 128
	caps.TopicAliasMaximum = limits.TopicAliasMaximum
	caps.MaximumQos = limits.MaxQoS
	caps.MinimumProtocolVersion = 4
	caps.SharedSubAvailable = 0
	caps.Compatibilities.NoInheritedPropertiesOnAck = true
	return &mqtt.Options{
		Capabilities:            caps,
		ClientNetReadBufferSize: 64,                    // the guard has the buffer
		SysTopicResendInterval:  100 * 365 * 24 * 3600, // never: see forgetOwnTopics
		Logger:                  slog.New(newQuiet(log.Handler())),
	}
}

// Listen binds the listeners, so that a port in use is an error at the start. Run calls it
// unless it was called before.
func (s *Server) Listen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bound != nil {
		return nil
	}
	plain, err := bind("listen", s.cfg.Listen)
	if err != nil {
		return err
	}
	bound := []net.Listener{plain}
	if s.cfg.withTLS() {
		inner, err := bind("tls_listen", s.cfg.TLSListen)
		if err != nil {
			return errors.Join(err, plain.Close())
		}
		bound = append(bound, s.cfg.TLS(inner))
	}
	s.bound = bound
	return nil
}

func bind(key, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("mqtt.%s: %s is in use, perhaps by another MQTT broker: stop that one or set another port: %w", key, addr, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("mqtt.%s: no permission to listen on %s: use a port over 1023: %w", key, addr, err)
	case err != nil:
		return nil, fmt.Errorf("mqtt.%s: %w", key, err)
	}
	return l, nil
}

// Addr returns the address of plain MQTT, nil before Listen.
func (s *Server) Addr() net.Addr { return s.addr(0) }

// TLSAddr returns the address of MQTT over TLS, nil before Listen or without it.
func (s *Server) TLSAddr() net.Addr { return s.addr(1) }

func (s *Server) addr(i int) net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.bound) {
		return nil
	}
	return s.bound[i].Addr()
}

// Run serves until ctx ends, then disconnects every client and waits, for a bounded time,
// until the sink has taken what they sent.
func (s *Server) Run(ctx context.Context) error {
	defer s.cancel()
	if err := s.Listen(); err != nil {
		return err
	}
	var guarded []*guard.Listener
	for i, id := range []string{ListenerTCP, ListenerTLS}[:len(s.bound)] {
		l := s.guard.Listener(id, s.bound[i], s.policy)
		s.log.Info("listening", "protocol", id, "addr", l.Address())
		guarded = append(guarded, l)
		if err := s.mqtt.AddListener(l); err != nil {
			return fmt.Errorf("add listener: %w", err)
		}
	}
	if err := s.mqtt.Serve(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	s.forgetOwnTopics()
	<-ctx.Done()
	return s.stop(guarded)
}

// forgetOwnTopics drops what the library retains about itself, under $SYS, when it begins to serve: nobody may
// read it, and the library copies all that is retained each second.
func (s *Server) forgetOwnTopics() {
	for topic := range s.mqtt.Topics.Retained.GetAll() {
		if strings.HasPrefix(topic, mqtt.SysPrefix) {
			s.mqtt.Topics.RetainMessage(packets.Packet{TopicName: topic})
		}
	}
}

// Ready returns nil until Run has ended, then why no client is served any more.
func (s *Server) Ready() error {
	if s.ctx.Err() != nil {
		return errors.New("the broker has stopped")
	}
	return nil
}

// stop closes the listeners and then the library.
func (s *Server) stop(guarded []*guard.Listener) error {
	done := make(chan error, 1)
	go func() {
		var wg sync.WaitGroup
		for _, l := range guarded {
			wg.Go(func() { l.Close(nil) })
		}
		wg.Wait()
		done <- s.mqtt.Close()
	}()
	giveUp := time.AfterFunc(stopTimeout/2, s.cancel)
	defer giveUp.Stop()
	select {
	case err := <-done:
		return err
	case <-time.After(stopTimeout):
		return fmt.Errorf("stop broker: %d clients still busy after %s", s.sessions.len(), stopTimeout)
	}
}

// Counters returns the present totals.
func (s *Server) Counters() Counters {
	return Counters{
		Counters:  s.guard.Counters(),
		Sessions:  s.sessions.len(),
		Ingested:  s.counters.ingested.Load(),
		NotStored: s.counters.notStored.Load(),
		Refused:   s.counters.refused.Load(),
	}
}
