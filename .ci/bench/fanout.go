package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The load of W1.
const (
	fanOutViewers = 50
	fanOutRounds  = 7
	fanOutFrames  = 400 // per round
	memoryViewers = 500
)

// audience is the viewers of one worker, which count the bytes that they get.
type audience struct {
	*worker
	conns   []net.Conn
	got     atomic.Int64
	reading sync.WaitGroup
}

// measureFanOut measures W1: the CPU time of delivering a frame to a viewer, against
// writing the same prebuilt frame to a connection, and the memory of a viewer, against a
// plain gorilla server. Each server is a process.
func measureFanOut(ctx context.Context, b *bench) (_ []figure, err error) {
	kinds := []string{"viewers", "prebuilt", "gorilla"}
	cost, memory := map[string][]float64{}, map[string]float64{}
	var all []*audience
	defer func() {
		for _, a := range all {
			err = errors.Join(err, a.leave())
		}
	}()
	for _, kind := range kinds {
		a, err := b.gather(ctx, kind, fanOutViewers)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	for range fanOutRounds {
		for i, kind := range kinds {
			nanoseconds, err := all[i].deliver(fanOutFrames)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			cost[kind] = append(cost[kind], nanoseconds/1000)
		}
	}
	for _, kind := range kinds {
		if memory[kind], err = b.viewerMemory(ctx, kind); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	delivery := figure{
		Name: "W1", What: "CPU of one delivery to 50 viewers", Unit: "µs", Ours: median(cost["viewers"]), Reach: atMostOfPeer(1.25),
		Peer: "writing the prebuilt frame", Peers: median(cost["prebuilt"]),
	}
	plain := delivery
	plain.Reach, plain.Peer, plain.Peers = bound{}, "plain gorilla server", median(cost["gorilla"])
	return []figure{delivery, plain, {
		Name: "W1", What: "memory of a viewer", Unit: "KB", Ours: memory["viewers"] / 1024, Reach: atMost(12),
		Peer: "plain gorilla server", Peers: memory["gorilla"] / 1024,
	}}, nil
}

// gather starts a server and connects viewers.
func (b *bench) gather(ctx context.Context, kind string, viewers int) (*audience, error) {
	w, err := b.start(ctx, nil, kind, b.dir)
	if err != nil {
		return nil, err
	}
	a := &audience{worker: w}
	return a, a.join(viewers)
}

// join connects viewers and waits until the server has registered them.
func (a *audience) join(viewers int) error {
	where, err := a.ask("port", 0)
	if err != nil {
		return err
	}
	addr := fmt.Sprintf("127.0.0.1:%.0f", where["port"])
	for range viewers {
		v, err := view(addr, "/bench/live", "")
		if err != nil {
			return err
		}
		a.conns = append(a.conns, v.Conn)
		a.reading.Go(func() { a.drain(v.Conn) })
	}
	_, err = a.ask("await", len(a.conns))
	return err
}

// drain reads and counts until the connection is closed.
func (a *audience) drain(conn net.Conn) {
	into := make([]byte, 4096)
	for {
		n, err := conn.Read(into)
		a.got.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// deliver delivers n frames to all viewers and returns the server's CPU time per frame
// and viewer, in ns.
func (a *audience) deliver(n int) (float64, error) {
	before := a.got.Load()
	values, err := a.ask("deliver", n)
	if err != nil {
		return 0, err
	}
	want := int64(n) * int64(len(a.conns)) * int64(len(frame()))
	for deadline := time.Now().Add(patience); a.got.Load()-before < want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("%d bytes arrived, not %d", a.got.Load()-before, want)
		}
	}
	return values["cpu"] / float64(n*len(a.conns)), nil
}

// leave closes the viewers and stops the server.
func (a *audience) leave() error {
	var err error
	for _, c := range a.conns {
		err = errors.Join(err, c.Close())
	}
	a.reading.Wait()
	return errors.Join(err, a.stop())
}

// viewerMemory returns the bytes of heap and stacks that a server uses per viewer after
// a frame.
func (b *bench) viewerMemory(ctx context.Context, kind string) (_ float64, err error) {
	a, err := b.gather(ctx, kind, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.leave()) }()
	before, err := a.memory()
	if err != nil {
		return 0, err
	}
	if err := a.join(memoryViewers); err != nil {
		return 0, err
	}
	after, err := a.memory()
	return (after - before) / memoryViewers, err
}

// memory delivers a frame and returns the bytes of heap and stacks in use.
func (a *audience) memory() (float64, error) {
	if _, err := a.deliver(1); err != nil {
		return 0, err
	}
	values, err := a.ask("memory", 0)
	return values["bytes"], err
}
