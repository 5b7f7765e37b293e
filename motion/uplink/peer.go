// Package uplink sends what a household or an integrator asked for to brokers and services outside of
// the appliance: the broker that a house already runs, and the engine that many houses feed. Nothing
// leaves the appliance without an uplink, and an uplink does nothing but what its uses say.
package uplink

import (
	"context"
	"strings"
)

// Use is what an uplink is used for.
type Use string

// The uses.
const (
	HomeAssistant Use = "home_assistant" // entities for Home Assistant, their commands, and what it has of other makers
	Events        Use = "events"         // every event once it is stored, and the appliance's health
	History       Use = "history"        // motion of each minute, and the appliance's health
	Commands      Use = "commands"       // requests of the Core interface from afar
	Live          Use = "live"           // live motion, for a minute after each request for it (payloads.md 4.7)
)

// Message is an MQTT message.
type Message struct {
	Topic   string
	Payload []byte
	QoS     byte   // 0 or 1
	Retain  bool   // of a message that was received: the broker had kept it
	User    string // of a message that was received on the appliance's own broker: who has sent it
}

// Peer is a broker that an uplink is connected to, for as long as the connection lasts. Its methods may
// be called concurrently.
type Peer interface {
	// Publish sends a message and waits, at QoS 1 until the broker has acknowledged it. An error says
	// that it was not acknowledged, as ctx or the connection ended, or that the broker refused it.
	Publish(ctx context.Context, m Message) error
	// Offer sends a message at QoS 0 without waiting. The oldest of those that wait go when there are
	// too many, and are counted.
	Offer(m Message)
	// Subscribe has hear called with each message of the topics that match a filter, in order, until
	// the connection ends. hear must not wait for the Peer.
	Subscribe(ctx context.Context, filter string, hear func(Message)) error
}

// Part is what an uplink is used for. Run is called with each connection, ctx ends with it; Run returns
// nil then. After another error the connection is made anew, later. A method Removed, if there is one, is
// called when its uplink is changed or removed.
type Part interface {
	Run(ctx context.Context, peer Peer) error
}

// Lasting is a Part that follows something for as long as its uplink exists, connected or not.
type Lasting interface {
	// Watch begins to follow it until ctx ends; wait waits until it no longer does.
	Watch(ctx context.Context) (wait func())
}

// Introducer is a Part that tells a broker how all is before the appliance is online there: who
// looks at retained states then does not see those of before.
type Introducer interface {
	// Introduce is called before each Run, with the same peer.
	Introduce(ctx context.Context, peer Peer) error
}

// Matches reports whether a topic matches a filter (MQTT 3.1.1, 4.7).
func Matches(filter, topic string) bool {
	if strings.HasPrefix(topic, "$") && !strings.HasPrefix(filter, "$") {
		return false
	}
	for {
		f, filterRest, moreFilter := strings.Cut(filter, "/")
		if f == "#" {
			return true
		}
		t, topicRest, moreTopic := strings.Cut(topic, "/")
		if f != "+" && f != t {
			return false
		}
		if !moreTopic {
			return !moreFilter || filterRest == "#"
		}
		if !moreFilter {
			return false
		}
		filter, topic = filterRest, topicRest
	}
}
