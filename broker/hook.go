package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sensegate/broker/guard"
	"sensegate/motion/fault"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// loginTimeout bounds a call of Sink.Login.
const loginTimeout = 5 * time.Second

// hook is the server's only hook in the library. It decides who may connect, publish and
// subscribe.
type hook struct {
	*guard.Hook
	*Server
}

// ID names the hook in the library's log.
func (h *hook) ID() string { return "policy" }

// Provides reports which methods the library has to call.
func (h *hook) Provides(method byte) bool {
	switch method {
	case mqtt.OnConnectAuthenticate, mqtt.OnSessionEstablished, mqtt.OnACLCheck, mqtt.OnSubscribe,
		mqtt.OnPublish, mqtt.OnPacketRead, mqtt.OnWill, mqtt.OnWillSent, mqtt.OnPacketProcessed, mqtt.OnRetainedExpired:
		return true
	}
	return h.Hook.Provides(method)
}

// OnConnectAuthenticate lets a client in whose credentials, client id and will
// belong together.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	conn, ok := cl.Net.Conn.(*guard.Conn)
	if !ok {
		return false
	}
	cred := Credentials{
		ClientID: pk.Connect.ClientIdentifier,
		Username: string(pk.Connect.Username),
		Password: string(pk.Connect.Password),
		Addr:     guard.AddrOf(conn.RemoteAddr()),
	}
	id, err := h.login(cred, pk)
	if err != nil {
		h.refuseLogin(cl, cred, err)
		return false
	}
	s := &session{
		key:      id.String(),
		identity: id,
		clientID: cred.ClientID,
		rights:   id.rights(),
		conn:     conn,
		info:     Session{Addr: cred.Addr, Version: cl.Properties.ProtocolVersion},
	}
	if !id.IsDevice() {
		s.key += "/" + cl.ID
		conn.AllowPackets(maxIntegrationPacket)
		conn.Share(h.budgets.of(id.User))
	}
	takeOver(cl, s)
	h.sessions.add(s)
	conn.OnEnd(func(reason error) { h.ended(s, reason) })
	conn.OnStall(func() (resume func()) { // so that a slow reader delays nobody else
		h.retainedLock.release(&s.holder)
		return func() { h.retainedLock.acquire(&s.holder, reading) }
	})
	return id.IsDevice() || h.stillUser(cl, cred, pk)
}

// stillUser checks the password of an integration user again, once DisconnectUser finds the session:
// a user that was removed after the first look had no session yet that could be ended. The engine
// does the same for devices.
func (h *hook) stillUser(cl *mqtt.Client, cred Credentials, pk packets.Packet) bool {
	_, err := h.login(cred, pk)
	if err != nil {
		h.refuseLogin(cl, cred, err)
	}
	return err == nil
}

func (h *hook) login(cred Credentials, pk packets.Packet) (Identity, error) {
	ctx, cancel := context.WithTimeout(h.ctx, loginTimeout)
	defer cancel()
	id, err := h.sink.Login(ctx, cred)
	if err != nil {
		return Identity{}, err
	}
	if err := id.bind(cred.ClientID); err != nil {
		return Identity{}, fault.New(fault.Forbidden, "%s", err)
	}
	if topic := pk.Connect.WillTopic; pk.Connect.WillFlag && !id.rights().mayPublish(topic) {
		return Identity{}, fault.New(fault.Forbidden, "will topic %.80q is not the client's own", topic)
	}
	return id, nil
}

// takeOver prepares the library's client for the session: the client gets a key that no other identity can
// have, and its session and the wait for its will end with its connection. A device's will is
// not retained.
func takeOver(cl *mqtt.Client, s *session) {
	cl.ID = s.key
	cl.Properties.Clean = true
	cl.Properties.Will.WillDelayInterval = 0
	if s.identity.IsDevice() {
		cl.Properties.Will.Retain = false
	}
}

// refuseLogin answers whether the client may try the same credentials again later; the
// library's own answer knows only wrong credentials.
func (h *hook) refuseLogin(cl *mqtt.Client, cred Credentials, err error) {
	code := packets.ErrBadUsernameOrPassword
	if kind := fault.KindOf(err); kind == 0 || kind == fault.Unavailable {
		code = packets.ErrServerUnavailable
		h.log.Warn("login failed", "addr", cred.Addr, "err", err)
	}
	h.refused(Refusal{ClientID: shortened(cred.ClientID), Addr: cred.Addr, Act: ActLogin, Reason: err.Error()})
	_ = h.mqtt.SendConnack(cl, code, false, nil) // the client may be gone
	cl.Stop(code)
}

// shortened returns a client id in at most 64 bytes of valid UTF-8.
func shortened(id string) string { return strings.ToValidUTF8(id[:min(len(id), 64)], "") }

// OnSessionEstablished reports the session once the client has its CONNACK.
func (h *hook) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	if s, ok := sessionOf(cl.Net.Conn); ok {
		s.live = true
		h.sink.Connected(s.identity, s.info)
	}
}

// ended reports the end of a session.
func (h *hook) ended(s *session, reason error) {
	h.sessions.remove(s)
	var violation *guard.Violation
	if errors.As(reason, &violation) {
		h.refusedBy(s, ActPacket, violation.Text)
	}
	h.retainedLock.release(&s.holder)
	if !s.identity.IsDevice() && errors.Is(reason, guard.ErrSlowReader) {
		h.budgets.freeSoon()
	}
	if s.live {
		h.sink.Disconnected(s.identity, reasonText(reason))
	}
}

