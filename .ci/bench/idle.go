package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sensegate/broker/wire"
)

// The load of M2: all connections open and close idleChurns times before they stay.
const (
	idleConnections = 1000
	idleChurns      = 4
	idleTaking      = 5 * time.Second  // in which a device takes the commands that waited for it
	idleRest        = 15 * time.Second // until freed memory is returned
)

// measureIdle measures M2: the resident memory of a device's idle connection.
func measureIdle(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.temp("idle")
	if err != nil {
		return nil, err
	}
	devices, err := b.furnish(ctx, dir, idleConnections/2)
	if err != nil {
		return nil, err
	}
	return b.beside(ctx, dir, func(ctx context.Context, _ *bench, a *appliance, m *mosquitto) ([]figure, error) {
		ours, err := idleMemory(ctx, a.mqtt, a.pid(), devices)
		if err != nil {
			return nil, err
		}
		peers, err := idleMemory(ctx, m.addr, m.cmd.Process.Pid, strangers(devices))
		if err != nil {
			return nil, err
		}
		library, err := b.libraryMemory(ctx, dir, strangers(devices))
		f := figure{
			Name: "M2", What: "resident memory of an idle MQTT connection after churn", Unit: "KB", Ours: ours / 1024, Reach: atMost(50),
			Peer: "mosquitto", Peers: peers / 1024,
		}
		beside := f
		beside.Reach, beside.Peer, beside.Peers = bound{}, "the MQTT library alone", library/1024
		return []figure{f, beside}, err
	})
}

// libraryMemory is idleMemory of the MQTT library as it comes.
func (b *bench) libraryMemory(ctx context.Context, dir string, devices []device) (_ float64, err error) {
	w, err := b.start(ctx, nil, "mochi", dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	at, err := w.ask("port", 0)
	if err != nil {
		return 0, err
	}
	return idleMemory(ctx, fmt.Sprintf("127.0.0.1:%.0f", at["port"]), w.cmd.Process.Pid, devices)
}

// furnish adopts homes in a state directory and returns their agents. It uses another
// process, whose memory does not count.
func (b *bench) furnish(ctx context.Context, dir string, n int) ([]device, error) {
	a, err := b.serve(ctx, dir)
	if err != nil {
		return nil, err
	}
	guardians, radars, err := a.adoptMany(ctx, n)
	return append(guardians, radars...), errors.Join(err, a.stop())
}

// idleMemory connects devices and returns the memory per connection, in bytes.
func idleMemory(ctx context.Context, addr string, pid int, devices []device) (float64, error) {
	if err := rest(ctx, idleRest); err != nil {
		return 0, err
	}
	before, err := resident(pid)
	if err != nil {
		return 0, err
	}
	for range idleChurns {
		clients, err := dialSubscribed(addr, devices)
		if err := errors.Join(err, hangUp(clients)); err != nil {
			return 0, err
		}
	}
	clients, err := dialSubscribed(addr, devices)
	if err != nil {
		return 0, err
	}
	took := make(chan error, len(clients))
	for _, c := range clients {
		go func() { took <- c.acknowledge(idleTaking) }()
	}
	for range clients {
		err = errors.Join(err, <-took)
	}
	err = errors.Join(err, rest(ctx, idleRest))
	after, unknown := resident(pid)
	return (after - before) / float64(len(devices)), errors.Join(err, unknown, hangUp(clients))
}

// dialSubscribed connects devices and subscribes them to their commands.
func dialSubscribed(addr string, devices []device) ([]*client, error) {
	clients, err := dialAll(addr, devices)
	for i, c := range clients {
		err = errors.Join(err, c.subscribe(wire.CommandFilter(devices[i].key), 1))
	}
	return clients, err
}

// rest waits for d, or returns ctx's error.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
