package mqtt

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"sensegate/motion/fault"
	"sensegate/motion/uplink"
)

// check returns the fault of a message that cannot be sent, nil for the others.
func check(m uplink.Message) error {
	switch {
	case m.Topic == "" || strings.ContainsAny(m.Topic, "#+\x00") || !utf8.ValidString(m.Topic):
		return fault.New(fault.Invalid, "topic %.40q: want UTF-8 text without # and +", m.Topic)
	case len(m.Topic) > mostTopic:
		return fault.New(fault.Invalid, "topic %.40q…: is longer than %d bytes", m.Topic, mostTopic)
	case len(m.Payload) > mostSent:
		return fault.New(fault.Invalid, "topic %.40q: its message is longer than %d bytes", m.Topic, mostSent)
	case m.QoS > 1:
		return fault.New(fault.Invalid, "topic %.40q: want QoS 0 or 1", m.Topic)
	}
	return nil
}

// Publish sends a message and waits, at QoS 1 until the broker has acknowledged it. A message that
// cannot be sent is an Invalid fault, and the connection goes on.
func (c *Connection) Publish(ctx context.Context, m uplink.Message) error {
	if m.QoS == 1 {
		acknowledged, err := c.Begin(ctx, m)
		if err != nil {
			return err
		}
		return c.await(ctx, acknowledged)
	}
	if err := check(m); err != nil {
		return err
	}
	return c.publish(m, 0)
}

// await waits for an answer.
func (c *Connection) await(ctx context.Context, result <-chan error) error {
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Begin sends a message at QoS 1 and returns where its acknowledgement comes.
func (c *Connection) Begin(ctx context.Context, m uplink.Message) (<-chan error, error) {
	m.QoS = 1
	if err := check(m); err != nil {
		return nil, err
	}
	select {
	case c.window <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended:
		return nil, c.reason()
	}
	id, result, err := c.expect(packets.Puback)
	if err != nil {
		return nil, err
	}
	if err := c.publish(m, id); err != nil {
		return nil, err
	}
	return result, nil
}

// reason returns why the connection has ended.
func (c *Connection) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("not sent: %w", c.err)
}

// expect returns a free packet id, and where the answer to it comes.
func (c *Connection) expect(of byte) (uint16, <-chan error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, fmt.Errorf("not sent: %w", c.err)
	}
	for c.lastID++; c.lastID == 0 || c.pending[c.lastID] != nil; c.lastID++ {
	}
	one := &answer{since: time.Now(), of: of, result: make(chan error, 1)}
	c.pending[c.lastID] = one
	return c.lastID, one.result, nil
}

// answered hands on the answer to a packet. One that nobody waits for is left alone.
func (c *Connection) answered(id uint16, of byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.pending[id]
	if one == nil || one.of != of {
		return
	}
	delete(c.pending, id)
	if of == packets.Puback {
		c.traffic.Sent++
		<-c.window
	}
	one.result <- err
}

// publish writes a message.
func (c *Connection) publish(m uplink.Message, id uint16) error {
	p := &packets.PublishPacket{
		FixedHeader: packets.FixedHeader{MessageType: packets.Publish, Qos: m.QoS, Retain: m.Retain},
		TopicName:   m.Topic, MessageID: id, Payload: m.Payload,
	}
	if err := c.write(p, writeLimit); err != nil {
		return err
	}
	if m.QoS == 0 {
		c.mu.Lock()
		c.traffic.Sent++
		c.mu.Unlock()
	}
	return nil
}

// write writes a packet. A failure ends the connection: the broker may have a part of it.
func (c *Connection) write(p packets.ControlPacket, limit time.Duration) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.conn.SetWriteDeadline(time.Now().Add(limit))
	if err == nil {
		err = p.Write(c.conn)
	}
	if err != nil {
		c.fail(fmt.Errorf("write: %w", err))
		return c.reason()
	}
	return nil
}

// Offer queues a message that is sent at QoS 0, and does not wait.
func (c *Connection) Offer(m uplink.Message) {
	m.QoS = 0
	if check(m) != nil {
		c.live.lose(1)
		return
	}
	c.live.push(m)
}

// drain sends the live messages.
func (c *Connection) drain() {
	for {
		m, ok := c.live.pop()
		if !ok {
			select {
			case <-c.live.wake:
				continue
			case <-c.ended:
				c.live.clear()
				return
			}
		}
		if c.publish(m, 0) != nil {
			c.live.lose(1)
			c.live.clear()
			return
		}
	}
}

// watch keeps the connection alive, and ends one whose broker does not answer.
func (c *Connection) watch() {
	step := min(keepAlive/2, c.options.Answer/4)
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	pinged := time.Now()
	for {
		select {
		case <-c.ended:
			return
		case now := <-ticker.C:
			if err := c.overdue(now); err != nil {
				c.fail(err)
				return
			}
			if now.Sub(pinged) >= keepAlive/2 {
				pinged = now
				_ = c.write(packets.NewControlPacket(packets.Pingreq), writeLimit)
			}
		}
	}
}

// overdue returns an error when the broker owes an answer for too long.
func (c *Connection) overdue(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.pending {
		if now.Sub(one.since) > c.options.Answer {
			return errNoAnswer
		}
	}
	if now.Sub(c.heard) > keepAlive/2+c.options.Answer {
		return errSilent
	}
	return nil
}
