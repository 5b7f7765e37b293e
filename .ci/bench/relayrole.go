package main

import (
	"encoding/json"
	"errors"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/gorilla/websocket"
)

// relayRole is what a user would put behind a broker for viewers: a subscriber with a library for MQTT and one for
// JSON, which decodes each message and sends what a viewer needs of it to the websocket at the path of its topic. It
// decides nothing about motion.
type relayRole struct {
	*outlets
	client paho.Client
}

// relayed is what a viewer gets of a message.
type relayed struct {
	TS       float64        `json:"ts"`
	Interval int            `json:"interval"`
	Links    []string       `json:"links"`
	Data     map[string]any `json:"data"`
}

// newRelayRole connects and listens: directory, address of the broker.
func newRelayRole(args []string) (role, error) {
	o, err := newOutlets()
	if err != nil {
		return nil, err
	}
	r := &relayRole{o, paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + args[1]).SetClientID("relay"))}
	if err := finished(r.client.Connect()); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return r, finished(r.client.Subscribe("#", 0, r.receive))
}

// receive decodes a message and sends it on.
func (r *relayRole) receive(_ paho.Client, message paho.Message) {
	var m relayed
	err := json.Unmarshal(message.Payload(), &m)
	r.send(message.Topic(), func(viewer *websocket.Conn) error {
		if err != nil {
			return err
		}
		return viewer.WriteJSON(m)
	})
}

func (r *relayRole) close() error {
	r.client.Disconnect(100)
	return r.outlets.close()
}
