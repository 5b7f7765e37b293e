package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"sensegate/firmware-sim/sensorcloud"
)

// playCloud is the command sensorcloud.
func playCloud(ctx context.Context, c command, args []string, out io.Writer) error {
	flags := c.flags()
	listen := flags.String("listen", "127.0.0.1:9090", "`host:port` to serve on: sensors.cloud.url of the appliance is http://<it>")
	key := flags.String("key", "sensorcloud-demo-key", "key of the appliance, at least 16 characters: its sensors.cloud.key")
	step := flags.Duration("step", 5*time.Second, "time between two reports of sensors")
	rest, err := c.parse(flags, args, out)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usagef("%s takes flags only", c.name)
	case len(*key) < 16:
		return usagef("-key %q: want at least 16 characters", *key)
	case *step <= 0:
		return usagef("-step %s: want more than 0", *step)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	cloud := sensorcloud.New(*key)
	server := &http.Server{Handler: cloud, ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintf(out, "sensor cloud on http://%s\n", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	cloud.Play(ctx, *step, func(line string) { fmt.Fprintln(out, line) })
	err = server.Close()
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}
