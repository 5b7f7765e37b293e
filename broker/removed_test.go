package broker

import (
	"strings"
	"testing"

	"sensegate/broker/guard/guardtest"
)

// TestWillOfAUserWhoWasRemovedIsNotPublished: neither heard, delivered nor retained, at once or after the
// delay that it asks for.
func TestWillOfAUserWhoWasRemovedIsNotPublished(t *testing.T) {
	t.Parallel()
	for name, con := range map[string]guardtest.Connect{
		"3.1.1": {},
		"5, with a delay and a session that goes on": {Version: 5, Properties: "11ffffffff", WillProperties: "1800000001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, newSink(), nil)
			told := r.listens("homeassistant", fine)
			watcher := r.user(t, "lights", "watcher")
			watcher.Send(guardtest.Subscribe(4, 0, "homeassistant/lights/#"))
			watcher.Expect("9003000100")
			con.ClientID, con.Username, con.Password = "bridge", "homeassistant", "secret"
			con.Will, con.WillTopic, con.WillRetain = "open", "homeassistant/lights/door", true
			c := guardtest.Dial(t, r.addr)
			c.Login(con)
			r.DisconnectUser("homeassistant", "user removed")
			if con.Version == 5 {
				c.Expect("e00198") // administrative action
			}
			c.ExpectClosed()
			next(t, r.sink.disconnected) // the library is done with the connection
			c = r.user(t, "homeassistant", "again")
			c.Send(guardtest.Publish{Topic: "homeassistant/lights/after", QoS: 1, ID: 1, Payload: "x"}.Bytes())
			if got := next(t, told); got.topic != "homeassistant/lights/after" {
				t.Errorf("the will is heard: %+v", got)
			}
			if p := watcher.Packet(); strings.Contains(string(p), "door") {
				t.Errorf("the will is delivered: % x", p)
			}
			if _, kept := r.mqtt.Topics.Retained.Get("homeassistant/lights/door"); kept {
				t.Error("the will is retained")
			}
		})
	}
}

// TestRetainedMessagesGoWithTheirUser: what others have had retained stays.
func TestRetainedMessagesGoWithTheirUser(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	for _, user := range []string{"homeassistant", "lights"} {
		c := r.user(t, user, user)
		for i, topic := range []string{"homeassistant/" + user + "/state", "homeassistant/" + user + "/devices"} {
			c.Send(guardtest.Publish{Topic: topic, QoS: 1, ID: uint16(i + 1), Payload: "x", Retain: true}.Bytes())
			c.Packet()
		}
	}
	retained := func(topic string) bool {
		_, kept := r.mqtt.Topics.Retained.Get(topic)
		return kept
	}
	if !retained("homeassistant/lights/state") || !retained("homeassistant/homeassistant/state") {
		t.Fatal("nothing is retained")
	}
	r.DisconnectUser("homeassistant", "user removed")
	for topic, want := range map[string]bool{
		"homeassistant/homeassistant/state": false, "homeassistant/homeassistant/devices": false,
		"homeassistant/lights/state": true, "homeassistant/lights/devices": true,
	} {
		if retained(topic) != want {
			t.Errorf("%s is retained: %t", topic, !want)
		}
	}
	if left := r.retained.users["homeassistant"]; left != 0 {
		t.Errorf("%d bytes are still counted", left)
	}
}
