package nodes_test

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
)

// box is a running appliance that listens for RuView nodes, and the events of its first network.
type box struct {
	*appliance.Appliance
	events chan motion.Event
}

func newBox(t *testing.T) *box {
	t.Helper()
	c := appliance.Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0", "", ""
	c.Nodes.RuView.Listen = "127.0.0.1:0"
	ctx, stop := context.WithCancel(context.Background())
	a, err := appliance.Open(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := &box{Appliance: a, events: make(chan motion.Event, 1024)}
	served, watched := make(chan error, 1), make(chan error, 1)
	go func() { served <- a.Run(ctx) }()
	go func() { watched <- b.watch(ctx) }()
	t.Cleanup(func() {
		stop()
		for _, ended := range []chan error{served, watched} {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return b
}

// watch passes the events of network 1 on, once there is one.
func (b *box) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		err := b.Watch(ctx, 1, func(e motion.Event) { b.events <- e })
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// await returns the next event that wanted is true of.
func (b *box) await(t *testing.T, what string, wanted func(motion.Event) bool) motion.Event {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-b.events:
			if wanted(e) {
				return e
			}
		case <-deadline:
			t.Fatalf("there is no %s", what)
		}
	}
}

func TestRuViewNodesSenseSomebodyWhoWalks(t *testing.T) {
	t.Parallel()
	b, house := newBox(t), vacant(t)
	for number := range uint8(2) {
		node := &nodes.UDP{To: b.NodesAt(motion.RuView), From: netip.MustParseAddr("127.0.0.2"), Encode: nodes.RuView(number, 3)}
		ended := make(chan error, 1)
		go func() {
			ended <- node.Run(t.Context(), house.Radio(nodes.RadioConfig{Kind: motion.RuView, Place: int(number), Rate: 50, Router: router}))
		}()
		t.Cleanup(func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	links := map[string]bool{}
	for len(links) < 2 {
		links[b.await(t, "link", func(e motion.Event) bool { return e.Event == motion.LinkCreatedEvent }).LinkID] = true
	}
	for link := range links {
		if !strings.HasPrefix(link, "ruview-127-0-0-2-") || !strings.HasSuffix(link, router.Name()) {
			t.Errorf("link %s", link)
		}
	}
	now := motion.TimeOf(time.Now())
	if err := house.Walk("Kitchen", now.Add(5), now.Add(50)); err != nil {
		t.Fatal(err)
	}
	e := b.await(t, "motion", func(e motion.Event) bool { return e.Event == motion.MotionDetectedEvent })
	if !links[e.LinkID] || e.TS < now {
		t.Errorf("motion: %+v", e)
	}
}
