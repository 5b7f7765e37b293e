package broker

import (
	"errors"
	"fmt"
	"strings"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// Subscriptions that one connection may hold (device-protocol.md 2
// no. 1).
const (
	maxDeviceSubscriptions      = 32
	maxIntegrationSubscriptions = 1024
)

// Identity is who a connection belongs to: a device, or an integration user.
type Identity struct {
	Device motion.DeviceKey // zero for an integration user
	User   string           // name of the integration user, empty for a device
	Prefix string           // the integration user's topics are those below Prefix + "/"
	// Discovery is not empty for a Home Assistant: of its topics it writes commands and its status alone,
	// and it reads those below Discovery + "/" too (motion.UserTopics).
	Discovery string
	Client    string // client id of an integration user, which may connect several times
}

// IsDevice reports whether id is a device.
func (id Identity) IsDevice() bool { return id.Device != motion.DeviceKey{} }

// String returns a name that is unique among devices and users.
func (id Identity) String() string {
	if id.IsDevice() {
		return id.Device.String()
	}
	return "user/" + id.User
}

// bind checks that id makes sense and that the client id belongs to it: a
// device's is its own id, an integration user may choose any.
func (id Identity) bind(clientID string) error {
	if id.IsDevice() {
		switch {
		case !wire.ValidID(id.Device.ID):
			return fmt.Errorf("device id %.80q cannot stand in a topic", id.Device.ID)
		case clientID != id.Device.ID:
			return fmt.Errorf("client id %.80q is not the device's own", clientID)
		}
		return nil
	}
	if id.User == "" {
		return errors.New("neither a device nor a user")
	}
	for i, prefix := range []string{id.Prefix, id.Discovery} {
		first, _, _ := strings.Cut(prefix, "/")
		if unused := i == 1 && prefix == ""; !unused && (first == "" || first == "iot-2" || first[0] == '$' || strings.ContainsAny(prefix, "+#")) {
			return fmt.Errorf("topic prefix %.80q cannot be a user's", prefix)
		}
	}
	return nil
}

// rights are the topics of an identity, worked out once per connection.
type rights struct {
	publish       string // prefix of every topic it may publish
	subscribe     string // prefix of every filter it may subscribe
	discovery     string // of a Home Assistant: prefix of further filters
	subscriptions int
}

func (id Identity) rights() rights {
	if !id.IsDevice() {
		r := rights{publish: id.Prefix + "/", subscribe: id.Prefix + "/", subscriptions: maxIntegrationSubscriptions}
		if id.Discovery != "" {
			r.discovery = id.Discovery + "/"
		}
		return r
	}
	root := wire.DeviceRoot(id.Device)
	return rights{publish: root + "evt/", subscribe: root + "cmd/", subscriptions: maxDeviceSubscriptions}
}

func (r rights) mayPublish(topic string) bool {
	if r.discovery != "" {
		return topic == r.discovery+"status" || below(topic, r.publish) && strings.HasSuffix(topic, "/set")
	}
	return below(topic, r.publish)
}

// maySubscribe reports whether everything that matches filter is the client's
// own: a filter below a literal prefix cannot leave it.
func (r rights) maySubscribe(filter string) bool {
	return below(filter, r.subscribe) || r.discovery != "" && below(filter, r.discovery)
}

func below(topic, prefix string) bool {
	return len(topic) > len(prefix) && strings.HasPrefix(topic, prefix)
}
