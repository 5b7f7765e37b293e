package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/sim"
)

// replayCaptures is the command replay.
func replayCaptures(ctx context.Context, c command, args []string, out io.Writer) error {
	var to target
	set := c.flags()
	to.register(set)
	speed := set.Float64("speed", 1, "seconds of the capture per second, 1 to 1000; faster than 1, what is published ends at the present")
	loop := set.Bool("loop", false, "begin again at the end, until interrupted")
	udp := set.String("to", "127.0.0.1:5500", "`HOST:PORT` to which *.pcap is sent by UDP")
	listen := set.String("listen", "127.0.0.1:5501", "`HOST:PORT` at which *.csv is served by TCP")
	paths, err := c.parse(set, args, out)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return usagef("name the captures (*.csv.gz, *.csi.jsonl) or a directory of them, or one *.pcap or *.csv")
	}
	if kind := filepath.Ext(paths[0]); kind == ".pcap" || kind == ".csv" {
		if len(paths) > 1 {
			return usagef("%s: is replayed alone", paths[0])
		}
		recording := sim.NodeReplay{Speed: *speed, Loop: *loop}
		if kind == ".pcap" {
			return sendPCAP(ctx, paths[0], recording, *udp, out)
		}
		return serveLines(ctx, paths[0], recording, *listen, out)
	}
	takes, err := sim.OpenTakes(paths...)
	if err != nil {
		return err
	}
	counts, err := sim.Replay(ctx, sim.ReplayConfig{
		Takes: takes, Speed: *speed, Loop: *loop, Gatekeeper: to.gatekeeper, AccessToken: to.token, Log: newLog(out),
	})
	if err != nil {
		return usagef("%v", err)
	}
	fmt.Fprintf(out, "%d recordings: %d frames in %d messages, %d dropped\n", len(takes), counts.Frames, counts.Messages, counts.Dropped)
	return nil
}

// nexmonPort is the UDP port of the datagrams that radios with nexmon_csi make.
const nexmonPort = 5500

// sendPCAP replays the datagrams of nexmon_csi in a packet capture.
func sendPCAP(ctx context.Context, path string, recording sim.NodeReplay, to string, out io.Writer) error {
	datagrams, others, err := capture.ReadPCAP(path)
	if err != nil {
		return err
	}
	recording.Messages = slices.DeleteFunc(datagrams, func(m capture.Message) bool { return m.Port != nexmonPort })
	others += len(datagrams) - len(recording.Messages)
	if err := recording.Validate(); err != nil {
		return usagef("%s: datagrams to UDP port %d: %v", path, nexmonPort, err)
	}
	sent, refused, err := recording.SendTo(ctx, to)
	fmt.Fprintf(out, "%d datagrams sent to %s, %d of them refused; %d other packets\n", sent, to, refused, others)
	return err
}

// serveLines replays the lines of esp-csi or ESP32-CSI-Tool in a file.
func serveLines(ctx context.Context, path string, recording sim.NodeReplay, address string, out io.Writer) (err error) {
	if recording.Messages, err = capture.ReadLines(path); err != nil {
		return err
	}
	if err := recording.Validate(); err != nil {
		return usagef("%s: lines: %v", path, err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "serving %d lines at %s\n", len(recording.Messages), listener.Addr())
	sent, err := recording.Serve(ctx, listener)
	fmt.Fprintf(out, "%d lines sent\n", sent)
	return err
}
