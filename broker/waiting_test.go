package broker

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/broker/guard/guardtest"
)

// heavy is a payload of which seven are more than a user may have retained, and ten
// more than may wait for a user.
var heavy = strings.Repeat("x", 900_000)

func (r *running) user5(t *testing.T, clientID string) *guardtest.Client {
	t.Helper()
	c := guardtest.Dial(t, r.addr)
	c.Login(guardtest.Connect{Version: 5, ClientID: clientID, Username: "homeassistant", Password: "secret"})
	return c
}

func TestRetainedMessagesAreBounded(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.user5(t, "new")
	put := func(topic, payload string, want byte) {
		t.Helper()
		c.Send(guardtest.Publish{Version: 5, Topic: "homeassistant/" + topic, Payload: payload, QoS: 1, ID: 1, Retain: true}.Bytes())
		p, reason := c.Packet(), byte(0)
		if len(p) > 4 {
			reason = p[4]
		}
		if p[0] != 0x40 || reason != want {
			t.Errorf("%s, %d bytes: % x, want a PUBACK with reason %#x", topic, len(payload), p[:min(len(p), 8)], want)
		}
	}
	for i := range 6 {
		put(fmt.Sprint(i), heavy, 0)
	}
	put("6", heavy, 0x97)
	if got := next(t, r.sink.refused); got.Act != ActPublish || !strings.Contains(got.Reason, "no room to retain more") {
		t.Errorf("told %+v", got)
	}
	put("0", heavy, 0) // in the place of what was there
	put("5", "", 0)
	put("6", heavy, 0) // in the room of what was cleared
	kept := 0
	for topic := range r.mqtt.Topics.Retained.GetAll() {
		if strings.HasPrefix(topic, "homeassistant/") {
			kept++
		}
	}
	if kept != 6 {
		t.Errorf("%d messages are retained, want 6", kept)
	}
	old := r.user(t, "homeassistant", "old")
	old.Send(guardtest.Publish{Topic: "homeassistant/7", Payload: heavy, QoS: 1, ID: 1, Retain: true}.Bytes())
	old.Expect("40020001") // MQTT 3 cannot say it
	old.Send(guardtest.Publish{Topic: "homeassistant/small", Payload: "1", QoS: 1, ID: 1, Retain: true}.Bytes())
	old.Expect("40020001")
	old.Send(guardtest.Publish{Topic: "homeassistant/small", Payload: heavy, QoS: 1, ID: 1, Retain: true}.Bytes())
	old.Expect("40020001")
	for _, topic := range []string{"homeassistant/7", "homeassistant/small"} { // nor the smaller one of before
		if _, kept := r.mqtt.Topics.Retained.Get(topic); kept {
			t.Errorf("%s is retained", topic)
		}
	}
	will := guardtest.Dial(t, r.addr)
	will.Login(guardtest.Connect{ClientID: "will", Username: "lights", Password: "secret", WillTopic: "homeassistant/lights/w", Will: "gone", WillRetain: true})
	_ = will.Close()
	for next(t, r.sink.ingested).topic != "homeassistant/lights/w" {
		continue
	}
	if _, kept := r.mqtt.Topics.Retained.Get("homeassistant/lights/w"); !kept {
		t.Error("a will of a user who has room is not retained")
	}
}

func TestUsersShareTheRoomForRetainedMessages(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	kept := func(user, topic string) bool {
		c := r.user(t, user, topic)
		c.Send(guardtest.Publish{Topic: topic, Payload: heavy, QoS: 1, ID: 1, Retain: true}.Bytes())
		c.Expect("40020001")
		_, ok := r.mqtt.Topics.Retained.Get(topic)
		return ok
	}
	for i := range 9 {
		user, topic := "homeassistant", fmt.Sprint("homeassistant/", i)
		if i >= 5 {
			user, topic = "lights", fmt.Sprint("homeassistant/lights/", i)
		}
		if !kept(user, topic) {
			t.Errorf("message %d is not retained", i)
		}
	}
	if kept("lights", "homeassistant/lights/9") {
		t.Error("more is retained than all users may have")
	}
}

