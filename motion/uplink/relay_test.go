package uplink_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sensegate/motion/hook"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// relayOf is the section relay for a broker of uplinktest.
func relayOf(broker *uplinktest.Broker, password string) uplink.RelayConfig {
	c := uplink.RelayDefaults()
	c.MQTT = uplink.RelayMQTT{URL: broker.URL(), Username: "sensegate", Password: password, Prefix: "home/sensegate", ClientID: "box"}
	return c
}

var users = map[string]string{"sensegate": "a secret"}

// want expects the messages in this order, as "topic payload".
func want(t *testing.T, reader *uplinktest.Reader, messages ...string) {
	t.Helper()
	for _, message := range messages {
		if m := reader.Next(); m.Topic+" "+string(m.Payload) != message {
			t.Fatalf("got %s %s, want %q", m.Topic, m.Payload, message)
		}
	}
}

func frame(n int) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }

const (
	relayOnline  = "home/sensegate/status online"
	relayOffline = "home/sensegate/status offline"
)

// The topics are those that the section relay had before there were uplinks.
func TestRelayKeepsItsTopics(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: users})
	reader := broker.Listen("home/#")
	b := newBench(t)
	o := b.options()
	o.Relay = relayOf(broker, "a secret")
	b.run(t, o)
	want(t, reader, relayOnline)
	provider := b.Providers()[uplink.MQTT]
	provider.Deliver(1042, frame(1))
	provider.Deliver(7, frame(2))
	want(t, reader, `home/sensegate/motion/1042 {"n":1}`, `home/sensegate/motion/7 {"n":2}`)
	eventually(t, "counted", func() bool {
		var out strings.Builder
		b.Metrics(&out)
		return strings.Contains(out.String(), `sensegate_relay_frames_total{provider="mqtt",result="delivered"} 2`+"\n") &&
			strings.Contains(out.String(), `sensegate_uplink_connected{uplink="relay"} 1`+"\n")
	})
	b.stop()
	want(t, reader, relayOffline)
}

func TestRelayGoesOnAfterTheBrokerWasAway(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: users})
	b := newBench(t)
	o := b.options()
	o.Relay = relayOf(broker, "a secret")
	b.run(t, o)
	eventually(t, "connected", func() bool { return b.state(t, "relay").Phase == uplink.Connected })
	broker.Down()
	eventually(t, "away", func() bool { return b.state(t, "relay").Failures > 1 })
	const held = 256
	for n := 1; n <= held+10; n++ {
		b.Providers()[uplink.MQTT].Deliver(1042, frame(n))
	}
	broker.Up()
	eventually(t, "all delivered", func() bool { return b.state(t, "relay").Queue == 0 && b.state(t, "relay").Phase == uplink.Connected })
	if got := b.state(t, "relay"); got.Dropped != 10 {
		t.Errorf("%+v", got)
	}
	reader := broker.Listen("home/sensegate/motion/#")
	b.Providers()[uplink.MQTT].Deliver(1042, frame(5000))
	for string(reader.Next().Payload) != `{"n":5000}` {
		// the broker may still be busy with what was delivered before
	}
}

func TestConfiguredProvidersAreOffered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.options()
	o.Relay.MQTT.URL, o.Relay.MQTT.Prefix = "mqtts://broker.lan", "sensegate"
	o.Relay.Webhook = hook.Config{URL: "https://receiver.lan/hook", Secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="}
	o.Configured = []uplink.Config{{Name: "house", URL: "mqtt://house.lan", Use: []uplink.Use{uplink.Live}}}
	set, err := uplink.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if offered := set.Providers(); len(offered) != 3 || offered[uplink.MQTT] == nil || offered[uplink.Webhook] == nil || offered["house"] == nil {
		t.Errorf("%v", offered)
	}
	if got := set.List()[0]; got.Host != "broker.lan:8883" || got.Sends != "live motion when it is asked for of all networks to broker.lan:8883" {
		t.Errorf("%+v", got)
	}
	o.Relay, o.Configured = uplink.RelayDefaults(), nil
	if set, err = uplink.New(t.Context(), o); err != nil || len(set.Providers()) != 0 || len(set.List()) != 0 {
		t.Errorf("%v, %v", set, err)
	}
}

func TestWrongPasswordIsToldAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: users})
	b := newBench(t)
	o := b.options()
	o.Relay = relayOf(broker, "wrong")
	b.run(t, o)
	eventually(t, "tried again", func() bool { return b.state(t, "relay").Failures > 2 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 300 {
			b.Providers()[uplink.MQTT].Deliver(1042, frame(n))
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("a frame waits")
	}
	got := b.state(t, "relay")
	if got.Error != "the broker at "+broker.Address()+" refuses this user name and password: check both" || got.Dropped != 300-256 {
		t.Errorf("%+v", got)
	}
}
