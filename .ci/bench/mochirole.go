package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/gorilla/websocket"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// mochiRole is the MQTT library of the product's broker as it comes: what a connection takes there, no product that is
// built on it can save.
type mochiRole struct {
	server *mqtt.Server
	port   int
}

func newMochiRole([]string) (role, error) { return newMochi() }

// newMochi serves with hooks more.
func newMochi(hooks ...mqtt.Hook) (*mochiRole, error) {
	server := mqtt.New(&mqtt.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	for _, hook := range append(hooks, new(auth.AllowHook)) {
		if err := server.AddHook(hook, nil); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := server.AddListener(listeners.NewNet("bench", listener)); err != nil {
		return nil, err
	}
	return &mochiRole{server, listener.Addr().(*net.TCPAddr).Port}, server.Serve()
}

func (r *mochiRole) do(what string, _ int) (map[string]float64, error) {
	if what != "port" {
		return nil, fmt.Errorf("no such question: %s", what)
	}
	return map[string]float64{"port": float64(r.port)}, nil
}

func (r *mochiRole) close() error { return r.server.Close() }

// librariesRole is the fixed libraries of the product with nothing between them: the one for MQTT hands each message
// to the one for websockets as it is. What a message takes there, no product that is built on them can save.
type librariesRole struct {
	*mochiRole
	*outlets
}

// handOver is the hook between them.
type handOver struct {
	mqtt.HookBase
	to *outlets
}

func newLibrariesRole([]string) (role, error) {
	o, err := newOutlets()
	if err != nil {
		return nil, err
	}
	m, err := newMochi(&handOver{to: o})
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return &librariesRole{m, o}, nil
}

// Provides names the one method of the hook.
func (*handOver) Provides(method byte) bool { return method == mqtt.OnPublish }

// OnPublish sends a message to its viewer, and to nobody else.
func (h *handOver) OnPublish(_ *mqtt.Client, message packets.Packet) (packets.Packet, error) {
	h.to.send(message.TopicName, func(viewer *websocket.Conn) error {
		return viewer.WriteMessage(websocket.TextMessage, message.Payload)
	})
	return message, packets.CodeSuccessIgnore
}

func (r *librariesRole) do(what string, n int) (map[string]float64, error) {
	if what == "mqtt" {
		return r.mochiRole.do("port", n)
	}
	return r.outlets.do(what, n)
}

func (r *librariesRole) close() error { return errors.Join(r.mochiRole.close(), r.outlets.close()) }
