package guard

import (
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// takeoverTimeout is how long a client waits for its own earlier connection to
// end, which may still be storing something.
const takeoverTimeout = 5 * time.Second

// Hook is the part of the guard that only a hook of the library can hold. A policy embeds it,
// calls its methods first where it overrides them, and adds OnConnectAuthenticate and
// OnACLCheck. A server has exactly one hook, because the library admits what any hook admits.
type Hook struct {
	mqtt.HookBase
	guard *Guard
}

// Hook returns the hook for the server whose listeners are g's. Call it once.
func (g *Guard) Hook(server *mqtt.Server) *Hook {
	g.server = server
	return &Hook{guard: g}
}

// ID names the hook in the library's log.
func (h *Hook) ID() string { return "guard" }

// Provides reports which methods the library has to call.
func (h *Hook) Provides(method byte) bool {
	switch method {
	case mqtt.OnConnect, mqtt.OnSessionEstablish, mqtt.OnPacketEncode, mqtt.OnPublishDropped,
		mqtt.OnRetainPublished, mqtt.OnClientExpired, mqtt.OnQosPublish, mqtt.OnQosComplete, mqtt.OnQosDropped:
		return true
	}
	return false
}

// OnConnect caps the keep-alive and switches off the library's send quota: with
// a quota, a client that acknowledges can deadlock every publisher (a recursive
// read lock in Inflight.NextImmediate).
func (h *Hook) OnConnect(cl *mqtt.Client, _ packets.Packet) error {
	cl.Properties.Props.ReceiveMaximum = 0
	cl.State.Inflight.ResetSendQuota(0)
	if longest := uint16(h.guard.cfg.KeepAlive / time.Second); cl.State.Keepalive == 0 || cl.State.Keepalive > longest {
		cl.State.Keepalive, cl.State.ServerKeepalive = longest, true
	}
	if c, ok := cl.Net.Conn.(*Conn); ok {
		c.OnEnd(func(error) { h.guard.forget(cl) })
	}
	return nil
}

// forget removes a client whose connection has ended. A session that is to outlive its connection stays.
func (g *Guard) forget(cl *mqtt.Client) {
	if known, ok := g.server.Clients.Get(cl.ID); !ok || known != cl || g.outlives(cl) {
		return
	}
	g.clear(cl)
	g.server.Clients.Delete(cl.ID)
}

func (g *Guard) outlives(cl *mqtt.Client) bool {
	if g.server.Options.Capabilities.MaximumSessionExpiryInterval == 0 {
		return false
	}
	if cl.Properties.ProtocolVersion == 5 {
		return cl.Properties.Props.SessionExpiryInterval > 0
	}
	return !cl.Properties.Clean
}

// OnSessionEstablish marks the client as let in, so that it gives way to nobody any more. It
// ends an earlier connection of the same client, and waits until the library has dropped it,
// so that its end cannot remove the new session.
func (h *Hook) OnSessionEstablish(cl *mqtt.Client, _ packets.Packet) {
	if c, ok := cl.Net.Conn.(*Conn); ok {
		c.place.Busy()
	}
	old, ok := h.guard.server.Clients.Get(cl.ID)
	if !ok {
		return
	}
	c, ok := old.Net.Conn.(*Conn)
	if !ok {
		return
	}
	c.Kick(packets.ErrSessionTakenOver.Code, ErrTakenOver)
	timer := time.NewTimer(takeoverTimeout)
	defer timer.Stop()
	select {
	case <-c.Done():
	case <-timer.C:
		cl.Stop(ErrTakenOver) // the client will try again
	}
}

// OnPacketEncode announces the guard's limits in the CONNACK, which the library
// leaves out, takes back what it should not return, and counts messages out
// of its queue.
func (h *Hook) OnPacketEncode(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	switch pk.FixedHeader.Type {
	case packets.Connack:
		if pk.ReasonCode == packets.CodeSuccess.Code {
			pk.Properties.MaximumPacketSize = uint32(h.guard.cfg.MaxPacket)
			if c, ok := cl.Net.Conn.(*Conn); ok {
				pk.Properties.MaximumPacketSize = uint32(c.largest)
			}
			pk.Properties.TopicAliasMaximum = h.guard.cfg.TopicAliasMaximum
		}
	case packets.Suback, packets.Unsuback:
		pk.Properties.User = nil // the library returns the client's own
	case packets.Publish:
		if c, ok := cl.Net.Conn.(*Conn); ok {
			c.taken(len(pk.Payload))
		}
	}
	return pk
}

// OnRetainPublished delays a client's next retained message until its socket has taken the
// earlier ones, so that the library's queue does not overflow.
func (h *Hook) OnRetainPublished(cl *mqtt.Client, pk packets.Packet) {
	if c, ok := cl.Net.Conn.(*Conn); ok {
		c.retain(len(pk.Payload))
	}
}

// OnQosPublish counts a message that the library keeps until it is acknowledged.
func (h *Hook) OnQosPublish(cl *mqtt.Client, pk packets.Packet, _ int64, _ int) {
	if c, ok := cl.Net.Conn.(*Conn); ok && pk.FixedHeader.Type == packets.Publish {
		c.sent(pk.PacketID, len(pk.Payload))
	}
}

// OnQosComplete ends what OnQosPublish began.
func (h *Hook) OnQosComplete(cl *mqtt.Client, pk packets.Packet) {
	if c, ok := cl.Net.Conn.(*Conn); ok {
		c.acknowledged(pk.PacketID)
	}
}

// OnQosDropped is OnQosComplete for a message that is given up.
func (h *Hook) OnQosDropped(cl *mqtt.Client, pk packets.Packet) { h.OnQosComplete(cl, pk) }

// OnPublishDropped closes a client whose queue in the library is full, unless only a message
// of QoS 0 was lost: otherwise the client would miss the message without knowing.
func (h *Hook) OnPublishDropped(cl *mqtt.Client, pk packets.Packet) {
	if c, ok := cl.Net.Conn.(*Conn); ok && pk.FixedHeader.Qos > 0 {
		h.guard.counters.slowReaders.Add(1)
		c.Kick(packets.ErrQuotaExceeded.Code, ErrSlowReader)
	}
}

// OnClientExpired removes what the library leaves of an expired session, which
// the next client of that id would inherit.
func (h *Hook) OnClientExpired(cl *mqtt.Client) { h.guard.clear(cl) }

func (g *Guard) clear(cl *mqtt.Client) {
	g.server.UnsubscribeClient(cl)
	cl.ClearInflights()
}
