package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/mqtt"
	"sensegate/motion"
)

const (
	keepAlive      = 60 * time.Second
	reconnectFirst = 500 * time.Millisecond
	reconnectMost  = 10 * time.Second
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
	client  *mqtt.Client
	end     context.CancelFunc
	workers sync.WaitGroup // pending subscriptions

	mu         sync.Mutex
	tried      bool
	changes    int // how often a connection was made or lost
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
func openSession(c credentials, will []byte, calls callbacks) *session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{credentials: c, calls: calls, end: cancel}
	opened := make(chan struct{})
	s.client = mqtt.Open(mqtt.Options{
		Server: c.server, ClientID: c.device.ID, User: motion.UserOfDevices, Password: c.token, KeepAlive: keepAlive,
		Will:  &mqtt.Message{Topic: wire.EventTopic(c.device, wire.EventEvent, wire.FormatJSON), Payload: will, QoS: 1},
		Pause: s.backoff,
		Up: func() {
			<-opened
			change := s.changed()
			s.workers.Go(func() { s.subscribe(ctx, change) })
		},
		Down: s.down, Failed: s.failed, Received: s.received,
	})
	close(opened)
	return s
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
	return s.client.Publish(ctx, mqtt.Message{Topic: topic, Payload: payload})
}

// deliver sends a message with QoS 1 and waits for its acknowledgement.
func (s *session) deliver(ctx context.Context, topic string, payload []byte) error {
	return s.client.Publish(ctx, mqtt.Message{QoS: 1, Topic: topic, Payload: payload})
}

// settle waits until the broker has handled all that was sent, or the connection ends.
func (s *session) settle(ctx context.Context) { _ = s.client.Settle(ctx) }

// close sends DISCONNECT and waits for the end of the connection.
func (s *session) close() {
	s.end()
	s.client.Close()
	s.workers.Wait()
}

// cutOff closes the connection without DISCONNECT, as a power cut does, so that the
// broker publishes the will.
func (s *session) cutOff() {
	s.end()
	s.client.Cut()
	s.workers.Wait()
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

// changed notes that a connection was made or lost, and returns its number.
func (s *session) changed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	s.subscribed = false
	return s.changes
}

// subscribe subscribes to the commands, which makes the session usable unless the connection that the
// change made is lost meanwhile.
func (s *session) subscribe(ctx context.Context, change int) {
	if err := s.client.Subscribe(ctx, wire.CommandFilter(s.device), 1); err != nil {
		if ctx.Err() == nil && !errors.Is(err, mqtt.ErrDown) {
			s.calls.refused(fmt.Errorf("subscribe to commands: %w", err))
		}
		return
	}
	s.mu.Lock()
	current := s.changes == change
	s.subscribed = s.subscribed || current
	s.mu.Unlock()
	if current {
		s.calls.online()
	}
}

// down handles the loss of the connection.
func (s *session) down() {
	s.changed()
	s.calls.lost()
}

// failed calls refused if the broker refused the token.
func (s *session) failed(err error) {
	if refusal := mqtt.Refusal(0); errors.As(err, &refusal) && refusal.IsLogin() {
		s.calls.refused(refusal)
	}
}

// received passes commands to the callback.
func (s *session) received(m mqtt.Message) {
	topic, err := wire.ParseTopic(m.Topic)
	if err == nil && topic.Command && topic.Device() == s.device {
		s.calls.command(topic.Name, m.Payload)
	}
}
