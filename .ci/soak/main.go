// Command soak runs the real appliance in fast motion and checks that its memory stays
// flat: with 50 networks, viewers and API clients, a simulated day passes in an hour.
//
//	go run ./.ci/soak -duration 2h
//	go run ./.ci/soak -unset 1h
//	go run ./.ci/soak -idle 24h -speed 720
//
// With -unset the appliance starts in 1970 and gets the time this much later, in
// simulated time: it must keep the events that devices with and without a clock have
// reported meanwhile. With -idle nobody uses it for this simulated time after its first
// start, and its log must hold nothing but what is expected.
//
// The appliance and the devices are built with a copy of the time package whose clock
// and timers run faster; the product is unchanged. Socket deadlines stay in real time.
// soak prints a row at each interval, and at the end whether memory and goroutines
// were flat (docs/safety.md, "A long time"); if not, it exits with status 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"time"
)

type options struct {
	duration time.Duration // real
	every    time.Duration // real, between rows
	speed    int           // simulated seconds per second
	networks int
	viewers  int
	unset    time.Duration // simulated
	idle     time.Duration // simulated
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "duration", 2*time.Hour, "length of the run, in real time")
	flag.DurationVar(&o.every, "every", time.Minute, "interval between rows, in real time")
	flag.IntVar(&o.speed, "speed", 24, "simulated seconds per second")
	flag.IntVar(&o.networks, "networks", 50, "number of networks, which report once a simulated second")
	flag.IntVar(&o.viewers, "viewers", 50, "number of websockets that watch live motion")
	flag.DurationVar(&o.unset, "unset", 0, "simulated time for which the clock is not set; runs only this check")
	flag.DurationVar(&o.idle, "idle", 0, "simulated time for which nobody uses it; runs only this check")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	try := soak
	switch {
	case o.unset > 0:
		try = startUnset
	case o.idle > 0:
		try = idle
	}
	flat, err := try(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	if !flat {
		os.Exit(1)
	}
}

// soak runs the appliance in a temporary directory and reports whether it stayed flat.
func soak(ctx context.Context, o options) (flat bool, err error) {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	clock, err := fastPrograms(ctx, dir, o.speed, 0, "sensegate", "firmware-sim")
	if err != nil {
		return false, err
	}
	box, err := startAppliance(ctx, dir)
	if err != nil {
		return false, err
	}
	defer box.stop()
	devices, err := box.startDevices(ctx, o)
	if err != nil {
		return false, err
	}
	defer devices.stop()
	lasting, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	go box.watch(lasting, o.viewers)
	go box.ask(lasting, time.Minute/time.Duration(o.speed))
	rows, err := observe(lasting, box, clock, o.every)
	if err != nil {
		return false, err
	}
	return judge(rows), nil
}

// freePort returns a loopback address on which nothing listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
