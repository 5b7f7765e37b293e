package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/scenario"
	"sensegate/firmware-sim/sim"
)

// maxHomes is the number of homes with distinct addresses.
const maxHomes = 100

// target is the appliance's gatekeeper and its pre-shared token.
type target struct{ gatekeeper, token string }

func (t *target) register(set *flag.FlagSet) {
	set.StringVar(&t.gatekeeper, "gatekeeper", "http://127.0.0.1:8080/gatekeeper", "`URL` of the appliance's gatekeeper")
	set.StringVar(&t.token, "token", "", "pre-shared `token` of the gatekeeper; without one the devices wait for adoption")
}

// newLog returns a text log with the time of day.
func newLog(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
			}
			return a
		},
	}))
}

// runHomes is the command run.
func runHomes(ctx context.Context, c command, args []string, out io.Writer) error {
	var to target
	set := c.flags()
	to.register(set)
	mode := set.String("mode", string(sim.CSI), "what the devices send: csi, matrix or event")
	seed := set.Uint64("seed", 1, "the same seed gives the same people and the same radio")
	speed := set.Float64("speed", 1, "simulated seconds per second, 1 to 1000; needs -duration")
	duration := set.Duration("duration", 0, "end after this much real time; 0 = until interrupted")
	homes := set.Int("homes", 1, "how many homes, 1 to 100")
	place := set.String("scenario", "house", "the home and its people: "+strings.Join(scenario.Names(), ", ")+", or a FILE.yaml")
	rest, err := c.parse(set, args, out)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usagef("unexpected %q: run takes flags only", rest[0])
	case *homes < 1 || *homes > maxHomes:
		return usagef("-homes %d: want 1 to %d", *homes, maxHomes)
	case *duration < 0:
		return usagef("-duration %s: want 0 or more", *duration)
	case *speed > 1 && *duration == 0:
		return usagef("-speed %v: say with -duration how long; the simulation then starts in the past and ends now", *speed)
	}
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	home, err := scenario.Open(*place)
	if err != nil {
		return usagef("%v", err)
	}
	fleet, err := newHomes(to, newLog(out), home, *homes, sim.Config{
		Seed: *seed, Speed: *speed, Mode: sim.Mode(*mode), Start: startOf(*speed, *duration),
	})
	if err != nil {
		return usagef("%v", err)
	}
	return simulate(ctx, fleet, out)
}

// startOf returns the start of a simulation that ends at the present after duration at
// speed; zero = at the present.
func startOf(speed float64, duration time.Duration) time.Time {
	if speed <= 1 {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(float64(duration) * (speed - 1)))
}

// newHomes returns n homes of a scenario with different addresses and seeds.
func newHomes(to target, log *slog.Logger, place *scenario.Scenario, n int, c sim.Config) ([]*sim.Sim, error) {
	c.Gatekeeper, c.AccessToken, c.Log = to.gatekeeper, to.token, log
	seed := c.Seed
	var homes []*sim.Sim
	for i := range n {
		c.Home, c.Seed = sim.HomeOf(place, i), seed+uint64(i)
		c.Home.Local = time.Local
		if n > 1 {
			c.Log = log.With("home", i)
		}
		s, err := sim.New(c)
		if err != nil {
			return nil, err
		}
		homes = append(homes, s)
	}
	return homes, nil
}

// simulate runs the homes concurrently until ctx ends and prints their counters.
func simulate(ctx context.Context, homes []*sim.Sim, out io.Writer) error {
	var group errgroup.Group
	for _, s := range homes {
		group.Go(func() error { return s.Run(ctx) })
	}
	err := group.Wait()
	for _, s := range homes {
		c := s.Counters()
		fmt.Fprintf(out, "network %d: %d messages, %d frames, %d events, %d history blocks, %d commands, %d connections, %d dropped\n",
			s.Network(), c.Messages, c.Frames, c.Events, c.History, c.Commands, c.Connections, c.Dropped)
	}
	return err
}
