package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/gorilla/websocket"
)

// relayRole is what a user would put behind a broker for viewers: a subscriber with a library for MQTT and one for
// JSON, which decodes each message and sends what a viewer needs of it to the websocket at the path of its topic. It
// decides nothing about motion.
type relayRole struct {
	addr   net.Addr
	client paho.Client
	server *http.Server

	mu      sync.Mutex
	viewers map[string]*websocket.Conn // by topic
	err     error                      // the first one
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relayRole{addr: l.Addr(), viewers: map[string]*websocket.Conn{}}
	r.server = &http.Server{Handler: r}
	go func() { _ = r.server.Serve(l) }() // until it is closed
	r.client = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + args[1]).SetClientID("relay"))
	if err := finished(r.client.Connect()); err != nil {
		return nil, errors.Join(err, r.server.Close())
	}
	return r, finished(r.client.Subscribe("#", 0, r.receive))
}

// ServeHTTP makes the request the viewer of a topic.
func (r *relayRole) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(w, request, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.err = err
		return
	}
	r.viewers[strings.TrimPrefix(request.URL.Path, "/")] = conn
}

// receive decodes a message and sends it on.
func (r *relayRole) receive(_ paho.Client, message paho.Message) {
	var m relayed
	err := json.Unmarshal(message.Payload(), &m)
	r.mu.Lock()
	defer r.mu.Unlock()
	viewer := r.viewers[message.Topic()]
	if viewer == nil && err == nil {
		err = fmt.Errorf("nobody views %s", message.Topic())
	}
	if err == nil {
		err = viewer.WriteJSON(m)
	}
	if r.err == nil {
		r.err = err
	}
}

func (r *relayRole) do(what string, n int) (map[string]float64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch what {
	case "port":
		return map[string]float64{"port": float64(r.addr.(*net.TCPAddr).Port)}, nil
	case "error":
		return nil, r.err
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

func (r *relayRole) close() error {
	r.client.Disconnect(100)
	return r.server.Close()
}
