package webtest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/scenario"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

// manyLinks runs an appliance with a simulated home of so many links until the test ends, and
// returns a link that opens the app, signed in.
func manyLinks(b *browser, links int) string {
	t := b.t
	t.Helper()
	place, err := scenario.Open("villa")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(sim.HomeOf(place, 0).Links()) < links; i++ {
		leaf := place.Leafs[i%len(place.Leafs)]
		leaf.Name = strings.Repeat("Second ", i/len(place.Leafs)+1) + leaf.Name
		place.Leafs = append(place.Leafs, leaf)
	}
	quiet := slog.New(slog.DiscardHandler)
	c := appliance.Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0", "", ""
	a, err := appliance.Open(t.Context(), c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	address := a.HTTP().String()
	home, err := sim.New(sim.Config{Seed: 1, Speed: 1, Log: quiet, Home: sim.HomeOf(place, 0), Gatekeeper: "http://" + address + "/gatekeeper"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- a.Run(ctx) }()
	go func() { ended <- home.Run(ctx) }()
	t.Cleanup(func() {
		b.close()
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-home.Ready():
	case <-time.After(time.Minute):
		t.Fatal("the simulated home does not begin")
	}
	for _, leaf := range home.Home().Leafs {
		if err := a.PlaceLeaf(t.Context(), home.Network(), leaf.MAC, leaf.Location, leaf.FriendlyName); err != nil {
			t.Fatal(err)
		}
	}
	code, err := a.Settle(t.Context(), home.Network(), motion.TimeOf(time.Now()).Add(-3600))
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + address + "/#demo=" + code
}
