package broker

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// Engine is what the broker needs of the product.
type Engine interface {
	// Login returns the device that has the id and the token.
	Login(ctx context.Context, id, token string) (motion.DeviceKey, error)
	// LoginUser returns the topics of an integration user.
	LoginUser(ctx context.Context, name, password string) (motion.UserTopics, error)
	Connected(device motion.DeviceKey, address netip.Addr)
	Disconnected(device motion.DeviceKey, reason string)
	// Report stores a report and acts on it; the report is valid until it returns. A fault other than Unavailable is the device's
	// mistake; after any other error the device has to send the report again.
	Report(ctx context.Context, device motion.DeviceKey, report motion.Report) error
	// BadInput counts what was wrong with a message, or was refused.
	BadInput(device, reason string, message []byte)
}

// Intake is the Sink in front of an Engine: it tells devices from integration
// users and decodes what devices send. Messages that cannot be read are
// acknowledged, since sending them again would not help, and counted.
type Intake struct {
	Engine Engine
	Users  Users // nil: nobody
}

// Users is told of what integration users do.
type Users interface {
	UserConnected(name, client string, at netip.Addr)
	// UserSaid is called with the user's prefix and the topic below it.
	UserSaid(name, client, prefix, topic string, payload []byte)
	UserGone(name, client string)
}

// Login tells devices from integration users by their user name.
func (i Intake) Login(ctx context.Context, c Credentials) (Identity, error) {
	if c.Username == motion.UserOfDevices {
		device, err := i.Engine.Login(ctx, c.ClientID, c.Password)
		return Identity{Device: device}, err
	}
	topics, err := i.Engine.LoginUser(ctx, c.Username, c.Password)
	return Identity{User: c.Username, Prefix: topics.Prefix, Discovery: topics.Discovery, Client: c.ClientID}, err
}

// tells reports whether Users is told of a user: Home Assistant is never a node.
func (i Intake) tells(id Identity) bool { return i.Users != nil && id.Discovery == "" }

// Connected passes on a session.
func (i Intake) Connected(id Identity, s Session) {
	if id.IsDevice() {
		i.Engine.Connected(id.Device, s.Addr)
	} else if i.tells(id) {
		i.Users.UserConnected(id.User, id.Client, s.Addr)
	}
}

// Disconnected passes on the end of a session.
func (i Intake) Disconnected(id Identity, reason string) {
	if id.IsDevice() {
		i.Engine.Disconnected(id.Device, reason)
	} else if i.tells(id) {
		i.Users.UserGone(id.User, id.Client)
	}
}

// Ingest decodes a device's message and reports it to the engine. That of a user may tell of motion too.
func (i Intake) Ingest(ctx context.Context, id Identity, topic string, payload []byte, _ byte) error {
	if !id.IsDevice() {
		if i.tells(id) {
			i.Users.UserSaid(id.User, id.Client, id.Prefix, strings.TrimPrefix(topic, id.Prefix+"/"), payload)
		}
		return nil
	}
	err := i.report(ctx, id.Device, topic, payload)
	if kind := fault.KindOf(err); kind != 0 && kind != fault.Unavailable {
		i.Engine.BadInput(id.String(), err.Error(), payload)
		return nil
	}
	return err
}

// decoders are used again: the engine is done with a report when Report returns.
var decoders = sync.Pool{New: func() any { return new(wire.Decoder) }}

func (i Intake) report(ctx context.Context, device motion.DeviceKey, topic string, payload []byte) error {
	t, err := wire.ParseTopic(topic)
	if err != nil {
		return err
	}
	decoder := decoders.Get().(*wire.Decoder)
	defer decoders.Put(decoder)
	report, err := decoder.Decode(t, payload)
	if err != nil {
		return err
	}
	return i.Engine.Report(ctx, device, report)
}

// Refused counts a refusal with the device it concerns: the one that was
// connected, or the one it claimed to be.
func (i Intake) Refused(r Refusal) {
	who := r.Identity.String()
	if !r.Identity.IsDevice() && r.Identity.User == "" {
		who = "client/" + r.ClientID
	}
	i.Engine.BadInput(who, string(r.Act)+" refused: "+r.Reason, nil)
}
