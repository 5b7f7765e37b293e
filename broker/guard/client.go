package guard

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// What follows does for a connection what the library's EstablishConnection does, in the same
// order and with the library's own parts. The library waits for each packet inside of two
// functions that take 4.6 KB of stack, with which every idle connection keeps 16 KB: Go halves a
// stack only when less than a quarter of it is in use. Here it waits outside, and keeps 4 KB.

// welcome answers the CONNECT that has been read. It calls answered once the library knows the client
// by its id, and whoever ends the connection then ends it behind the CONNACK.
func (l *Listener) welcome(c *Conn, answered func()) error {
	server, cl := l.guard.server, c.client
	first, err := header(cl)
	if err != nil {
		return err
	}
	pk, err := cl.ReadPacket(first)
	if err != nil {
		return err
	}
	cl.ParseConnect(l.id, pk)
	code := pk.ConnectValidate()
	if code == packets.CodeSuccess && cl.Properties.ProtocolVersion < server.Options.Capabilities.MinimumProtocolVersion {
		code = packets.ErrUnsupportedProtocolVersion
	}
	if code != packets.CodeSuccess {
		return l.deny(cl, code)
	}
	if err := l.policy.OnConnect(cl, pk); err != nil {
		return err
	}
	c.keepAlive()
	if !l.policy.OnConnectAuthenticate(cl, pk) {
		return l.deny(cl, packets.ErrBadUsernameOrPassword)
	}
	l.policy.OnSessionEstablish(cl, pk)
	resumed := l.guard.resume(cl, pk.Connect.Clean)
	server.Clients.Add(cl)
	if err := server.SendConnack(cl, packets.CodeSuccess, resumed, nil); err != nil {
		return fmt.Errorf("answer connect: %w", err)
	}
	c.speak(cl.Properties.ProtocolVersion)
	answered()
	if err := cl.ResendInflightMessages(true); err != nil {
		return fmt.Errorf("resend messages: %w", err)
	}
	l.policy.OnSessionEstablished(cl, pk)
	c.welcomed = true
	atomic.AddInt64(&server.Info.ClientsConnected, 1)
	return nil
}

// deny answers a CONNECT with a refusal.
func (l *Listener) deny(cl *mqtt.Client, code packets.Code) error {
	if err := l.guard.server.SendConnack(cl, code, false, nil); err != nil {
		return fmt.Errorf("answer connect: %w", err)
	}
	return code
}

// resume gives a client the session that its earlier connection left, unless it wants a new one, and
// reports whether there was one. The product keeps no session; conformance suites need it. But there
// may be an earlier connection that did not end within takeoverTimeout, and must leave nothing.
func (g *Guard) resume(cl *mqtt.Client, clean bool) bool {
	if g.server.Options.Capabilities.MaximumSessionExpiryInterval > 0 {
		// the library forgets a will that still waits when its client disconnects
		_ = g.server.InjectPacket(g.server.NewClient(nil, mqtt.LocalListener, cl.ID, true), packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Disconnect}})
	}
	old, ok := g.server.Clients.Get(cl.ID)
	if !ok {
		return false
	}
	old.Stop(packets.ErrSessionTakenOver) // nothing more of it is processed
	waiting, subscriptions := old.State.Inflight.Clone(), old.State.Subscriptions.GetAll()
	g.clear(old)
	if clean || !g.outlives(old) {
		return false
	}
	waiting.ResetReceiveQuota(int32(g.server.Options.Capabilities.ReceiveMaximum))
	cl.State.Inflight = waiting
	for filter, subscription := range subscriptions {
		if g.server.Topics.Subscribe(cl.ID, subscription) {
			atomic.AddInt64(&g.server.Info.Subscriptions, 1) // as clear took it off
		}
		cl.State.Subscriptions.Add(filter, subscription)
	}
	return true
}

// take lets the library process the next packet, whose first byte is there.
func (l *Listener) take(c *Conn) error {
	body, err := c.next()
	if err != nil {
		return err
	}
	pk, err := c.read(body)
	if err != nil {
		return err
	}
	err = l.guard.server.InjectPacket(c.client, pk)
	if code, ok := err.(packets.Code); ok && code.Code >= packets.ErrUnspecifiedError.Code && c.client.Properties.ProtocolVersion == 5 {
		_ = l.guard.server.DisconnectClient(c.client, code) // the client may be gone
	}
	return err
}

// read returns the packet that next has read, of which the library gets memory of its own. ReadPacket copies twice, and only
// the second copy is used; what devices send most is not read by it.
func (c *Conn) read(body []byte) (pk packets.Packet, err error) {
	if c.packet[0]>>4 != typePublish {
		first, err := header(c.client)
		if err != nil {
			return pk, err
		}
		return c.client.ReadPacket(first)
	}
	c.unread = nil
	pk.ProtocolVersion = c.client.Properties.ProtocolVersion
	if err := pk.FixedHeader.Decode(c.packet[0]); err != nil {
		return pk, err
	}
	pk.FixedHeader.Remaining = len(body)
	return pk, pk.PublishDecode(slices.Clone(body))
}

// dismiss ends the library's part of a connection that ended with err, which it returns.
func (l *Listener) dismiss(c *Conn, err error) error {
	defer c.client.Stop(err) // also when a will panics
	if c.welcomed {
		atomic.AddInt64(&l.guard.server.Info.ClientsConnected, -1)
	}
	if c.welcomed && err != nil && !errors.Is(err, ErrPanic) {
		// the library sends the will of a client that connects once more
		_ = l.guard.server.InjectPacket(c.client, packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}})
	}
	return err
}

// header reads the first bytes of a packet that the guard has checked.
func header(cl *mqtt.Client) (*packets.FixedHeader, error) {
	first := new(packets.FixedHeader)
	return first, cl.ReadFixedHeader(first)
}

// wait waits for the first byte of a packet.
func (c *Conn) wait() error {
	if cap(c.packet) > keepBuffer {
		c.packet, c.unread = nil, nil
	}
	c.keepAlive()
	if _, err := c.in.Peek(1); err != nil {
		return c.readError(err)
	}
	return nil
}

// keepAlive gives the client one and a half of its keep-alive from now (section 3.1.2.10).
func (c *Conn) keepAlive() {
	longest := c.client.State.Keepalive
	_ = c.SetReadDeadline(time.Now().Add(time.Duration(longest+longest/2) * time.Second)) // closed: the read tells
}
