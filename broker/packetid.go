package broker

import (
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// The packet ids of client and server are independent of each other (MQTT 3.1.1, 2.3.1). The library takes
// them for one: while a message to a client waits for its PUBACK, it refuses a SUBSCRIBE of the client
// with the same packet id. A client that subscribes to much, such as Home Assistant when it starts, would
// miss some of it. So that message is set aside while the packet is processed, which is what the
// goroutine does that would also read its PUBACK.

// OnPacketRead sets the message aside whose packet id a SUBSCRIBE or UNSUBSCRIBE has.
func (h *hook) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if pk.FixedHeader.Type != packets.Subscribe && pk.FixedHeader.Type != packets.Unsubscribe {
		return pk, nil
	}
	s, ok := sessionOf(cl.Net.Conn)
	if !ok {
		return pk, nil
	}
	if waiting, ok := cl.State.Inflight.Get(pk.PacketID); ok && cl.State.Inflight.Delete(pk.PacketID) {
		s.aside = &waiting
	}
	return pk, nil
}

// restore takes back what was set aside.
func (s *session) restore(cl *mqtt.Client) {
	if s.aside != nil {
		cl.State.Inflight.Set(*s.aside)
		s.aside = nil
	}
}
