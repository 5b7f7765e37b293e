package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"sensegate/motion"
	"sensegate/motion/hook"
)

const (
	keepAliveS   = 30
	dialLimit    = 10 * time.Second
	writeLimit   = 10 * time.Second // for a broker that does not read
	answerLimit  = 5 * time.Second
	goodbyeLimit = 2 * time.Second
)

// mqtt delivers to an external MQTT 5 broker: each frame to <prefix>/motion/<network>, QoS 0.
// <prefix>/status is "online" (retained), and "offline" after the will or an orderly end.
type mqtt struct {
	config MQTTConfig
	server *url.URL
	tls    *tls.Config
	log    *slog.Logger
	wait   hook.Backoff

	queue     *queue
	up        chan struct{} // receives when connected
	connected atomic.Bool
	delivered atomic.Uint64
	failures  atomic.Uint64
	row       atomic.Int64 // failures in a row; a long connection resets it

	mu    sync.Mutex
	conn  net.Conn  // of the current attempt or connection
	since time.Time // start of the connection
}

func newMQTT(c MQTTConfig, log *slog.Logger) (*mqtt, error) {
	server, err := c.server()
	if err != nil {
		return nil, fmt.Errorf("relay: mqtt.url: %w", err)
	}
	config, err := c.tls()
	if err != nil {
		return nil, fmt.Errorf("relay: mqtt.ca: %w", err)
	}
	return &mqtt{
		config: c, server: server, tls: config, log: log.With("relay", MQTT), wait: defaultBackoff(),
		queue: newQueue(), up: make(chan struct{}, 1),
	}, nil
}

// Ready returns nil: the provider reconnects forever.
func (m *mqtt) Ready() error { return nil }

// Deliver queues a frame.
func (m *mqtt) Deliver(network motion.NetworkID, json []byte) {
	m.queue.push(frame{network: network, json: json})
}

// Counters returns the numbers of frames written to the broker, and of lost connections and
// failed attempts.
func (m *mqtt) Counters() Counters {
	return Counters{Delivered: m.delivered.Load(), Dropped: m.queue.lost(), Failures: m.failures.Load()}
}

// run stays connected until ctx ends.
func (m *mqtt) run(ctx context.Context) error {
	own, end := context.WithCancel(context.WithoutCancel(ctx)) // close runs after ctx has ended
	defer end()
	manager, err := autopaho.NewConnection(own, m.clientConfig())
	if err != nil {
		return fmt.Errorf("relay to mqtt: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			m.close(own, manager)
			return nil
		case <-m.up:
			m.announce(ctx, manager, "online", answerLimit)
		case <-m.queue.wake:
		}
		m.send(ctx, manager)
	}
}

// clientConfig returns the configuration of the MQTT client.
func (m *mqtt) clientConfig() autopaho.ClientConfig {
	return autopaho.ClientConfig{
		ServerUrls:        []*url.URL{m.server},
		KeepAlive:         keepAliveS,
		ConnectTimeout:    dialLimit,
		ConnectUsername:   m.config.Username,
		ConnectPassword:   []byte(m.config.Password),
		ReconnectBackoff:  func(int) time.Duration { return m.pause() },
		AttemptConnection: m.dial,
		WillMessage:       &paho.WillMessage{Topic: m.statusTopic(), Payload: []byte("offline"), QoS: 1, Retain: true},
		OnConnectionUp:    func(*autopaho.ConnectionManager, *paho.Connack) { m.began() },
		OnConnectionDown:  m.lost,
		OnConnectError:    func(err error) { m.failed("external broker not reached", "err", err) },
		ClientConfig:      paho.ClientConfig{ClientID: m.config.clientID()},
	}
}

// began records a connection and wakes run.
func (m *mqtt) began() {
	m.mu.Lock()
	m.since = time.Now()
	m.mu.Unlock()
	m.connected.Store(true)
	m.log.Info("connected to the external broker", "server", m.server.Host)
	select {
	case m.up <- struct{}{}:
	default:
	}
}

// lost records the end of a connection. A short one counts as one more failure in a row:
// otherwise two clients with one id would displace each other forever.
func (m *mqtt) lost() (connectAgain bool) {
	m.connected.Store(false)
	m.mu.Lock()
	lasted := time.Since(m.since)
	m.mu.Unlock()
	if lasted > m.wait.Most {
		m.row.Store(0)
	}
	m.failed("connection to the external broker lost")
	return true
}

// pause returns the wait before an attempt; 0 before the first.
func (m *mqtt) pause() time.Duration {
	if m.failures.Load() == 0 {
		return 0
	}
	return m.wait.After(int(m.row.Load()))
}

// failed counts a failure and logs the first in a row.
func (m *mqtt) failed(what string, why ...any) {
	m.failures.Add(1)
	if m.row.Add(1) == 1 {
		m.log.Warn(what, append(why, "server", m.server.Host)...)
	}
}

// dial opens the connection of an attempt.
func (m *mqtt) dial(ctx context.Context, _ autopaho.ClientConfig, server *url.URL) (conn net.Conn, err error) {
	dialer := &net.Dialer{Timeout: dialLimit}
	if server.Scheme == "mqtts" {
		conn, err = (&tls.Dialer{NetDialer: dialer, Config: m.tls}).DialContext(ctx, "tcp", server.Host)
	} else {
		conn, err = dialer.DialContext(ctx, "tcp", server.Host)
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.conn = conn
	m.mu.Unlock()
	return packets.NewThreadSafeConn(patientConn{conn}), nil
}

// patientConn is a connection whose writes fail if the other side does not read for writeLimit.
type patientConn struct{ net.Conn }

func (c patientConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// send publishes the queued frames while there is a connection.
func (m *mqtt) send(ctx context.Context, manager *autopaho.ConnectionManager) {
	for m.connected.Load() && ctx.Err() == nil {
		batch := m.queue.take(0) // one frame
		if len(batch) == 0 {
			return
		}
		_, err := manager.Publish(ctx, &paho.Publish{
			Topic: m.config.Prefix + "/" + Channel(batch[0].network), Payload: batch[0].json,
		})
		switch {
		case err == nil:
			m.delivered.Add(1)
		case errors.Is(err, paho.ErrInvalidArguments):
			m.queue.drop(1)
		default:
			m.queue.drop(1)
			m.connected.Store(false) // the client will report it too; began wakes run again
		}
	}
}

func (m *mqtt) statusTopic() string { return m.config.Prefix + "/status" }

// announce publishes whether the appliance is online.
func (m *mqtt) announce(ctx context.Context, manager *autopaho.ConnectionManager, status string, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := manager.Publish(ctx, &paho.Publish{Topic: m.statusTopic(), Payload: []byte(status), QoS: 1, Retain: true})
	if err != nil {
		m.log.Debug("status not published", "status", status, "err", err)
	}
}

// close announces "offline", disconnects and waits for the end of the connection.
func (m *mqtt) close(ctx context.Context, manager *autopaho.ConnectionManager) {
	if m.connected.Load() {
		m.announce(ctx, manager, "offline", goodbyeLimit)
	}
	ctx, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	if manager.Disconnect(ctx) == nil {
		return
	}
	m.mu.Lock()
	if m.conn != nil {
		_ = m.conn.Close() // in case a write hangs
	}
	m.mu.Unlock()
	<-manager.Done()
}
