package nodes_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
)

// box is a running appliance that listens for nodes, and the events of its first network.
type box struct {
	*appliance.Appliance
	events chan motion.Event
}

// newBox runs an appliance that listens on loopback for nodes that send datagrams, and follows others.
func newBox(t *testing.T, lines, espectre []string) *box {
	t.Helper()
	c := appliance.Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0", "", ""
	c.Nodes.RuView.Listen, c.Nodes.MicroESPectre.Listen, c.Nodes.Nexmon.Listen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Nodes.Lines, c.Nodes.ESPectre.Addresses = lines, espectre
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

// plugIn runs a node until the test ends.
func plugIn(t *testing.T, node interface {
	Run(context.Context, nodes.Source) error
}, house *nodes.House, c nodes.RadioConfig) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- node.Run(t.Context(), house.Radio(c)) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRuViewNodesSenseSomebodyWhoWalks(t *testing.T) {
	t.Parallel()
	b, house := newBox(t, nil, nil), vacant(t)
	for number := range uint8(2) {
		node := &nodes.UDP{To: b.NodesAt(motion.RuView), From: netip.MustParseAddr("127.0.0.2"), Encode: nodes.RuView(number, 3)}
		plugIn(t, node, house, nodes.RadioConfig{Kind: motion.RuView, Place: int(number), Rate: 50, Router: router})
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

func TestEveryOtherKindOfNodeSensesSomebodyWhoWalks(t *testing.T) {
	t.Parallel()
	lines, err := nodes.NewLines("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	espectre, err := nodes.NewESPectre(nodes.ESPectreConfig{Listen: "127.0.0.1:0", MAC: motion.MAC{0x02, 1, 2, 3, 4, 5}, Router: router, Name: "Node"})
	if err != nil {
		t.Fatal(err)
	}
	b, house := newBox(t, []string{"tcp://" + lines.At()}, []string{espectre.At()}), vacant(t)
	password, err := b.Bridge(t.Context(), "kitchen")
	if err != nil {
		t.Fatal(err)
	}
	for kind, node := range map[motion.NodeKind]interface {
		Run(context.Context, nodes.Source) error
	}{
		motion.MicroESPectre: &nodes.UDP{To: b.NodesAt(motion.MicroESPectre), From: netip.MustParseAddr("127.0.0.2"), Encode: nodes.MicroESPectre()},
		motion.Nexmon:        &nodes.UDP{To: b.NodesAt(motion.Nexmon), From: netip.MustParseAddr("127.0.0.3"), Encode: nodes.Nexmon()},
		motion.CSILines:      lines,
		motion.ESPectre:      espectre,
		motion.MQTTMotion:    &nodes.MQTT{Server: b.MQTT().String(), User: "kitchen", Password: password, Topic: "kitchen/node", Form: nodes.ESPHome},
	} {
		plugIn(t, node, house, nodes.RadioConfig{Kind: kind, Rate: 50, Router: router})
	}
	missing := map[string]bool{"micro-espectre-": true, "nexmon-": true, "lines-": true, "espectre-": true, "mqtt-": true}
	for len(missing) > 0 {
		link := b.await(t, fmt.Sprintf("link of %v", missing), func(e motion.Event) bool { return e.Event == motion.LinkCreatedEvent }).LinkID
		for prefix := range missing {
			if strings.HasPrefix(link, prefix) {
				delete(missing, prefix)
			}
		}
	}
	now := motion.TimeOf(time.Now())
	if err := house.Walk("Kitchen", now.Add(5), now.Add(50)); err != nil {
		t.Fatal(err)
	}
	b.await(t, "motion", func(e motion.Event) bool { return e.Event == motion.MotionDetectedEvent && e.TS > now.Add(5) })
}
