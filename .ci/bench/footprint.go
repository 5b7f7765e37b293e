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
	idle, err := watch(ctx, footprintIdle, a.pid(), m.cmd.Process.Pid)
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
	busy, err := watch(ctx, footprintBusy, a.pid(), m.cmd.Process.Pid)
	stop()
	if err := errors.Join(err, <-ended, <-ended, live.close()); err != nil {
		return nil, err
	}
	return append(memoryFigures(idle, "idle", atMost(6), "mosquitto"),
		memoryFigures(busy, "50 networks, 350 messages/s, 50 viewers", atMost(20), "mosquitto, 50 subscribers")...), nil
}

// memoryFigures returns the rows of a pair of processes. What counts is their own memory:
// pages of files are in the system's cache, which drops them when it needs room.
func memoryFigures(of [2]memory, when string, reach bound, peer string) []figure {
	row := func(what string, reach bound, part func(memory) float64) figure {
		return figure{
			Name: "F1", What: what + ", " + when, Unit: "MB", Ours: part(of[0]) / 1e6, Reach: reach, Peer: peer, Peers: part(of[1]) / 1e6,
		}
	}
	return []figure{
		row("own memory (anonymous)", reach, func(m memory) float64 { return m.own }),
		row("resident memory", bound{}, func(m memory) float64 { return m.resident }),
		row("of that pages of files, which can go", bound{}, func(m memory) float64 { return m.file }),
	}
}

// watch samples the memory of two processes for d and returns the median of the second
// half of each.
func watch(ctx context.Context, d time.Duration, ours, peer int) (medians [2]memory, err error) {
	looks := int(d / footprintLook)
	var seen [2][]memory
	for range looks {
		if err := rest(ctx, footprintLook); err != nil {
			return medians, err
		}
		for i, pid := range []int{ours, peer} {
			m, err := memoryOf(pid)
			if err != nil {
				return medians, err
			}
			seen[i] = append(seen[i], m)
		}
	}
	for i := range seen {
		medians[i] = medianMemory(seen[i][looks/2:])
	}
	return medians, nil
}

// medianMemory returns the median of each part.
func medianMemory(seen []memory) memory {
	part := func(of func(memory) float64) float64 {
		var values []float64
		for _, m := range seen {
			values = append(values, of(m))
		}
		return median(values)
	}
	return memory{
		resident: part(func(m memory) float64 { return m.resident }), own: part(func(m memory) float64 { return m.own }), file: part(func(m memory) float64 { return m.file }),
	}
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
