package uplink_test

import (
	"context"
	"testing"

	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// keeper is a part that has its broker keep a topic.
type keeper struct {
	topic string
	kept  chan struct{}
}

func (k keeper) Run(ctx context.Context, peer uplink.Peer) error {
	if err := peer.Publish(ctx, uplink.Message{Topic: k.topic, Payload: []byte("kept"), QoS: 1, Retain: true}); err != nil {
		return err
	}
	k.kept <- struct{}{}
	<-ctx.Done()
	return nil
}

func (k keeper) Leave(ctx context.Context, peer uplink.Peer) error {
	return peer.Publish(ctx, uplink.Message{Topic: k.topic, QoS: 1, Retain: true})
}

// TestEndedUplinkTakesBackWhatItsBrokerKeeps: when it is removed, is no longer used for it, has other topics,
// or goes to another broker, and not when something else of it changes.
func TestEndedUplinkTakesBackWhatItsBrokerKeeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, b *bench, was uplink.Config, other *uplinktest.Broker) error
		kept bool // or again
		gone bool // all that its topics held
	}{
		"removed": {gone: true, end: func(t *testing.T, b *bench, was uplink.Config, _ *uplinktest.Broker) error {
			return b.Remove(t.Context(), was.Name)
		}},
		"used for something else": {end: func(t *testing.T, b *bench, was uplink.Config, _ *uplinktest.Broker) error {
			was.Use = []uplink.Use{uplink.Events}
			return b.Change(t.Context(), was.Name, was)
		}},
		"to another broker": {gone: true, end: func(t *testing.T, b *bench, was uplink.Config, other *uplinktest.Broker) error {
			was.URL = other.URL()
			return b.Change(t.Context(), was.Name, was)
		}},
		"with other topics": {gone: true, kept: true, end: func(t *testing.T, b *bench, was uplink.Config, _ *uplinktest.Broker) error {
			was.Prefix = "radar"
			return b.Change(t.Context(), was.Name, was)
		}},
		"with an alarm panel": {kept: true, end: func(t *testing.T, b *bench, was uplink.Config, _ *uplinktest.Broker) error {
			was.HomeAssistant.Alarm = true
			return b.Change(t.Context(), was.Name, was)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker, other := uplinktest.Start(t, uplinktest.Options{}), uplinktest.Start(t, uplinktest.Options{})
			b := newBench(t)
			k := keeper{"homeassistant/x", make(chan struct{}, 10)}
			o := b.options()
			o.Parts = map[uplink.Use]func(uplink.Uplink) uplink.Part{uplink.HomeAssistant: func(uplink.Uplink) uplink.Part { return k }}
			b.run(t, o)
			was := uplink.Config{Name: "house", URL: broker.URL(), Use: []uplink.Use{uplink.HomeAssistant}}
			if err := b.Add(t.Context(), was); err != nil {
				t.Fatal(err)
			}
			<-k.kept
			if err := c.end(t, b, was, other); err != nil {
				t.Fatal(err)
			}
			if c.gone && c.kept {
				<-k.kept
			}
			client := broker.Connect("reader")
			heard := make(chan uplink.Message, 100)
			for _, filter := range []string{"homeassistant/#", "sensegate/#", "end"} {
				if err := client.Subscribe(t.Context(), filter, func(m uplink.Message) { heard <- m }); err != nil {
					t.Fatal(err)
				}
			}
			if err := client.Publish(t.Context(), uplink.Message{Topic: "end", QoS: 1}); err != nil {
				t.Fatal(err)
			}
			kept := false
			for m := range heard {
				if m.Topic == "end" {
					break
				}
				kept = kept || m.Topic == k.topic
				if c.gone && m.Topic != k.topic {
					t.Errorf("%s is left", m.Topic)
				}
			}
			if kept != c.kept {
				t.Errorf("the topic is kept: %t, want %t", kept, c.kept)
			}
		})
	}
}
