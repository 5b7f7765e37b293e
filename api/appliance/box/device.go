package box

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/eclipse/paho.golang/packets"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// ErrGone says that the connection has ended.
var ErrGone = errors.New("the connection is gone")

// Device is one MQTT session of a device, or of an integration user. Packet ids are
// taken from a counter that sessions may share, so that an acknowledgement names its
// message alone. All methods may be called concurrently.
type Device struct {
	Key      motion.DeviceKey
	Commands chan wire.Manage // what came of management; beyond 1024 unread it is dropped
	Gone     chan struct{}    // closed when the connection ends

	conn net.Conn
	ids  *atomic.Uint32

	writing sync.Mutex // over a packet

	mu      sync.Mutex
	waiting map[uint16]chan struct{}
}

// Login is what a client says of itself in its CONNECT.
type Login struct{ ClientID, Username, Password string }

// Dialer opens connections, plain (net.Dialer) or over TLS (tls.Dialer).
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial opens a session with a raw connection, for a client of MQTT 5.
func Dial(ctx context.Context, dialer Dialer, address string, l Login) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	hello := &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, ClientID: l.ClientID, KeepAlive: 60, CleanStart: true,
		UsernameFlag: true, Username: l.Username, PasswordFlag: true, Password: []byte(l.Password), Properties: &packets.Properties{},
	}
	if _, err := hello.WriteTo(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	answer, err := packets.ReadPacket(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if accepted, ok := answer.Content.(*packets.Connack); !ok || accepted.ReasonCode != 0 {
		return nil, errors.Join(fmt.Errorf("%s is not let in: %v", l.ClientID, answer), conn.Close())
	}
	return conn, nil
}

// Connect opens a session of a device and subscribes to its commands.
func Connect(ctx context.Context, address string, key motion.DeviceKey, token string, ids *atomic.Uint32) (*Device, error) {
	conn, err := Dial(ctx, &net.Dialer{}, address, Login{key.ID, motion.UserOfDevices, token})
	if err != nil {
		return nil, err
	}
	return open(ctx, conn, key, ids)
}

// open reads from a connection that is let in and subscribes to the commands.
func open(ctx context.Context, conn net.Conn, key motion.DeviceKey, ids *atomic.Uint32) (*Device, error) {
	d := &Device{
		Key: key, Commands: make(chan wire.Manage, 1024), Gone: make(chan struct{}),
		conn: conn, ids: ids, waiting: map[uint16]chan struct{}{},
	}
	go d.read()
	id, answered := d.expect()
	commands := packets.SubOptions{Topic: wire.CommandFilter(key), QoS: 1}
	wish := &packets.Subscribe{PacketID: id, Properties: &packets.Properties{}, Subscriptions: []packets.SubOptions{commands}}
	if err := d.send(wish); err != nil {
		return nil, err
	}
	return d, d.wait(ctx, answered)
}

// send writes a packet whole: packets of the library write themselves in pieces,
// and the reader's acknowledgements go out beside what is published.
func (d *Device) send(packet io.WriterTo) error {
	var whole bytes.Buffer
	if _, err := packet.WriteTo(&whole); err != nil {
		return err
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	_, err := d.conn.Write(whole.Bytes())
	return err
}

// Close ends the session and waits for its end.
func (d *Device) Close() {
	_ = d.conn.Close()
	<-d.Gone
}

// expect returns a new packet id and what is closed when it is answered.
func (d *Device) expect() (uint16, <-chan struct{}) {
	id := uint16(d.ids.Add(1)%65535) + 1
	answered := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[id] = answered
	return id, answered
}

func (d *Device) wait(ctx context.Context, answered <-chan struct{}) error {
	select {
	case <-answered:
		return nil
	case <-d.Gone:
		return ErrGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read takes what the broker sends until the connection ends.
func (d *Device) read() {
	defer close(d.Gone)
	for {
		packet, err := packets.ReadPacket(d.conn)
		if err != nil {
			return
		}
		switch p := packet.Content.(type) {
		case *packets.Suback:
			d.answered(p.PacketID)
		case *packets.Puback:
			d.answered(p.PacketID)
		case *packets.Publish:
			d.command(p)
		}
	}
}

func (d *Device) answered(id uint16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if answered, ok := d.waiting[id]; ok {
		delete(d.waiting, id)
		close(answered)
	}
}

// command acknowledges a command and passes management on.
func (d *Device) command(p *packets.Publish) {
	if p.QoS == 1 {
		ack := &packets.Puback{PacketID: p.PacketID, Properties: &packets.Properties{}}
		_ = d.send(ack) // the reader meets the error
	}
	topic, err := wire.ParseTopic(p.Topic)
	var manage wire.Manage
	if err != nil || topic.Name != wire.CommandManage || json.Unmarshal(p.Payload, &manage) != nil {
		return
	}
	select {
	case d.Commands <- manage:
	default: // nobody takes them
	}
}

// Publish sends a report; of one with an acknowledgement it waits for that. It
// returns the packet id, 0 without an acknowledgement, and ErrGone when the
// connection ended before.
func (d *Device) Publish(ctx context.Context, qos byte, report motion.Report) (uint16, error) {
	event, format, payload, err := wire.Encode(report)
	if err != nil {
		return 0, err
	}
	return d.PublishTo(ctx, qos, wire.EventTopic(d.Key, event, format), payload)
}

// PublishTo is Publish for any topic and payload.
func (d *Device) PublishTo(ctx context.Context, qos byte, topic string, payload []byte) (uint16, error) {
	message := &packets.Publish{Topic: topic, Payload: payload, QoS: qos, Properties: &packets.Properties{}}
	var answered <-chan struct{}
	if qos > 0 {
		message.PacketID, answered = d.expect()
	}
	if err := d.send(message); err != nil || qos == 0 {
		return 0, err
	}
	return message.PacketID, d.wait(ctx, answered)
}
