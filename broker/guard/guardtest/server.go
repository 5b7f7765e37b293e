package guardtest

import (
	"io"
	"log/slog"
	"net"
	"testing"

	"sensegate/broker/guard"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// Open is a hook that lets everybody do everything.
type Open struct {
	*guard.Hook
	Denied    string             // the one topic that nobody may subscribe to
	Published func(topic string) // called for every PUBLISH, when set

	Answering func(cl *mqtt.Client) // called before every CONNACK, when set
}

// Provides adds to the guard's methods those of an open policy.
func (o *Open) Provides(method byte) bool {
	switch method {
	case mqtt.OnConnectAuthenticate, mqtt.OnACLCheck:
		return true
	case mqtt.OnPublish:
		return o.Published != nil
	}
	return o.Hook.Provides(method)
}

// OnConnectAuthenticate accepts everybody.
func (o *Open) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

// OnACLCheck allows everything but Denied.
func (o *Open) OnACLCheck(_ *mqtt.Client, topic string, _ bool) bool {
	return o.Denied == "" || topic != o.Denied
}

// OnPacketEncode calls Answering.
func (o *Open) OnPacketEncode(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	if o.Answering != nil && pk.FixedHeader.Type == packets.Connack {
		o.Answering(cl)
	}
	return o.Hook.OnPacketEncode(cl, pk)
}

// OnPublish calls Published.
func (o *Open) OnPublish(_ *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	o.Published(pk.TopicName)
	return pk, nil
}

// Server is a guarded broker with an open policy.
type Server struct {
	Guard    *guard.Guard
	Hook     *Open
	Listener *guard.Listener
	MQTT     *mqtt.Server
	Addr     string
	stopped  bool
}

// Options are those of the library under an open policy.
func Options(cfg guard.Config) *mqtt.Options {
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumQos, caps.TopicAliasMaximum = cfg.MaxQoS, cfg.TopicAliasMaximum
	caps.MaximumMessageExpiryInterval = 0
	caps.Compatibilities.NoInheritedPropertiesOnAck = true
	return &mqtt.Options{Capabilities: caps, ClientNetReadBufferSize: 64, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// Listen binds a free port of the loopback interface.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	return l
}

// Serve starts a guarded broker on bound and stops it at the end of the test.
// change, if not nil, may adjust the hook before.
func Serve(t testing.TB, cfg guard.Config, bound net.Listener, change func(*Open)) *Server {
	t.Helper()
	g, err := guard.New(cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatalf("guard: %v", err)
	}
	server := mqtt.New(Options(cfg))
	policy := &Open{Hook: g.Hook(server)}
	s := &Server{Guard: g, Hook: policy, Listener: g.Listener("open", bound, policy), MQTT: server, Addr: bound.Addr().String()}
	if change != nil {
		change(s.Hook)
	}
	if err := server.AddHook(s.Hook, nil); err != nil {
		t.Fatalf("add hook: %v", err)
	}
	if err := server.AddListener(s.Listener); err != nil {
		t.Fatalf("add listener: %v", err)
	}
	if err := server.Serve(); err != nil {
		t.Fatalf("serve: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Stop stops the server once.
func (s *Server) Stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	s.Listener.Close(nil)
	_ = s.MQTT.Close()
}
