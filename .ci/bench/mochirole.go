package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
)

// mochiRole is the MQTT library of the product's broker as it comes: what a connection takes there, no product that is
// built on it can save.
type mochiRole struct {
	server *mqtt.Server
	port   int
}

func newMochiRole([]string) (role, error) {
	server := mqtt.New(&mqtt.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := server.AddHook(new(auth.AllowHook), nil); err != nil {
		return nil, err
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
