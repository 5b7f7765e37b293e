package broker

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion/fault"
)

// heard is what a listener of a test was told.
type heard struct{ topic, payload string }

// listens subscribes a part of the appliance; fail is what it returns.
func (r *running) listens(prefix string, fail func() error) chan heard {
	told := make(chan heard, 100)
	r.Subscribe(prefix, func(_ context.Context, topic string, payload []byte) error {
		if err := fail(); err != nil {
			return err
		}
		told <- heard{topic, string(payload)}
		return nil
	})
	return told
}

func fine() error { return nil }

func TestApplianceHearsIntegrationUsers(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	lights, all := r.listens("homeassistant/lights", fine), r.listens("homeassistant", fine)
	c := r.user(t, "homeassistant", "one")
	c.Send(guardtest.Publish{Topic: "homeassistant/lights/1", QoS: 1, ID: 1, Payload: "on", Retain: true}.Bytes())
	c.Expect("40020001")
	c.Send(guardtest.Publish{Topic: "homeassistant/lightsaber", QoS: 1, ID: 2, Payload: "off"}.Bytes())
	c.Expect("40020002")
	if got := next(t, lights); got != (heard{"homeassistant/lights/1", "on"}) || len(lights) != 0 {
		t.Errorf("%+v, and %d more", got, len(lights))
	}
	if len(all) != 2 {
		t.Errorf("%d messages", len(all))
	}
	d := r.device(t, 4, guardian)
	d.Send(guardtest.Publish{Topic: guardianRoot + "evt/event/fmt/json", QoS: 1, ID: 1, Payload: "{}"}.Bytes())
	d.Expect("40020001")
	if len(all) != 2 {
		t.Error("a device is heard")
	}
}

func TestWillOfAnIntegrationUserIsHeardAndRetained(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	told := r.listens("homeassistant", fine)
	c := guardtest.Dial(t, r.addr)
	c.Login(guardtest.Connect{ClientID: "bridge", Username: "homeassistant", Password: "secret",
		Will: "offline", WillTopic: "homeassistant/bridge/state", WillRetain: true})
	c.Send([]byte{0xf0, 0}) // no MQTT 3.1.1
	if got := next(t, told); got != (heard{"homeassistant/bridge/state", "offline"}) {
		t.Errorf("%+v", got)
	}
	later := r.user(t, "homeassistant", "two")
	later.Send(guardtest.Subscribe(4, 0, "homeassistant/+/state"))
	later.Expect("9003000100")
	if p := later.Packet(); p[0] != 0x31 || !strings.HasSuffix(string(p), "offline") {
		t.Errorf("got % x, want the retained will", p)
	}
}

func TestMessageThatAListenerCannotStoreIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	r.listens("homeassistant", func() error { return errors.New("disk full") })
	c := r.user(t, "homeassistant", "one")
	c.Send(guardtest.Publish{Topic: "homeassistant/a", QoS: 1, ID: 1, Payload: "x"}.Bytes())
	c.ExpectClosed()
}

func TestApplianceSpeaksToIntegrationUsers(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	if err := r.Publish("homeassistant/request", []byte("x")); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("nobody there: %v", err)
	}
	c := r.user(t, "homeassistant", "one")
	c.Send(guardtest.Subscribe(4, 1, "homeassistant/#"))
	c.Expect("9003000101")
	if err := r.Publish("homeassistant/request", []byte("please")); err != nil {
		t.Fatal(err)
	}
	if p := c.Packet(); p[0] != 0x32 || !strings.HasSuffix(string(p), "please") {
		t.Errorf("got % x", p)
	}
	if err := r.Publish(guardianRoot+"cmd/config/fmt/json", []byte("{}")); err == nil || fault.KindOf(err) != 0 {
		t.Errorf("to a device: %v", err)
	}
}

// TestIntegrationUserSendsLargeMessages has a bridge describe its devices in 900 KiB,
// which comes back to it, as it listens to its own topics.
func TestIntegrationUserSendsLargeMessages(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	told := r.listens("homeassistant", fine)
	c := r.user(t, "homeassistant", "bridge")
	c.Send(guardtest.Subscribe(4, 0, "homeassistant/#"))
	c.Expect("9003000100")
	large := strings.Repeat("d", 900<<10)
	c.Send(guardtest.Publish{Topic: "homeassistant/bridge/devices", Payload: large, Retain: true}.Bytes())
	if got := next(t, told); got.payload != large {
		t.Errorf("%d bytes", len(got.payload))
	}
	if p := c.Packet(); len(p) < len(large) {
		t.Errorf("%d bytes came back", len(p))
	}
	c.SendRefused(guardtest.Publish{Topic: "homeassistant/bridge/devices", Payload: large + large}.Bytes())
	c.ExpectClosed()
	d := r.device(t, 4, guardian)
	d.SendRefused(guardtest.Publish{Topic: guardianRoot + "evt/csi/fmt/bin", Payload: large[:300<<10]}.Bytes())
	d.ExpectClosed()
	if len(told) != 0 {
		t.Error("what is too large is told")
	}
}
