package nodewire_test

import (
	"fmt"
	"testing"

	"sensegate/broker/nodewire"
)

func TestMotionMessages(t *testing.T) {
	t.Parallel()
	text := func(m nodewire.Motion, err error) string {
		if err != nil {
			return err.Error()
		}
		s := m.Node
		if m.Moves != nil {
			s += fmt.Sprint(" moves=", *m.Moves)
		}
		if m.Score != nil {
			s += fmt.Sprint(" score=", *m.Score)
		}
		if m.Threshold != nil {
			s += fmt.Sprint(" threshold=", *m.Threshold)
		}
		if m.Alive != nil {
			s += fmt.Sprint(" alive=", *m.Alive)
		}
		return s
	}
	other, form := nodewire.ErrOther.Error(), nodewire.ErrForm.Error()
	for _, c := range []struct{ topic, payload, want string }{
		{"esp/binary_sensor/motion_detected/state", "ON", "esp moves=true"},
		{"binary_sensor/motion_detected/state", "OFF", " moves=false"},
		{"a/b/binary_sensor/room_occupancy/state", "OFF", "a/b moves=false"},
		{"esp/binary_sensor/door/state", "ON", other},
		{"esp/binary_sensor/motion/state", "on", form},
		{"esp/sensor/movement_score/state", "1.25", "esp score=1.25"},
		{"esp/number/threshold/state", "2", "esp threshold=2"},
		{"esp/sensor/movement_score/state", "nan", form},
		{"esp/sensor/movement_score/state", "-1", form},
		{"esp/sensor/temperature/state", "21", other},
		{"esp/status", "offline", "esp alive=false"},
		{"esp/status", "busy", other},
		{"node1", `{"movement":0.1234,"threshold":1.0,"state":"motion","pps":100}`, "node1 moves=true score=0.1234 threshold=1"},
		{"node1", `{"movement":0.1234,"threshold":1.0,"state":"idle"}`, "node1 moves=false score=0.1234 threshold=1"},
		{"3cf79180d3a0aca4/motion", `{"timestamp_ms":42000,"state":"idle","score":0.0123}`, "3cf79180d3a0aca4 moves=false score=0.0123"},
		{"3cf79180d3a0aca4/sensing", `{"enabled":true,"threshold":0.3}`, "3cf79180d3a0aca4 threshold=0.3"},
		{"3cf79180d3a0aca4/health", `{"status":"offline"}`, "3cf79180d3a0aca4 alive=false"},
		{"3cf79180d3a0aca4/wifi", `{"ssid":"x"}`, other},
		{"node1", `{"movement":-1}`, form},
		{"node1", `{"movement":`, form},
		{"node1", "", other},
		{"node1", "{}", other},
	} {
		if got := text(nodewire.MQTTMotion(c.topic, []byte(c.payload))); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.topic, c.payload, got, c.want)
		}
	}
}

func FuzzMQTTMotion(f *testing.F) {
	f.Add("esp/binary_sensor/motion_detected/state", []byte("ON"))
	f.Add("node1", []byte(`{"movement":0.1234,"threshold":1.0,"state":"motion"}`))
	f.Add("a/sensor/movement_score/state", []byte("1e5"))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		m, err := nodewire.MQTTMotion(topic, payload)
		if err == nil && m.Moves == nil && m.Score == nil && m.Threshold == nil && m.Alive == nil {
			t.Errorf("%q %q says nothing and is read", topic, payload)
		}
		for _, v := range []*float64{m.Score, m.Threshold} {
			if v != nil && (*v < 0 || *v != *v) {
				t.Errorf("%q %q: %v", topic, payload, *v)
			}
		}
	})
}
