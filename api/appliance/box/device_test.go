package box

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"

	"github.com/eclipse/paho.golang/packets"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// broker plays the other side of a pipe: there each read returns what one write
// wrote.
type broker struct {
	net.Conn
	t *testing.T
}

// packet returns the packet of the next write, which must be whole and alone.
func (b broker) packet() *packets.ControlPacket {
	written := make([]byte, 64<<10)
	n, err := b.Read(written)
	if err != nil {
		b.t.Error(err)
		return nil
	}
	rest := bytes.NewReader(written[:n])
	packet, err := packets.ReadPacket(rest)
	if err != nil || rest.Len() > 0 {
		b.t.Errorf("one write of % x (%v), want one whole packet", written[:n], err)
		return nil
	}
	return packet
}

func (b broker) say(packetType byte, fill func(*packets.ControlPacket)) {
	packet := packets.NewControlPacket(packetType)
	fill(packet)
	var whole bytes.Buffer
	if _, err := packet.WriteTo(&whole); err != nil {
		b.t.Error(err)
	}
	if _, err := b.Write(whole.Bytes()); err != nil {
		b.t.Error(err)
	}
}

func TestDeviceWritesPacketsWhole(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	b := broker{there, t}
	key := motion.DeviceKey{Kind: motion.Guardian, ID: "guardian-aabbccddeeff"}
	commanded, published, played := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(played)
		defer there.Close()
		subscribe := b.packet()
		if subscribe == nil {
			return
		}
		b.say(packets.SUBACK, func(p *packets.ControlPacket) {
			answer := p.Content.(*packets.Suback)
			answer.PacketID, answer.Reasons = subscribe.PacketID(), []byte{1}
		})
		<-commanded
		b.say(packets.PUBLISH, func(p *packets.ControlPacket) {
			command := p.Content.(*packets.Publish)
			command.Topic, command.QoS, command.PacketID = "of/no/meaning", 1, 9
		})
		var event uint16
		for range 2 { // the acknowledgement and the event, in either order
			switch p := b.packet(); {
			case p == nil:
				return
			case p.Type == packets.PUBLISH:
				event = p.PacketID()
			case p.Type != packets.PUBACK || p.PacketID() != 9:
				t.Errorf("%v, want the acknowledgement of 9", p)
			}
		}
		b.say(packets.PUBACK, func(p *packets.ControlPacket) { p.Content.(*packets.Puback).PacketID = event })
		<-published // until then the connection stays
	}()
	d, err := open(t.Context(), here, key, &atomic.Uint32{})
	if err != nil {
		t.Fatal(err)
	}
	close(commanded)
	if _, err := d.PublishTo(t.Context(), 1, wire.EventTopic(key, wire.EventEvent, wire.FormatJSON), []byte("{}")); err != nil {
		t.Error(err)
	}
	close(published)
	<-played
	d.Close()
}