// OnACLCheck decides on a topic to publish to (write), a filter to subscribe to,
// or a topic about to be delivered.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	s, ok := sessionOf(cl.Net.Conn)
	if !ok || s.conn.Closing() {
		return false
	}
	if write {
		return s.rights.mayPublish(topic) || s.keeps() || h.refusedBy(s, ActPublish, topic)
	}
	return s.rights.maySubscribe(topic) || h.refusedBy(s, ActSubscribe, topic)
}

// OnSubscribe refuses what goes beyond the number of subscriptions: the library
// answers an empty filter as invalid.
func (h *hook) OnSubscribe(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	s, ok := sessionOf(cl.Net.Conn)
	if !ok {
		return pk
	}
	pk.Filters = slices.Clone(pk.Filters)
	held := cl.State.Subscriptions.Len()
	for i, sub := range pk.Filters {
		if _, again := cl.State.Subscriptions.Get(sub.Filter); again {
			continue
		}
		if held++; held > s.rights.subscriptions {
			h.refusedBy(s, ActSubscribe, fmt.Sprintf("more than %d subscriptions", s.rights.subscriptions))
			pk.Filters[i].Filter = ""
		}
	}
	h.retainedLock.acquire(&s.holder, reading)
	return pk
}

// OnPublish takes a message before it is acknowledged. A device's message goes
// to the sink alone; an integration user's is also delivered and retained.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl.Net.Inline {
		return pk, nil
	}
	s, ok := sessionOf(cl.Net.Conn)
	if !ok {
		return pk, packets.ErrRejectPacket
	}
	if !s.rights.mayPublish(pk.TopicName) { // the resolved topic, should there ever be an alias
		h.refusedBy(s, ActPublish, pk.TopicName)
		if s.keeps() {
			return pk, packets.CodeSuccessIgnore
		}
		s.conn.Kick(packets.ErrNotAuthorized.Code, packets.ErrNotAuthorized)
		return pk, packets.ErrRejectPacket
	}
	if err := h.take(s, pk); err != nil {
		h.counters.notStored.Add(1)
		if pk.FixedHeader.Qos > 0 {
			s.conn.Kick(packets.ErrServerBusy.Code, fmt.Errorf("message not stored: %w", err))
		}
		return pk, packets.ErrRejectPacket
	}
	h.counters.ingested.Add(1)
	if s.identity.IsDevice() {
		return pk, packets.CodeSuccessIgnore
	}
	if pk.FixedHeader.Retain && !h.retain(s, pk) {
		if s.info.Version >= 5 && pk.FixedHeader.Qos > 0 {
			return pk, packets.ErrQuotaExceeded // its PUBACK says so
		}
		pk.FixedHeader.Retain = false // there is no way to say it: delivered and not retained
		h.outdated(pk.TopicName)
	}
	h.chargeQueues(pk.TopicName, len(pk.Payload), cl.ID)
	return pk, nil
}

// take passes a message to the sink and to the listeners of the appliance.
func (h *hook) take(s *session, pk packets.Packet) error {
	if err := h.sink.Ingest(h.ctx, s.identity, pk.TopicName, pk.Payload, pk.FixedHeader.Qos); err != nil {
		return err
	}
	if s.identity.IsDevice() {
		return nil
	}
	if err := h.listeners.hear(h.ctx, pk.TopicName, pk.Payload); err != nil {
		return err
	}
	h.ears.tell(Said{User: s.identity.User, Topic: pk.TopicName, Payload: pk.Payload})
	return nil
}

// noTopic is where the will of a user goes who was removed, as the library has no way not to publish it:
// nobody may subscribe to it, and no wildcard matches it.
const noTopic = "$removed"

// OnWill locks out subscriptions while a will is being retained, if there is room for it. That of a user
// who was removed is not published.
func (h *hook) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	s, ok := sessionOf(cl.Net.Conn)
	if ok && s.over.Load() {
		return mqtt.Will{TopicName: noTopic}, nil
	}
	if ok && will.Retain {
		pk := packets.Packet{TopicName: will.TopicName, Payload: will.Payload, Properties: packets.Properties{User: will.User}}
		if will.Retain = h.retain(s, pk); !will.Retain {
			h.outdated(will.TopicName)
		}
	}
	return will, nil
}

// OnWillSent passes a will, which the library publishes without OnPublish, to the sink. Nobody
// waits for its acknowledgement.
func (h *hook) OnWillSent(cl *mqtt.Client, pk packets.Packet) {
	s, ok := sessionOf(cl.Net.Conn)
	if !ok {
		return
	}
	h.retainedLock.release(&s.holder)
	if s.over.Load() {
		return
	}
	if err := h.take(s, pk); err != nil {
		h.counters.notStored.Add(1)
		h.log.Warn("will not stored", "client", s.key, "err", err)
		return
	}
	h.counters.ingested.Add(1)
}

// refusedBy reports a refusal and returns false.
func (h *hook) refusedBy(s *session, act Act, reason string) bool {
	h.refused(Refusal{Identity: s.identity, ClientID: s.clientID, Addr: s.info.Addr, Act: act, Reason: reason})
	return false
}

func (h *hook) refused(r Refusal) {
	h.counters.refused.Add(1)
	h.sink.Refused(r)
}
