package core_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/api/server"
	"sensegate/broker"
	"sensegate/firmware-sim/clocktest"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine"
	"sensegate/store/storetest"
)

// TestWalkIsAsDocumented runs docs/core.md against an appliance with a simulated home
// over real MQTT. With -update it writes the answers into it.
func TestWalkIsAsDocumented(t *testing.T) {
	t.Parallel()
	h := newGateway(t)
	w := &apitest.Walk{
		T: t, File: "../../docs/core.md", Update: *update, Variables: map[string]string{"KEY": h.all},
		Clients: []*apitest.Client{h.Client}, Called: h.Client,
	}
	h.moveIn(w)
	w.Check()
}

// newGateway assembles an appliance as main does, on free ports.
func newGateway(t *testing.T) *home {
	h := &home{Client: newClient(t), db: storetest.Open(t), network: 1}
	var err error
	if h.engine, err = engine.New(t.Context(), h.db, engine.Options{FirstWindow: time.Hour, Readopt: true}); err != nil {
		t.Fatal(err)
	}
	listen := broker.Defaults()
	listen.Listen = "127.0.0.1:0"
	door, err := broker.New(listen, broker.Intake{Engine: h.engine}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h.engine.Introduce(door)
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	apitest.Background(t, h.engine.Run)
	apitest.Background(t, door.Run)
	h.all = h.key("laptop", 0, auth.Scopes()...)
	h.serve(func(s *server.Server) {
		port := door.Addr().(*net.TCPAddr).Port
		s.HandleAnyHost("/gatekeeper", broker.NewGatekeeper(broker.GatekeeperConfig{MQPort: port}, h.engine, slog.New(slog.DiscardHandler)))
	})
	return h
}

// serve starts the HTTP side with Core and what more mounts.
func (h *home) serve(more func(*server.Server)) {
	h.T.Helper()
	h.server = apitest.NewServer(h.T)
	h.server.Mount(core.New(h.engine, h.db, auth.NewKeys(h.db)).Interface())
	more(h.server)
	h.Start(h.server)
}

// moveIn starts the home of the demo and gives the appliance three days of its past.
// Its nodes and leafs are made known one after the other, so that they get the same
// ids each time, and it waits until every link is there.
func (h *home) moveIn(w *apitest.Walk) {
	house := sim.NewHome(0)
	for i, node := range house.Nodes {
		radar := motion.Radar{DeviceID: node.DeviceID, NodeName: node.Name, LocationID: house.GuardianID, RootMode: 1}
		if i == 0 {
			radar.RootMode = motion.RootModeMaster
		}
		post := motion.Bootstrap{Radar: radar, LocationID: house.GuardianID}
		if _, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}); err != nil {
			h.T.Fatal(err)
		}
		made, err := h.engine.Inventory.NodeByDevice(h.T.Context(), node.DeviceID)
		if err == nil {
			err = h.engine.Inventory.PlaceNode(h.T.Context(), made.ID, node.Location, node.FriendlyName)
		}
		if err != nil {
			h.T.Fatal(err)
		}
	}
	for _, leaf := range house.Leafs {
		if err := h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, leaf.MAC, leaf.Location, leaf.FriendlyName); err != nil {
			h.T.Fatal(err)
		}
	}
	asleep := house
	asleep.Local = clocktest.New(h.T).Night()
	var unplugged atomic.Bool // the office extender is
	play, err := sim.New(sim.Config{Seed: 1, Home: asleep, Scene: inTheKitchen, Gatekeeper: "http://" + h.Address + "/gatekeeper",
		Unplugged: func(i int) bool { return i == 2 && unplugged.Load() }})
	if err != nil {
		h.T.Fatal(err)
	}
	apitest.Background(h.T, play.Run)
	w.Before = h.cutPower(&unplugged)
	select {
	case <-play.Ready():
	case <-time.After(time.Minute):
		h.T.Fatal("the home is not connected")
	}
	const past = 3 * 24 * 3600
	now := h.engine.State.Now()
	history, events := sim.Backfill(1, house, now.Add(-past), now)
	if err := h.engine.Sensing.Import(h.T.Context(), h.network, history, events); err != nil {
		h.T.Fatal(err)
	}
	everything := `until curl -s -H "Authorization: $KEY" "http://127.0.0.1:8080/core/network/1/status" | jq -e '.health.network.links_ok == 11' >/dev/null; do sleep 1; done`
	w.Do(everything)
}

// inTheKitchen is somebody who is there for the first half minute.
func inTheKitchen(_ sim.Home, start motion.Time) sim.Scene {
	return sim.Scene{Walks: []sim.Walk{{Location: "Kitchen", From: start.Add(1), To: start.Add(30), Vigour: 1}}}
}

// cutPower takes the power from the office extender when the walk is about to wait for
// that, and returns it once a command waits for the extender.
func (h *home) cutPower(unplugged *atomic.Bool) (before func(commands string)) {
	return func(commands string) {
		if !strings.Contains(commands, ".online == false") {
			return
		}
		unplugged.Store(true)
		apitest.Background(h.T, func(ctx context.Context) error {
			again := time.NewTicker(50 * time.Millisecond)
			defer again.Stop()
			for ctx.Err() == nil {
				var waiting []command.Command
				list := h.As(h.all, http.MethodGet, "/manage/list?state="+string(command.WaitingForOnline), "")
				if err := json.Unmarshal(list.Body, &waiting); err != nil || len(waiting) > 0 {
					unplugged.Store(false)
					return err
				}
				<-again.C
			}
			return nil
		})
	}
}
