package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// How long the memory is sampled, and the interval.
const (
	footprintIdle = 20 * time.Second
	footprintBusy = 40 * time.Second
	footprintLook = time.Second
)

// measureResident measures F1: the memory of the real binary, idle and with 50 networks
// that send 350 messages a second to 50 viewers. The peer is mosquitto with as many
// publishers and subscribers.
func measureResident(ctx context.Context, b *bench, a *appliance, m *mosquitto) (_ []figure, err error) {
	idle, peersIdle, err := watch(ctx, footprintIdle, a.pid(), m.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	live, err := b.liveTraffic(ctx, a, m)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { _, err := live.ours.run(running); ended <- err }()
	go func() { _, err := live.peer.run(running); ended <- err }()
	busy, peersBusy, err := watch(ctx, footprintBusy, a.pid(), m.cmd.Process.Pid)
	stop()
	if err := errors.Join(err, <-ended, <-ended, live.close()); err != nil {
		return nil, err
	}
	return []figure{{
		Name: "F1", What: "resident memory, idle", Unit: "MB", Ours: idle / 1e6, Reach: atMost(16), Peer: "mosquitto", Peers: peersIdle / 1e6,
	}, {
		Name: "F1", What: "resident memory, 50 networks, 350 messages/s, 50 viewers", Unit: "MB", Ours: busy / 1e6, Reach: atMost(32),
		Peer: "mosquitto, 50 subscribers", Peers: peersBusy / 1e6,
	}}, nil
}

// watch samples the memory of two processes for d and returns the median of the second
// half of each.
func watch(ctx context.Context, d time.Duration, pid, peer int) (_, _ float64, err error) {
	looks := int(d / footprintLook)
	var mine, theirs []float64
	for range looks {
		if err := rest(ctx, footprintLook); err != nil {
			return 0, 0, err
		}
		a, err := resident(pid)
		if err != nil {
			return 0, 0, err
		}
		b, err := resident(peer)
		if err != nil {
			return 0, 0, err
		}
		mine, theirs = append(mine, a), append(theirs, b)
	}
	return median(mine[looks/2:]), median(theirs[looks/2:]), nil
}

// measureBinary measures F2.
func measureBinary(_ context.Context, b *bench) ([]figure, error) {
	path := filepath.Join(b.dir, "sensegate-arm64")
	if err := b.compile(path, "GOOS=linux", "GOARCH=arm64"); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return []figure{{Name: "F2", What: "stripped static arm64 binary", Unit: "MB", Ours: float64(info.Size()) / 1e6, Reach: atMost(20)}}, nil
}
