package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// serveCluster runs a cluster until ctx ends.
func serveCluster(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		return err
	}
	var ids []string
	for n := range o.boxes {
		ids = append(ids, fmt.Sprintf("%08x", n+1))
	}
	c, err := startCluster(ctx, dir, example, users(ids))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop(), os.RemoveAll(dir)) }()
	centre, err := newCentre(c)
	if err != nil {
		return err
	}
	defer centre.connection.Close()
	for _, n := range c.nodes {
		fmt.Fprintf(out, "node %s: mqtt %s, clients %s, monitoring http://%s, process %d\n", n.name, n.mqtt, n.clients, n.monitoring, n.process.Process.Pid)
	}
	fmt.Fprintf(out, "users box-00000001 to box-%08x, password %s; the stream begins with the first of them\n", o.boxes, boxPassword)
	if err := until(ctx, "wait for a box", func(ctx context.Context) error { _, err := centre.Stream(ctx, mqttStream); return err }); err != nil {
		return nil // interrupted before
	}
	if err := centre.makeStream(ctx, o.stream); err != nil {
		return err
	}
	for {
		wait(ctx, 10*time.Second)
		if ctx.Err() != nil {
			return nil
		}
		if s, err := centre.Stream(ctx, streamName); err == nil {
			state := s.CachedInfo().State
			fmt.Fprintf(out, "stream: %d messages, %d bytes\n", state.Msgs, state.Bytes)
		}
	}
}
