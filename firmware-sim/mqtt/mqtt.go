// Package mqtt is how simulated devices speak to a broker: MQTT 3.1.1 over TCP, with a connection that
// is made anew when it ends. It must not know what is said, or by whom.
package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

const (
	dialLimit    = 10 * time.Second
	answerLimit  = 10 * time.Second // for each answer of the broker
	goodbyeLimit = 2 * time.Second
)

// ErrDown says that there is no connection, or that it ended before the broker answered.
var ErrDown = errors.New("no connection to the broker")

// Refusal is the code by which a broker refuses a connection (MQTT 3.1.1, 3.2.2.3).
type Refusal byte

// Error says what the code means.
func (r Refusal) Error() string { return "refused: " + packets.ConnackReturnCodes[byte(r)] }

// IsLogin reports whether it is about user name and password.
func (r Refusal) IsLogin() bool {
	return r == packets.ErrRefusedBadUsernameOrPassword || r == packets.ErrRefusedNotAuthorised
}

// Message is a message.
type Message struct {
	Topic   string
	Payload []byte
	QoS     byte // 0 or 1
	Retain  bool
}

// Options say who connects where. The functions may be nil; they are called on the goroutine of the
// connection and must not wait for it.
type Options struct {
	Server, ClientID, User, Password string // Server is host:port
	KeepAlive                        time.Duration
	Will                             *Message // nil: none

	Pause    func(attempt int) time.Duration // before an attempt, from 0 on, counted since the last connection
	Up       func()                          // connected
	Down     func()                          // the connection has ended
	Failed   func(error)                     // an attempt has failed; a *Refusal is the broker's
	Received func(Message)
}

// Client is a client. Make it with Open. Its methods may be called concurrently.
type Client struct {
	options Options
	stop    context.CancelFunc
	done    chan struct{}

	writing sync.Mutex // a packet is written as a whole

	mu      sync.Mutex
	conn    net.Conn // nil: none
	up      bool     // the broker has accepted it
	cut     bool     // it ends without DISCONNECT
	closing bool     // nothing but DISCONNECT is sent any more
	lastID  uint16
	pending map[uint16]chan error
}

// Open begins to connect and returns. The caller ends it with Close or Cut.
func Open(o Options) *Client {
	ctx, stop := context.WithCancel(context.Background())
	c := &Client{options: o, stop: stop, done: make(chan struct{})}
	go c.run(ctx)
	return c
}

// Done is closed when the client has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Publish sends a message and waits, at QoS 1 until the broker has acknowledged it.
func (c *Client) Publish(ctx context.Context, m Message) error {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Payload, p.Qos, p.Retain = m.Topic, m.Payload, m.QoS, m.Retain
	if m.QoS == 0 {
		return c.write(p)
	}
	return c.ask(ctx, p, &p.MessageID)
}

// Subscribe subscribes to a filter and waits for the answer.
func (c *Client) Subscribe(ctx context.Context, filter string, qos byte) error {
	p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	p.Topics, p.Qoss = []string{filter}, []byte{qos}
	return c.ask(ctx, p, &p.MessageID)
}

// Settle waits until the broker has handled all that was sent, or the connection ends: it answers in
// order, and this is a question that changes nothing.
func (c *Client) Settle(ctx context.Context) error {
	p := packets.NewControlPacket(packets.Unsubscribe).(*packets.UnsubscribePacket)
	p.Topics = []string{"none"}
	return c.ask(ctx, p, &p.MessageID)
}

// Close says goodbye and waits for the end.
func (c *Client) Close() {
	c.stop() // before it looks for a connection: connect looks in the other order
	c.mu.Lock()
	conn, up := c.conn, c.up && !c.cut
	c.closing = true
	if up {
		_ = conn.SetWriteDeadline(time.Now().Add(goodbyeLimit)) // also of a write that waits
	}
	c.mu.Unlock()
	if conn != nil {
		if up {
			_ = c.write(packets.NewControlPacket(packets.Disconnect))
		}
		_ = conn.Close()
	}
	<-c.done
}

// Cut ends without a word, as a power cut does, so that the broker publishes the will.
func (c *Client) Cut() {
	c.mu.Lock()
	c.cut = true
	c.mu.Unlock()
	c.Close()
}

// run connects until ctx ends.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for attempt := 0; ctx.Err() == nil; attempt++ {
		if c.options.Pause != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(c.options.Pause(attempt)):
			}
		}
		err := c.connect(ctx)
		if err != nil {
			c.drop()
			if c.options.Failed != nil && ctx.Err() == nil {
				c.options.Failed(err)
			}
			continue
		}
		attempt = -1
		c.serve()
	}
}

