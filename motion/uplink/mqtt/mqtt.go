// Package mqtt is one connection to one outside MQTT broker: MQTT 3.1.1, which brokers of MQTT 5 speak
// as well, over TCP, TLS or websockets. It knows packets, deadlines, and what each failure means for
// who set up the broker. It must not know what is sent, why, or when to connect again.
//
// It uses the packets of github.com/eclipse/paho.mqtt.golang and not the client of that module, which
// panics on a SUBACK with more codes than topics, allocates what the length of a packet announces (up
// to 256 MB), writes acknowledgements without a deadline, and sends again by itself what a former
// connection has left.
package mqtt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"sensegate/motion/uplink"
)

// The limits of a connection.
const (
	dialLimit   = 10 * time.Second // to reach the broker, with TLS
	writeLimit  = 10 * time.Second // for a broker that does not read
	closeLimit  = 2 * time.Second  // for the clean end
	answerLimit = 20 * time.Second // for each answer of the broker
	keepAlive   = 30 * time.Second
	window      = 64        // messages on their way that the broker has not acknowledged
	waiting     = 256       // live messages that wait: about two minutes of one network
	mostTopic   = 1024      // bytes of a topic
	mostPacket  = 256 << 10 // bytes of a message that is read
	mostSent    = 256 << 10 // bytes of a message that is sent: the least that managed brokers take
)

// Connection is a connection. Make it with Dial.
type Connection struct {
	options uplink.Target
	log     *slog.Logger
	conn    net.Conn
	window  chan struct{} // holds one value for each message on its way
	live    *queue
	ended   chan struct{}
	running sync.WaitGroup

	writing sync.Mutex // a packet is written as a whole

	mu       sync.Mutex
	err      error
	closing  bool
	lastID   uint16
	pending  map[uint16]*answer
	heard    time.Time // the last packet of the broker
	filters  []subscription
	received bucket
	traffic  uplink.Traffic
}

// answer is an answer of the broker that somebody waits for.
type answer struct {
	since  time.Time
	of     byte // packets.Puback or packets.Suback
	result chan error
}

// Dial connects and returns the connection. The error is a *uplink.Failure, or that of ctx.
func Dial(ctx context.Context, o uplink.Target, log *slog.Logger) (*Connection, error) {
	if o.Answer == 0 {
		o.Answer = answerLimit
	}
	limit, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var asked atomic.Bool
	noted := o
	noted.TLS = noting(o.TLS, &asked)
	conn, err := open(limit, noted)
	if err != nil {
		return nil, explained(ctx, err, o, reaching)
	}
	c := &Connection{
		options: o, log: log, conn: conn, window: make(chan struct{}, window), live: newQueue(), ended: make(chan struct{}),
		pending: map[uint16]*answer{}, heard: time.Now(), received: newBucket(),
	}
	if err := c.connect(ctx); err != nil {
		_ = conn.Close()
		if asked.Load() && isEnd(err) {
			err = errors.Join(errAsked, err)
		}
		return nil, explained(ctx, err, o, greeting)
	}
	c.running.Go(c.read)
	c.running.Go(c.watch)
	c.running.Go(c.drain)
	return c, nil
}

// Connect is Dial for those who take any connection.
func Connect(ctx context.Context, to uplink.Target, log *slog.Logger) (uplink.Connection, error) {
	c, err := Dial(ctx, to, log)
	if err != nil {
		return nil, err // not a nil *Connection
	}
	return c, nil
}

// connect sends CONNECT and reads the answer to it.
func (c *Connection) connect(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	o := c.options
	p := &packets.ConnectPacket{
		FixedHeader: packets.FixedHeader{MessageType: packets.Connect}, ProtocolName: "MQTT", ProtocolVersion: 4,
		CleanSession: true, Keepalive: uint16(keepAlive / time.Second), ClientIdentifier: o.ClientID,
		UsernameFlag: o.Username != "", Username: o.Username, PasswordFlag: o.Username != "" && o.Password != "", Password: []byte(o.Password),
	}
	if o.Status != "" {
		p.WillFlag, p.WillTopic, p.WillMessage, p.WillQos, p.WillRetain = true, o.Status, []byte("offline"), 1, true
	}
	if err := c.conn.SetDeadline(time.Now().Add(o.Answer)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.Write(c.conn); err != nil {
		return err
	}
	got, err := readPacket(c.conn, 4)
	if err != nil {
		return err
	}
	ack, ok := got.packet.(*packets.ConnackPacket)
	if !ok {
		return errNoBroker
	}
	if ack.ReturnCode != packets.Accepted {
		return refusal(ack.ReturnCode)
	}
	return c.conn.SetDeadline(time.Time{})
}

// Online says that the appliance is there. The error is a *uplink.Failure, or that of ctx.
func (c *Connection) Online(ctx context.Context) error {
	err := c.announce(ctx, "online")
	if err == nil {
		return nil
	}
	if ended := c.Err(); ended != nil {
		return ended
	}
	return explained(ctx, err, c.options, working)
}

// announce publishes whether the appliance is online.
func (c *Connection) announce(ctx context.Context, status string) error {
	if c.options.Status == "" {
		return nil
	}
	return c.Publish(ctx, uplink.Message{Topic: c.options.Status, Payload: []byte(status), QoS: 1, Retain: true})
}

// Ended is closed when the connection has ended.
func (c *Connection) Ended() <-chan struct{} { return c.ended }

// Err returns why it ended, a *uplink.Failure; nil before that and after Close.
func (c *Connection) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || c.closing {
		return nil
	}
	return explained(context.Background(), c.err, c.options, working)
}

// errClosed ends a connection that was closed here.
var errClosed = errors.New("the connection was closed")

// Close publishes "offline", disconnects and waits for the end.
func (c *Connection) Close() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	limit, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_ = c.announce(limit, "offline") // the broker publishes it otherwise: the will
	if c.write(packets.NewControlPacket(packets.Disconnect), closeLimit) != nil {
		c.log.Debug("connection not closed in order")
	}
	c.fail(nil)
	c.running.Wait()
}

// fail ends the connection; the first reason counts.
func (c *Connection) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return
	default:
	}
	if err == nil {
		err = errClosed
	}
	c.err = err
	for id, one := range c.pending {
		one.result <- err
		delete(c.pending, id)
	}
	close(c.ended)
	_ = c.conn.Close()
}

// Traffic returns what the connection has carried.
func (c *Connection) Traffic() uplink.Traffic {
	c.mu.Lock()
	now := c.traffic
	now.Queue = len(c.pending)
	c.mu.Unlock()
	dropped, queued := c.live.state()
	now.Dropped += dropped
	now.Queue += queued
	return now
}
