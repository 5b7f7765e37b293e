package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"sensegate/broker"
	"sensegate/motion"
)

// brokerRole is the product's broker alone: ingest without decoding and sensing.
type brokerRole struct {
	server *broker.Server
	cancel context.CancelFunc
	ended  chan error
}

func newBrokerRole([]string) (role, error) {
	config := broker.Defaults()
	config.Listen = "127.0.0.1:0"
	server, err := broker.New(config, nowhere{}, slog.New(slog.DiscardHandler))
	if err == nil {
		err = server.Listen()
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &brokerRole{server: server, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- server.Run(ctx) }()
	return r, nil
}

func (r *brokerRole) do(what string, _ int) (map[string]float64, error) {
	if what != "port" {
		return nil, fmt.Errorf("no such question: %s", what)
	}
	return map[string]float64{"port": float64(r.server.Addr().(*net.TCPAddr).Port)}, nil
}

func (r *brokerRole) close() error {
	r.cancel()
	return <-r.ended
}

// nowhere accepts every guardian and drops its messages.
type nowhere struct{}

func (nowhere) Login(_ context.Context, c broker.Credentials) (broker.Identity, error) {
	return broker.Identity{Device: motion.DeviceKey{Kind: motion.Guardian, ID: c.ClientID}}, nil
}
func (nowhere) Connected(broker.Identity, broker.Session) {}
func (nowhere) Disconnected(broker.Identity, string)      {}
func (nowhere) Refused(broker.Refusal)                    {}
func (nowhere) Ingest(context.Context, broker.Identity, string, []byte, byte) error {
	return nil
}
