package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/eclipse/paho.golang/packets"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// errGone says that the connection has ended.
var errGone = errors.New("the connection is gone")

// device is one MQTT session of a device. Its packet ids are taken from a counter
// that all sessions share, so that an acknowledgement names its message alone.
type device struct {
	key      motion.DeviceKey
	conn     net.Conn
	ids      *atomic.Uint32
	commands chan wire.Manage
	gone     chan struct{} // closed when the connection ends

	mu      sync.Mutex
	waiting map[uint16]chan struct{}
}

// connect opens a session and subscribes to the device's commands.
func connect(ctx context.Context, address string, key motion.DeviceKey, token string, ids *atomic.Uint32) (*device, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	d := &device{
		key: key, conn: packets.NewThreadSafeConn(conn), ids: ids,
		commands: make(chan wire.Manage, 1024), gone: make(chan struct{}), waiting: map[uint16]chan struct{}{},
	}
	hello := &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, ClientID: key.ID, KeepAlive: 60, CleanStart: true,
		UsernameFlag: true, Username: "device", PasswordFlag: true, Password: []byte(token), Properties: &packets.Properties{},
	}
	if _, err := hello.WriteTo(d.conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	answer, err := packets.ReadPacket(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if accepted, ok := answer.Content.(*packets.Connack); !ok || accepted.ReasonCode != 0 {
		return nil, errors.Join(fmt.Errorf("%s is not let in: %v", key, answer), conn.Close())
	}
	go d.read()
	id, answered := d.expect()
	commands := packets.SubOptions{Topic: wire.CommandFilter(key), QoS: 1}
	wish := &packets.Subscribe{PacketID: id, Properties: &packets.Properties{}, Subscriptions: []packets.SubOptions{commands}}
	if _, err := wish.WriteTo(d.conn); err != nil {
		return nil, err
	}
	return d, d.wait(ctx, answered)
}

// expect returns a new packet id and what is closed when it is answered.
func (d *device) expect() (uint16, <-chan struct{}) {
	id := uint16(d.ids.Add(1)%65535) + 1
	answered := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[id] = answered
	return id, answered
}

func (d *device) wait(ctx context.Context, answered <-chan struct{}) error {
	select {
	case <-answered:
		return nil
	case <-d.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read takes what the broker sends until the connection ends.
func (d *device) read() {
	defer close(d.gone)
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

func (d *device) answered(id uint16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if answered, ok := d.waiting[id]; ok {
		delete(d.waiting, id)
		close(answered)
	}
}

// command acknowledges a command and passes management on.
func (d *device) command(p *packets.Publish) {
	if p.QoS == 1 {
		ack := &packets.Puback{PacketID: p.PacketID, Properties: &packets.Properties{}}
		_, _ = ack.WriteTo(d.conn) // the reader meets the error
	}
	topic, err := wire.ParseTopic(p.Topic)
	var manage wire.Manage
	if err != nil || topic.Name != wire.CommandManage || json.Unmarshal(p.Payload, &manage) != nil {
		return
	}
	select {
	case d.commands <- manage:
	default: // nobody takes them
	}
}

// publish sends a report; of one with an acknowledgement it waits for that and
// returns its receipt.
func (d *device) publish(ctx context.Context, qos byte, report motion.Report) (receipt, error) {
	event, format, payload, err := wire.Encode(report)
	if err != nil {
		return "", err
	}
	message := &packets.Publish{Topic: wire.EventTopic(d.key, event, format), Payload: payload, QoS: qos, Properties: &packets.Properties{}}
	var answered <-chan struct{}
	if qos > 0 {
		message.PacketID, answered = d.expect()
	}
	var whole bytes.Buffer // in one write
	if _, err := message.WriteTo(&whole); err != nil {
		return "", err
	}
	if _, err := d.conn.Write(whole.Bytes()); err != nil || qos == 0 {
		return "", err
	}
	return ofPacket(message.PacketID), d.wait(ctx, answered)
}
