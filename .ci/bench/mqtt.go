package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"sensegate/broker/guard/guardtest"
	"sensegate/broker/wire"
	"sensegate/motion"
)

// nodeName is the access point of each home.
const nodeName = "GWA1000133"

// client is a cheap MQTT 3.1.1 connection.
type client struct {
	net.Conn
	in *bufio.Reader
	n  int // bytes of the last packet's body
}

// dial connects as a device; for a broker without passwords its token is empty.
func dial(addr string, d device) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, in: bufio.NewReaderSize(conn, 1024)}
	hello := guardtest.Connect{ClientID: d.key.ID, KeepAlive: 600}
	if d.token != "" {
		hello.Username, hello.Password = "device", d.token
	}
	if _, err := conn.Write(hello.Bytes()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	body, err := c.await(0x20)
	if err == nil && (len(body) < 2 || body[1] != 0) {
		err = fmt.Errorf("%s is refused: % x", d.key.ID, body)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// dialAll connects many devices.
func dialAll(addr string, devices []device) ([]*client, error) {
	var all []*client
	for _, d := range devices {
		c, err := dial(addr, d)
		if err != nil {
			return nil, errors.Join(err, hangUp(all))
		}
		all = append(all, c)
	}
	return all, nil
}

// hangUp sends DISCONNECT on many connections and closes them.
func hangUp(all []*client) error {
	var err error
	for _, c := range all {
		_, gone := c.Write([]byte{0xe0, 0})
		err = errors.Join(err, gone, c.Close())
	}
	return err
}

// subscribe subscribes to a filter and waits for the acknowledgement.
func (c *client) subscribe(filter string, qos byte) error {
	if _, err := c.Write(guardtest.Subscribe(4, qos, filter)); err != nil {
		return err
	}
	_, err := c.await(0x90)
	return err
}

// await reads packets up to one of a type and returns its body, valid until the next
// call.
func (c *client) await(first byte) ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	for {
		got, body, err := c.packet()
		if err != nil || got&0xf0 == first {
			return body, err
		}
	}
}

// acknowledge reads what comes within d and acknowledges messages of QoS 1.
func (c *client) acknowledge(d time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	for {
		first, body, err := c.packet()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err == nil && first&0xf6 == 0x32 {
			if len(body) < 2 || len(body) < 4+int(binary.BigEndian.Uint16(body)) {
				return fmt.Errorf("a message without an id: % x", body)
			}
			id := body[2+int(binary.BigEndian.Uint16(body)):]
			_, err = c.Write(guardtest.Puback(binary.BigEndian.Uint16(id)))
		}
		if err != nil {
			return err
		}
	}
}

// packet reads a packet; its body is valid until the next call.
func (c *client) packet() (first byte, body []byte, err error) {
	if _, err := c.in.Discard(c.n); err != nil { // the last one's body
		return 0, nil, err
	}
	c.n = 0
	if first, err = c.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := c.in.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		if size |= int(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	if size > c.in.Size() {
		body = make([]byte, size)
		_, err = io.ReadFull(c.in, body)
		return first, body, err
	}
	c.n = size
	body, err = c.in.Peek(size)
	return first, body, err
}

// topicOf returns the topic of a device's motion matrix.
func topicOf(d device) string { return wire.EventTopic(d.key, wire.EventMatrix, wire.FormatJSON) }

// matrix returns a guardian's motion message of count steps for the 6 links of a home.
func matrix(at motion.Time, count int) (string, error) {
	m := &motion.Matrix{TS: at, Interval: 500, Count: count, MotionEnabled: 1}
	columns := make([][]float64, links)
	for l := range columns {
		m.Links = append(m.Links, fmt.Sprintf("%s.02bb000000%02x", nodeName, l))
		for step := range count {
			columns[l] = append(columns[l], float64((int(at.Micros())/1000+7*l+step)%50)/1000)
		}
	}
	m.Values[motion.MKAI], m.Values[motion.LRaw] = columns, columns
	_, _, payload, err := wire.Encode(m)
	return string(payload), err
}
