package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"sensegate/broker/wire"
	"sensegate/motion"
)

const (
	keepAliveS      = 60
	reconnectFirst  = 500 * time.Millisecond
	reconnectMost   = 10 * time.Second
	dialLimit       = 10 * time.Second
	disconnectLimit = 2 * time.Second
)

// credentials are what the gatekeeper gives a device for one MQTT session.
type credentials struct {
	device motion.DeviceKey
	server string // host:port
	token  string
}

// session is the MQTT session of a device. It reconnects until close or cutOff. Its
// methods may be called concurrently.
type session struct {
	credentials
	calls   callbacks
	manager *autopaho.ConnectionManager
	end     context.CancelFunc
	workers sync.WaitGroup // pending subscriptions

	mu         sync.Mutex
	conn       net.Conn // of the current attempt or connection
	cut        bool     // powered off: send no DISCONNECT
	tried      bool
	subscribed bool
}

// callbacks are called on the goroutines of a session and must not block.
type callbacks struct {
	command func(name string, payload []byte)
	online  func()          // connected and subscribed
	lost    func()          // the connection was lost
	refused func(err error) // the broker refuses the token or the subscription
}

// openSession starts to connect and returns. The caller ends the session with close
// or cutOff.
func openSession(c credentials, will []byte, calls callbacks) (*session, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{credentials: c, calls: calls, end: cancel}
	manager, err := autopaho.NewConnection(ctx, autopaho.ClientConfig{
		ServerUrls:        []*url.URL{{Scheme: "mqtt", Host: c.server}},
		KeepAlive:         keepAliveS,
		ConnectUsername:   motion.UserOfDevices,
		ConnectPassword:   []byte(c.token),
		ReconnectBackoff:  s.backoff,
		AttemptConnection: s.dial,
		WillMessage: &paho.WillMessage{
			Topic: wire.EventTopic(c.device, wire.EventEvent, wire.FormatJSON), Payload: will, QoS: 1,
		},
		OnConnectionUp: func(m *autopaho.ConnectionManager, _ *paho.Connack) {
			s.workers.Go(func() { s.subscribe(ctx, m) })
		},
		OnConnectionDown:        s.down,
		OnConnectError:          s.failed,
		DisconnectPacketBuilder: s.goodbye,
		ClientConfig: paho.ClientConfig{
			ClientID:          c.device.ID,
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){s.received},
		},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open mqtt session: %w", err)
	}
	s.manager = manager
	return s, nil
}

// usable reports whether the session is connected and subscribed.
func (s *session) usable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribed
}

// write sends a message with QoS 0. It blocks while the broker does not read, until
// close or cutOff.
func (s *session) write(ctx context.Context, topic string, payload []byte) error {
	_, err := s.manager.Publish(ctx, &paho.Publish{Topic: topic, Payload: payload})
	return err
}

// deliver sends a message with QoS 1 and waits for its acknowledgement; refused says
// that the broker answered with an error.
func (s *session) deliver(ctx context.Context, topic string, payload []byte) (refused bool, err error) {
	answer, err := s.manager.Publish(ctx, &paho.Publish{QoS: 1, Topic: topic, Payload: payload})
	return answer != nil && err != nil, err
}

// settle waits until the broker has handled all that was sent, or the connection ends: it
// answers in order, and this is a question that changes nothing.
func (s *session) settle(ctx context.Context) {
	_, _ = s.manager.Unsubscribe(ctx, &paho.Unsubscribe{Topics: []string{"none"}})
}

// close sends DISCONNECT and waits for the end of the connection.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectLimit)
	defer cancel()
	if s.manager.Disconnect(ctx) != nil {
		s.hangUp()
		<-s.manager.Done()
	}
	s.end()
	s.workers.Wait()
}

// cutOff closes the connection without DISCONNECT, as a power cut does, so that the
// broker publishes the will.
func (s *session) cutOff() {
	s.mu.Lock()
	s.cut = true
	s.mu.Unlock()
	s.hangUp()
	s.close()
}

// hangUp closes the TCP connection.
func (s *session) hangUp() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// dial opens the TCP connection of an attempt and stores it for hangUp.
func (s *session) dial(ctx context.Context, _ autopaho.ClientConfig, server *url.URL) (net.Conn, error) {
	d := net.Dialer{Timeout: dialLimit}
	conn, err := d.DialContext(ctx, "tcp", server.Host)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	return conn, nil
}

// backoff returns the pause before an attempt: 0 before the first, then doubling up
// to reconnectMost.
func (s *session) backoff(attempt int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tried {
		s.tried = true
		return 0
	}
	return min(reconnectMost, reconnectFirst<<min(attempt, 5))
}

// subscribe subscribes to the commands, which makes the session usable.
func (s *session) subscribe(ctx context.Context, manager *autopaho.ConnectionManager) {
	_, err := manager.Subscribe(ctx, &paho.Subscribe{
		Subscriptions: []paho.SubscribeOptions{{Topic: wire.CommandFilter(s.device), QoS: 1}},
	})
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, paho.ErrConnectionLost) {
			s.calls.refused(fmt.Errorf("subscribe to commands: %w", err))
		}
		return
	}
	s.mu.Lock()
	s.subscribed = s.conn != nil
	s.mu.Unlock()
	s.calls.online()
}

// down handles the loss of the connection and reports whether to reconnect: not after
// a power cut.
func (s *session) down() bool {
	s.mu.Lock()
	s.conn, s.subscribed = nil, false
	cut := s.cut
	s.mu.Unlock()
	s.calls.lost()
	return !cut
}

// goodbye returns the DISCONNECT packet, nil after a power cut.
func (s *session) goodbye() *paho.Disconnect {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		return nil
	}
	return &paho.Disconnect{}
}

// failed calls refused if the broker refused the token.
func (s *session) failed(err error) {
	var refusal *autopaho.ConnackError
	if !errors.As(err, &refusal) {
		return
	}
	switch refusal.ReasonCode {
	case packets.ConnackBadUsernameOrPassword, packets.ConnackNotAuthorized, packets.ConnackBanned:
		s.calls.refused(refusal)
	}
}

// received passes commands to the callback.
func (s *session) received(p paho.PublishReceived) (bool, error) {
	topic, err := wire.ParseTopic(p.Packet.Topic)
	if err != nil || !topic.Command || topic.Device() != s.device {
		return false, nil
	}
	s.calls.command(topic.Name, p.Packet.Payload)
	return true, nil
}
