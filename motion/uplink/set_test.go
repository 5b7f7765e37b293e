package uplink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
	"sensegate/store"
)

// TestTwoBoxesWithOneClientIDAreTold has two boxes displace each other at a broker.
func TestTwoBoxesWithOneClientIDAreTold(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	boxes := []*bench{newBench(t), newBench(t)}
	for _, b := range boxes {
		o := b.options()
		c := eventsTo(broker)
		c.ClientID = "same"
		o.Configured = []uplink.Config{c}
		b.run(t, o)
	}
	want := broker.Address() + " ends each connection soon after it began: another client probably uses the client id same, so give one of the two another client_id"
	eventually(t, "it is told", func() bool {
		return slices.ContainsFunc(boxes, func(b *bench) bool { return b.state(t, "engine").Error == want })
	})
}

func TestUplinksOfTheAppAreKept(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: map[string]string{"a": "word", "b": "other"}})
	b := newBench(t)
	o := b.options()
	o.Configured = []uplink.Config{{Name: "fixed", URL: "mqtt://127.0.0.1:9", Use: []uplink.Use{uplink.Live}}}
	b.run(t, o)
	c := eventsTo(broker)
	c.Name, c.Username, c.Password = "house", "a", "word"
	if err := b.Add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	connected := func() bool { return b.state(t, "house").Phase == uplink.Connected }
	eventually(t, "connected", connected)
	b.add(t, b.network, now(), 3)
	eventually(t, "sent", func() bool { return b.state(t, "house").Events == 3 })
	b.run(t, o)
	eventually(t, "connected after a start", connected)
	if s := b.state(t, "house"); s.Config.Password != "" || !s.HasPassword || s.Origin != uplink.OfApp || s.Base != "sensegate/"+b.box(t) {
		t.Errorf("%+v", s)
	}
	c.Password, c.Use, c.URL = "", []uplink.Use{uplink.Live}, c.URL+"/" // the same address
	if err := b.Change(t.Context(), "house", c); err != nil {
		t.Fatal(err)
	}
	eventually(t, "connected with the former password", connected)
	c.Username = "b" // whose password is another
	if err := b.Change(t.Context(), "house", c); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the password of a is not sent for b", func() bool {
		s := b.state(t, "house")
		return s.ErrorCode == "password" && strings.Contains(s.Error, "refuses this user name and password")
	})
	for what, err := range map[string]error{
		"change of a configured one": b.Change(t.Context(), "fixed", c), "removal of it": b.Remove(t.Context(), "fixed"),
	} {
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := b.Remove(t.Context(), "nowhere"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if err := b.Add(t.Context(), c); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a second of the name: %v", err)
	}
	if err := b.Remove(t.Context(), "house"); err != nil || len(b.List()) != 1 {
		t.Errorf("%v, %v", err, b.List())
	}
	err := b.db.View(t.Context(), func(tx *store.Tx) error {
		_, there, err := tx.UplinkCursor("house")
		if there {
			t.Error("the cursor stayed")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTestSaysStepByStepWhatWorks(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: map[string]string{"a": "word"}})
	b := newBench(t)
	b.run(t, b.options())
	c := eventsTo(broker)
	c.Username = "a"
	for password, want := range map[string]string{"word": "reach ok, login ok, publish ok", "wrong": "reach ok, login failed (password)"} {
		c.Password = password
		steps, err := b.Test(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(steps); got != want {
			t.Errorf("%s: %s, want %s: %v", password, got, want, steps)
		}
	}
	c.URL = "mqtt://127.0.0.1:1"
	if steps, err := b.Test(t.Context(), c); err != nil || outcome(steps) != "reach failed (refused)" {
		t.Errorf("%v, %v", steps, err)
	}
	c.CA = "/etc/hostname"
	if _, err := b.Test(t.Context(), c); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a file is read: %v", err)
	}
}

func outcome(steps []uplink.TestStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = string(s.Step) + " failed (" + s.Code + ")"
		if s.OK {
			words[i] = string(s.Step) + " ok"
		}
	}
	return strings.Join(words, ", ")
}

// partFunc is a Part.
type partFunc func(context.Context, uplink.Peer) error

func (f partFunc) Run(ctx context.Context, peer uplink.Peer) error { return f(ctx, peer) }

// TestPartThatFailsIsStartedAgain has a part fail, panic and then run.
func TestPartThatFailsIsStartedAgain(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	o := b.options()
	var runs atomic.Int32
	o.Parts = map[uplink.Use]func(uplink.Uplink) uplink.Part{uplink.Commands: func(uplink.Uplink) uplink.Part {
		return partFunc(func(ctx context.Context, _ uplink.Peer) error {
			switch runs.Add(1) {
			case 1:
				return errors.New("it is not ready")
			case 2:
				panic("a mistake")
			}
			<-ctx.Done()
			return nil
		})
	}}
	o.Configured = []uplink.Config{{Name: "far", URL: broker.URL(), Use: []uplink.Use{uplink.Commands}}}
	b.run(t, o)
	eventually(t, "it runs", func() bool { return runs.Load() == 3 && b.state(t, "far").Phase == uplink.Connected })
	if s := b.state(t, "far"); s.Failures != 2 || s.Error != "" {
		t.Errorf("%+v", s)
	}
}

// shower is a Part that tells how all is.
type shower struct{ topic string }

func (s shower) Introduce(ctx context.Context, peer uplink.Peer) error {
	return peer.Publish(ctx, uplink.Message{Topic: s.topic, Payload: []byte("of now"), QoS: 1, Retain: true})
}

func (shower) Run(ctx context.Context, _ uplink.Peer) error {
	<-ctx.Done()
	return nil
}

// TestAvailabilityIsSaidLastAndAgain: not before the states of now replace those of before, and once more
// when another client has said that the appliance is gone.
func TestAvailabilityIsSaidLastAndAgain(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	base := "sensegate/" + b.box(t)
	reader := broker.Listen(base + "/#")
	o := b.options()
	o.Parts = map[uplink.Use]func(uplink.Uplink) uplink.Part{uplink.HomeAssistant: func(u uplink.Uplink) uplink.Part { return shower{u.Base + "/state"} }}
	o.Configured = []uplink.Config{{Name: "house", URL: broker.URL(), Use: []uplink.Use{uplink.HomeAssistant}}}
	b.run(t, o)
	want := func(topic, payload string) {
		t.Helper()
		if m := reader.Next(); m.Topic != base+topic || string(m.Payload) != payload {
			t.Errorf("%s %s, want %s %s", m.Topic, m.Payload, topic, payload)
		}
	}
	want("/state", "of now")
	want("/availability", "online")
	eventually(t, "connected", func() bool { return b.state(t, "house").Phase == uplink.Connected })
	other := broker.Connect("other")
	if err := other.Publish(t.Context(), uplink.Message{Topic: base + "/availability", Payload: []byte("offline"), QoS: 1, Retain: true}); err != nil {
		t.Fatal(err)
	}
	want("/availability", "offline")
	want("/availability", "online")
}

func TestEntitiesAreShownOnceAtABroker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run(t, b.options())
	c := uplink.Config{Name: "house", URL: "mqtt://127.0.0.1:9", Use: []uplink.Use{uplink.HomeAssistant}}
	if err := b.Add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Prefix, c.ClientID = "inn", "inn", "inn"
	var refused *fault.Error
	if err := b.Add(t.Context(), c); !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(refused.Details), "the same entities") {
		t.Errorf("a second one: %v", err)
	}
	c.HomeAssistant.DiscoveryPrefix = "other"
	if err := b.Add(t.Context(), c); err != nil {
		t.Errorf("for another Home Assistant: %v", err)
	}
}

