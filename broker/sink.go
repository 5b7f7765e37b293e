package broker

import (
	"context"
	"net/netip"
)

// Sink is what the broker reports to; Intake implements it for an Engine. Its methods are
// called concurrently for different clients and in order for one: Login,
// Connected, any number of Ingest, Disconnected. Connected of a client's new
// connection comes after Disconnected of its earlier one.
type Sink interface {
	// Login returns who the credentials belong to. An error refuses the
	// connection and comes back in Refused; a fault other than Unavailable means
	// wrong credentials, anything else tells the client to try again later.
	Login(ctx context.Context, c Credentials) (Identity, error)
	Connected(id Identity, s Session)
	// Disconnected is called with the reason in words.
	Disconnected(id Identity, reason string)
	// Ingest takes a message, durably if its QoS is 1: nil acknowledges it. After
	// an error a message of QoS 1 is not acknowledged and the connection is
	// closed, so that the client sends it again. The payload may be kept. A call
	// that takes long delays this client only. An integration user's message is
	// passed on to other integration users afterwards.
	Ingest(ctx context.Context, id Identity, topic string, payload []byte, qos byte) error
	// Refused is called for everything that a client was not allowed to do: of a hostile
	// client as often as its rate limit lets it try.
	Refused(r Refusal)
}

// Credentials are what a client shows in its CONNECT.
type Credentials struct {
	ClientID string
	Username string
	Password string // the device's token, or the integration user's password
	Addr     netip.Addr
}

// Session describes an accepted connection.
type Session struct {
	Addr    netip.Addr
	Version byte // 4 = MQTT 3.1.1, 5
}

// Act is what a client tried when it was refused.
type Act string

// The acts that can be refused.
const (
	ActLogin     Act = "login"     // wrong credentials, or a client id or will that is not the client's own
	ActPublish   Act = "publish"   // a topic that is not the client's own
	ActSubscribe Act = "subscribe" // a filter that is not the client's own, or one too many
	ActPacket    Act = "packet"    // a packet against the rules of MQTT, or too large; the connection was closed
)

// Refusal is one thing that a client was not allowed to do.
type Refusal struct {
	Identity Identity // zero for ActLogin
	ClientID string   // as sent, of a stranger the first 64 bytes; valid UTF-8 without controls
	Addr     netip.Addr
	Act      Act
	Reason   string // a topic or filter (at most 512 bytes), or what was wrong
}
