package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"sensegate/firmware-sim/sim"
)

// makeLoad is the command load.
func makeLoad(ctx context.Context, c command, args []string, out io.Writer) error {
	set := c.flags()
	var config sim.LoadConfig
	set.IntVar(&config.Networks, "networks", 10, fmt.Sprintf("how many networks, 1 to %d", sim.MaxLoadNetworks))
	set.Float64Var(&config.Rate, "rate", 1, fmt.Sprintf("messages a second and network, up to %d", sim.MaxLoadRate))
	set.DurationVar(&config.Duration, "duration", 30*time.Second, "length of the load, once all are connected")
	kind := set.String("kind", string(sim.LoadEvents), "what they send: event (QoS 1, stored), matrix or csi (QoS 0, not acknowledged)")
	set.DurationVar(&config.Every, "every", 10*time.Second, "print a row this often; 0 = only the last")
	appliance := set.String("appliance", "127.0.0.1:8080", "`HOST` or HOST:PORT of the appliance's HTTP")
	elsewhere := set.Bool("elsewhere", false, "allow an appliance that is not on this machine")
	set.StringVar(&config.AccessToken, "token", "", "pre-shared `token` of the gatekeeper; without one the networks wait for adoption")
	rest, err := c.parse(set, args, out)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("unexpected %q: load takes flags only", rest[0])
	}
	address := *appliance
	if !strings.Contains(address, ":") {
		address = net.JoinHostPort(address, "8080")
	}
	if !*elsewhere && !onThisMachine(address) {
		return usagef("-appliance %s: is not on this machine; if you may put it under load, say -elsewhere", *appliance)
	}
	config.Kind, config.Gatekeeper = sim.LoadKind(*kind), "http://"+address+"/gatekeeper"
	config.OnReport = func(r sim.LoadReport) { fmt.Fprint(out, loadRow("", r)) }
	if err := config.Validate(); err != nil {
		return usagef("%v", err)
	}
	fmt.Fprintf(out, loadHead, "", "seconds", "sent", "acknowledged", "p50 ms", "p99 ms", "max ms", "failed", "late")
	total, err := sim.Load(ctx, config)
	if err != nil {
		return err
	}
	fmt.Fprint(out, loadRow("total", total))
	return nil
}

const (
	loadHead = "%5s %8s %10s %12s %9s %9s %9s %7s %7s\n"
	loadLine = "%5s %8.1f %10d %12d %9s %9s %9s %7d %7d\n"
)

// loadRow formats a report; "-" stands for latencies without acknowledgements.
func loadRow(name string, r sim.LoadReport) string {
	ms := func(d time.Duration) string {
		if r.Acknowledged == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf(loadLine, name, r.Elapsed.Seconds(), r.Sent, r.Acknowledged, ms(r.P50), ms(r.P99), ms(r.Max), r.Failed, r.Late)
}

// onThisMachine reports whether host:port is a loopback address.
func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