func TestAddressesThatCannotBeAreTold(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"mqtt://broker.lan:99999": "want 1 to 65535", "mqtt://broker.lan:0": "want 1 to 65535", "HTTPS://series.lan": "use: want history alone",
		"mqtt://broker.lan:1883": "", "MQTT://broker.lan": "", "https://series.lan": "use: want history alone",
	} {
		err := uplink.Config{Name: "house", URL: url, Use: []uplink.Use{uplink.Events}}.Validate()
		if (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

// A broker that keeps rubbish at the appliance's own topics is left alone.
func TestRetainedRubbishDisturbsNothing(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	base := "sensegate/" + b.box(t)
	other := broker.Connect("other")
	for _, topic := range []string{"/availability", "/health", "/1/event", "/core"} {
		if err := other.Publish(t.Context(), uplink.Message{Topic: base + topic, Payload: []byte("\x00rubbish"), QoS: 1, Retain: true}); err != nil {
			t.Fatal(err)
		}
	}
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	ids := b.add(t, b.network, now(), 2)
	eventually(t, "sent", func() bool { return b.state(t, "engine").Events == 2 })
	reader := broker.Listen(base + "/availability")
	if m := reader.Next(); string(m.Payload) != "online" {
		t.Errorf("%s", m.Payload)
	}
	if len(ids) != 2 {
		t.Error(ids)
	}
	b.Metrics(io.Discard)
}
