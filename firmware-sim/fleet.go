package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sensegate/firmware-sim/fleet"
)

// playFleet is the command fleet.
func playFleet(ctx context.Context, c command, args []string, out io.Writer) error {
	set := c.flags()
	var config fleet.Config
	set.IntVar(&config.Boxes, "boxes", 10, fmt.Sprintf("how many boxes, 1 to %d", fleet.MaxBoxes))
	engine := set.String("engine", "mqtt://127.0.0.1:1883", "`URL`s of the engine's nodes, with commas between")
	set.StringVar(&config.Password, "password", "", "of the users box-00000001 and so on; without one the boxes have no user")
	set.Float64Var(&config.Events, "events", 200, "events a day and box")
	set.Float64Var(&config.Speed, "speed", 1, "how many times faster than boxes send")
	set.DurationVar(&config.Duration, "duration", time.Minute, "how long they send, once all are connected")
	pids := set.String("pids", "", "processes of the engine on this machine, with commas between, whose CPU time is measured")
	elsewhere := set.Bool("elsewhere", false, "allow an engine that is not on this machine")
	rest, err := c.parse(set, args, out)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("unexpected %q: fleet takes flags only", rest[0])
	}
	for text := range strings.SplitSeq(*engine, ",") {
		address, err := url.Parse(text)
		if err != nil || address.Scheme != "mqtt" || address.Port() == "" {
			return usagef("-engine %s: want mqtt://host:port", text)
		}
		if !*elsewhere && !onThisMachine(address.Host) {
			return usagef("-engine %s: is not on this machine; if you may put it under load, say -elsewhere", text)
		}
		config.URLs = append(config.URLs, address)
	}
	for text := range strings.FieldsFuncSeq(*pids, func(r rune) bool { return r == ',' }) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return usagef("-pids %s: want numbers of processes", text)
		}
		config.PIDs = append(config.PIDs, pid)
	}
	if err := config.Validate(); err != nil {
		return usagef("%v", err)
	}
	r, err := fleet.Run(ctx, config)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%7s %10s %10s %10s %9s %9s %7s %6s %7s %14s\n", "boxes", "connected", "messages", "messages/s", "p50 ms", "p99 ms", "failed", "lost", "CPUs", "bytes/message")
	fmt.Fprintf(out, "%7d %10s %10d %10.1f %9.1f %9.1f %7d %6d %7.2f %14.0f\n", r.Boxes, r.Connecting.Round(10*time.Millisecond), r.Sent, r.Rate(),
		r.Median.Seconds()*1000, r.Slow.Seconds()*1000, r.Failed, r.Lost, r.Cores(), float64(r.Bytes)/float64(max(r.Sent, 1)))
	return nil
}