// connect opens a connection and logs in.
func (c *Client) connect(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(limit, "tcp", c.options.Server)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.conn = conn
	ended := ctx.Err()
	c.mu.Unlock()
	if ended != nil {
		return ended
	}
	o := c.options
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.CleanSession = "MQTT", 4, true
	p.ClientIdentifier, p.Keepalive = o.ClientID, uint16(o.KeepAlive/time.Second)
	p.UsernameFlag, p.PasswordFlag, p.Username, p.Password = true, true, o.User, []byte(o.Password)
	if o.Will != nil {
		p.WillFlag, p.WillTopic, p.WillMessage, p.WillQos, p.WillRetain = true, o.Will.Topic, o.Will.Payload, o.Will.QoS, o.Will.Retain
	}
	if err := conn.SetDeadline(time.Now().Add(dialLimit)); err != nil {
		return err
	}
	if err := c.write(p); err != nil {
		return err
	}
	answer, err := packets.ReadPacket(conn)
	if err != nil {
		return err
	}
	ack, ok := answer.(*packets.ConnackPacket)
	switch {
	case !ok:
		return errors.New("the broker answers CONNECT with something else")
	case ack.ReturnCode != packets.Accepted:
		return Refusal(ack.ReturnCode)
	}
	return conn.SetDeadline(time.Time{})
}

// serve reads until the connection ends.
func (c *Client) serve() {
	c.mu.Lock()
	conn := c.conn
	c.up, c.pending = true, map[uint16]chan error{}
	c.mu.Unlock()
	gone := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { c.ping(gone) })
	if c.options.Up != nil {
		c.options.Up()
	}
	for {
		err := conn.SetReadDeadline(time.Now().Add(c.silence()))
		packet, also := packets.ReadPacket(conn)
		if errors.Join(err, also) != nil {
			break
		}
		c.take(packet)
	}
	close(gone)
	c.drop()
	pinging.Wait()
	if c.options.Down != nil {
		c.options.Down()
	}
}

// drop closes the connection and answers whoever waits for the broker.
func (c *Client) drop() {
	c.mu.Lock()
	conn, pending := c.conn, c.pending
	c.conn, c.up, c.pending = nil, false, nil
	c.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
	for _, waits := range pending {
		waits <- ErrDown
	}
}

// ping shows that the client is there until gone is closed.
func (c *Client) ping(gone <-chan struct{}) {
	ticker := time.NewTicker(c.options.KeepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-gone:
			return
		case <-ticker.C:
			_ = c.write(packets.NewControlPacket(packets.Pingreq)) // the reader notices
		}
	}
}

// take handles a packet of the broker.
func (c *Client) take(packet packets.ControlPacket) {
	switch p := packet.(type) {
	case *packets.PublishPacket:
		if c.options.Received != nil {
			c.options.Received(Message{Topic: p.TopicName, Payload: p.Payload, QoS: p.Qos, Retain: p.Retain})
		}
		if p.Qos == 1 {
			ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
			ack.MessageID = p.MessageID
			_ = c.write(ack) // the reader notices
		}
	case *packets.PubackPacket:
		c.answered(p.MessageID, nil)
	case *packets.UnsubackPacket:
		c.answered(p.MessageID, nil)
	case *packets.SubackPacket:
		var err error
		if len(p.ReturnCodes) != 1 || p.ReturnCodes[0] > 2 {
			err = fmt.Errorf("the broker refuses the subscription (%v)", p.ReturnCodes)
		}
		c.answered(p.MessageID, err)
	}
}

// answered tells who waits for the answer to a packet.
func (c *Client) answered(id uint16, err error) {
	c.mu.Lock()
	waits := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if waits != nil {
		waits <- err
	}
}

// silence is how long a broker may neither send nor read.
func (c *Client) silence() time.Duration { return 2 * c.options.KeepAlive }

// ask sends a packet by a new id and waits for its answer.
func (c *Client) ask(ctx context.Context, p packets.ControlPacket, id *uint16) error {
	waits := make(chan error, 1)
	c.mu.Lock()
	if !c.up || len(c.pending) == 1<<16-1 {
		c.mu.Unlock()
		return ErrDown
	}
	for c.lastID++; c.lastID == 0 || c.pending[c.lastID] != nil; c.lastID++ {
	}
	own := c.lastID
	*id = own
	c.pending[own] = waits
	c.mu.Unlock()
	if err := c.write(p); err != nil {
		c.answered(own, nil)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	select {
	case err := <-waits:
		return err
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, own)
		c.mu.Unlock()
		return ctx.Err()
	}
}

// write sends a packet. It waits while the broker does not read, until that has lasted too long or the
// connection is closed. A failure ends the connection: the broker may have a part of the packet.
func (c *Client) write(p packets.ControlPacket) error {
	c.mu.Lock()
	conn, up := c.conn, c.up
	c.mu.Unlock()
	_, first := p.(*packets.ConnectPacket)
	if conn == nil || !up && !first {
		return ErrDown
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, last := p.(*packets.DisconnectPacket); !first && !last && !c.allot(conn) {
		return ErrDown
	}
	err := p.Write(conn)
	if err != nil {
		_ = conn.Close() // the reader notices
	}
	return err
}

// allot sets the deadline of a write, and reports whether one may begin.
func (c *Client) allot(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closing && conn.SetWriteDeadline(time.Now().Add(c.silence())) == nil
}
