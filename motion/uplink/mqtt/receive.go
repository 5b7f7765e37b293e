package mqtt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"sensegate/motion/fault"
	"sensegate/motion/uplink"
)

// subscription is a filter with who hears its messages.
type subscription struct {
	filter string
	hear   func(uplink.Message)
}

// Subscribe asks for the messages of the topics that match a filter. They come at QoS 0: an
// acknowledgement would be lost with the session, which ends with the connection.
func (c *Connection) Subscribe(ctx context.Context, filter string, hear func(uplink.Message)) error {
	if filter == "" || len(filter) > mostTopic || strings.ContainsRune(filter, 0) {
		return fault.New(fault.Invalid, "filter %.40q: want 1 to %d bytes", filter, mostTopic)
	}
	id, result, err := c.expect(packets.Suback)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.filters = append(c.filters, subscription{filter, hear})
	c.mu.Unlock()
	p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	p.MessageID, p.Topics, p.Qoss = id, []string{filter}, []byte{0}
	if err := c.write(p, writeLimit); err != nil {
		return err
	}
	if err := c.await(ctx, result); errors.Is(err, errRefused) {
		return &uplink.Failure{
			Code: "not_allowed", Text: fmt.Sprintf("the broker at %s does not let this user read %s: give them the right to", c.options.URL.Host, filter), Slow: true, Err: err,
		}
	} else if err != nil {
		return err
	}
	return nil
}

// errRefused says that a broker refuses a subscription.
var errRefused = errors.New("subscription refused")

// incoming is a packet of the broker; a nil packet is a message that is too long.
type incoming struct{ packet packets.ControlPacket }

// readPacket reads a packet of at most so many bytes. A longer message is skipped; any other longer
// packet, and one that is damaged, is errNoBroker.
func readPacket(r io.Reader, most int) (incoming, error) {
	head := make([]byte, 1, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return incoming{}, err
	}
	length := 0
	for shift := 0; ; shift += 7 {
		if shift > 21 {
			return incoming{}, errNoBroker
		}
		one := make([]byte, 1)
		if _, err := io.ReadFull(r, one); err != nil {
			return incoming{}, err
		}
		head = append(head, one[0])
		length |= int(one[0]&0x7f) << shift
		if one[0]&0x80 == 0 {
			break
		}
	}
	if length > most {
		if head[0]>>4 != packets.Publish {
			return incoming{}, startsAs(head[0])
		}
		_, err := io.CopyN(io.Discard, r, int64(length))
		return incoming{}, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return incoming{}, err
	}
	p, err := packets.ReadPacket(io.MultiReader(bytes.NewReader(head), bytes.NewReader(body)))
	if err != nil {
		return incoming{}, startsAs(head[0])
	}
	return incoming{p}, nil
}

// startsAs returns the error of what is no packet, by its first byte.
func startsAs(first byte) error {
	const tlsAlert = 0x15
	if first == tlsAlert {
		return errTLSPort
	}
	return errNoBroker
}

// read takes the packets of the broker until the connection ends.
func (c *Connection) read() {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("reading from the broker panicked", "panic", fmt.Sprint(r))
			c.fail(fmt.Errorf("panic: %v", r))
		}
	}()
	for {
		got, err := readPacket(c.conn, mostPacket)
		if err != nil {
			c.fail(fmt.Errorf("read: %w", err))
			return
		}
		c.take(got.packet)
	}
}

// take handles a packet.
func (c *Connection) take(packet packets.ControlPacket) {
	c.mu.Lock()
	c.heard = time.Now()
	c.mu.Unlock()
	switch p := packet.(type) {
	case nil:
		c.mu.Lock()
		c.traffic.Refused++
		c.mu.Unlock()
	case *packets.PublishPacket:
		if p.Qos == 1 { // not asked for, but who waits for it would send it for ever
			ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
			ack.MessageID = p.MessageID
			_ = c.write(ack, writeLimit)
		}
		c.hear(uplink.Message{Topic: p.TopicName, Payload: p.Payload, QoS: p.Qos, Retain: p.Retain})
	case *packets.PubackPacket:
		c.answered(p.MessageID, packets.Puback, nil)
	case *packets.SubackPacket:
		var err error
		if len(p.ReturnCodes) != 1 || p.ReturnCodes[0] > 2 {
			err = errRefused
		}
		c.answered(p.MessageID, packets.Suback, err)
	}
}

// hear hands a message to who asked for it, unless there are too many.
func (c *Connection) hear(m uplink.Message) {
	c.mu.Lock()
	fits := c.received.take(time.Now())
	if !fits {
		c.traffic.Refused++
	}
	filters := c.filters[:len(c.filters):len(c.filters)]
	c.mu.Unlock()
	if !fits {
		return
	}
	for _, one := range filters {
		if uplink.Matches(one.filter, m.Topic) {
			one.hear(m)
		}
	}
}

// What a broker may send: all that it has kept, and then so many a second.
const (
	receivedAtOnce = 20_000
	receivedRate   = 500
)

// bucket is a token bucket of messages.
type bucket struct {
	left float64
	at   time.Time
}

func newBucket() bucket { return bucket{left: receivedAtOnce, at: time.Now()} }

// take reports whether one more message fits.
func (b *bucket) take(now time.Time) bool {
	b.left = min(receivedAtOnce, b.left+now.Sub(b.at).Seconds()*receivedRate)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