func TestLargeRetainedMessagesAllArrive(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.user(t, "homeassistant", "writer")
	const count = 6
	for i := range count {
		c.Send(guardtest.Publish{Topic: fmt.Sprint("homeassistant/", i), Payload: heavy, QoS: 1, ID: 1, Retain: true}.Bytes())
		c.Expect("40020001")
	}
	sub := r.user(t, "homeassistant", "reader")
	sub.Send(guardtest.Subscribe(4, 1, "homeassistant/#"))
	sub.Expect("9003000101")
	for range count {
		p := sub.Packet()
		sub.Send(guardtest.Puback(guardtest.PublishID(p)))
	}
	sub.Alive()
}

// TestSlowReaderKeepsNobodyWaiting has a client not read what is retained: others go on
// publishing and subscribing.
func TestSlowReaderKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), func(c *Config) { c.Guard.WriteTimeout = time.Hour })
	pub := r.user(t, "homeassistant", "writer")
	retain := func(name, payload string) {
		pub.Send(guardtest.Publish{Topic: "homeassistant/" + name, Payload: payload, QoS: 1, ID: 1, Retain: true}.Bytes())
		pub.Expect("40020001")
	}
	for i := range 5 {
		retain(fmt.Sprint(i), heavy)
	}
	slow := r.user(t, "homeassistant", "slow")
	slow.Send(guardtest.Subscribe(4, 1, "homeassistant/#"))
	slow.Expect("9003000101")
	retain("later", "x")
	other := r.user(t, "homeassistant", "other")
	other.Send(guardtest.Subscribe(4, 0, "homeassistant/later"))
	other.Expect("9003000100")
	if got := other.Packet(); !strings.Contains(string(got), "later") {
		t.Errorf("the other subscriber has %x", got)
	}
}

func TestWhatWaitsForAUserIsBounded(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), func(c *Config) { c.Guard.WriteTimeout = time.Hour })
	const readers, left = 12, 9
	for i := range readers {
		sub := r.user(t, "homeassistant", fmt.Sprint("sub", i))
		sub.Send(guardtest.Subscribe(4, 0, "homeassistant/#"))
		sub.Expect("9003000100")
	}
	pub := r.user(t, "homeassistant", "pub")
	pub.Send(guardtest.Publish{Topic: "homeassistant/x", Payload: heavy, QoS: 1, ID: 1}.Bytes())
	pub.Expect("40020001")
	for range readers - left {
		if got := next(t, r.sink.disconnected); got != "the client does not read" {
			t.Errorf("disconnected for %q", got)
		}
	}
	if got := r.Counters().SlowReaders; got != readers-left {
		t.Errorf("%d are cut, want %d", got, readers-left)
	}
	pub.Alive()
}

func TestUserThatAcknowledgesNothingIsCut(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	sub, pub := r.user(t, "homeassistant", "sub"), r.user(t, "homeassistant", "pub")
	sub.Send(guardtest.Subscribe(4, 1, "homeassistant/#"))
	sub.Expect("9003000101")
	for range 9 { // which is reached before the tenth
		pub.Send(guardtest.Publish{Topic: "homeassistant/x", Payload: heavy, QoS: 1, ID: 1}.Bytes())
		pub.Expect("40020001")
		p := sub.Packet()
		sub.Send(guardtest.Puback(guardtest.PublishID(p)))
	}
	sub.Alive() // it has acknowledged all so far
	for i := range 20 {
		pub.Send(guardtest.Publish{Topic: "homeassistant/x", Payload: heavy, QoS: 1, ID: 1}.Bytes())
		pub.Expect("40020001")
		if _, err := sub.TryPacket(); err != nil {
			break
		}
		if i >= 9 {
			t.Fatalf("%d messages of 0.9 MB wait to be acknowledged", i+1)
		}
	}
	if got := next(t, r.sink.disconnected); got != "the client does not read" {
		t.Errorf("disconnected for %q", got)
	}
	pub.Alive()
}

func TestMemoryGoesBackOnceForSeveralThatAreCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int32
		b := budgets{free: func() { given.Add(1) }}
		for want := int32(1); want <= 2; want++ {
			for range 10 {
				b.freeSoon()
			}
			time.Sleep(2 * freeAfter)
			if given.Load() != want {
				t.Errorf("memory was given back %d times, want %d", given.Load(), want)
			}
		}
	})
}
