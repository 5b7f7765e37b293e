package broker

import (
	"errors"
	"fmt"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"

	"github.com/mochi-mqtt/server/v2/packets"
)

// Send publishes a command to a device at QoS 1, on
// iot-2/type/{mqType}/id/{id}/cmd/{command}/fmt/json. A retained command is given to the
// device at every subscription until another of its name replaces it, an empty one removes it.
// Any other command needs a device that is connected and subscribed (fault.Unavailable).
// Success does not mean that the device has received it: commands are acknowledged and
// repeated above MQTT.
func (s *Server) Send(d motion.DeviceKey, command string, payload []byte, retain bool) error {
	topic := wire.CommandTopic(d, command)
	if len(payload) > s.cfg.Guard.MaxPacket/2 {
		return fault.New(fault.TooLarge, "command %s: %d bytes are too many", command, len(payload))
	}
	_, connected := s.sessions.get(Identity{Device: d}.String()) // the library forgets subscriptions a moment later
	switch {
	case retain:
	case !connected:
		return fault.New(fault.Unavailable, "device %s is not connected", d)
	case len(s.mqtt.Topics.Subscribers(topic).Subscriptions) == 0:
		return fault.New(fault.Unavailable, "device %s has not subscribed to its commands", d)
	}
	if err := s.inject(topic, payload, retain); err != nil {
		return fmt.Errorf("publish command: %w", err)
	}
	return nil
}

// inject publishes a message of the appliance's own at QoS 1.
func (s *Server) inject(topic string, payload []byte, retain bool) error {
	if retain {
		s.retainedLock.Lock()
		defer s.retainedLock.Unlock()
	}
	return s.mqtt.InjectPacket(s.local, packets.Packet{
		FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1, Retain: retain},
		TopicName:   topic,
		Payload:     payload,
		PacketID:    1, // the library wants one and does not use it
	})
}

// Disconnect closes the connection of a device, if any, and gives the sink the
// reason. It does not wait for its end. The device may come back unless Login
// refuses it.
func (s *Server) Disconnect(d motion.DeviceKey, reason string) {
	s.kick(reason, func(id Identity) bool { return id.Device == d })
}

// DisconnectUser ends an integration user who was removed: it closes their connections in the same way,
// whose wills are not published, and removes what they have had retained.
func (s *Server) DisconnectUser(name, reason string) {
	own := func(id Identity) bool { return !id.IsDevice() && id.User == name }
	for _, client := range s.sessions.matching(own) {
		client.over.Store(true)
	}
	s.kick(reason, own)
	s.retainedLock.Lock() // waits for what is being published now
	defer s.retainedLock.Unlock()
	for _, topic := range s.retained.dropUser(name) {
		s.mqtt.Topics.RetainMessage(packets.Packet{TopicName: topic})
	}
}

// kick closes the connections of the identities that match.
func (s *Server) kick(reason string, match func(Identity) bool) {
	for _, client := range s.sessions.matching(match) {
		client.conn.Kick(packets.ErrAdministrativeAction.Code, errors.New(reason))
	}
}
