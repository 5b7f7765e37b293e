package nodedoor

import (
	"net/netip"
	"slices"
	"testing"

	"sensegate/broker/nodewire"
)

// outside lets the broker of an uplink pass on messages, each a topic and a payload, and a second pass. It returns the
// node of the last one.
func (h *household) outside(uplink string, retained bool, messages ...string) (node string) {
	h.t.Helper()
	for i := 0; i < len(messages); i += 2 {
		node, _ = h.door.OutsideSaid(uplink, messages[i], []byte(messages[i+1]), retained)
	}
	h.pass(1, 0, source{}, nodewire.Frame{})
	return node
}

// passes lets seconds pass without a message.
func (h *household) passes(seconds int) { h.pass(seconds, 0, source{}, nodewire.Frame{}) }

func TestNodesOfAnOutsideBrokerAreRecognised(t *testing.T) {
	for _, c := range []struct{ topic, payload, node, id string }{
		{"espectre/v1/devices/0123456789abcdef/motion", `{"state":"motion","score":0.02}`, "espectre/v1/devices/0123456789abcdef", "node:mqtt:house-0123456789abcdef"},
		{"home/espectre/node1", `{"movement":0.1,"threshold":1,"state":"idle"}`, "home/espectre/node1", "node:mqtt:house-home-espectre-node1"},
		{"living/sensor/movement_score/state", "0.4", "living", "node:mqtt:house-living"},
		{"esp/living/sensor/movement_score/state", "0.4", "esp/living", "node:mqtt:house-esp-living"},
		{"hall/binary_sensor/motion/state", "ON", "", ""},
		{"zigbee2mqtt/hall", `{"state":"motion"}`, "", ""},
		{"home/espectre/node1/response", `{"state":"motion"}`, "", ""},
		{"espectre/v1/devices/0123456789abcdef/wifi", `{"state":"motion"}`, "", ""},
		{"living/sensor/movement_score/state", "rubbish", "", ""},
	} {
		t.Run(c.topic+" "+c.payload, func(t *testing.T) {
			h := newHousehold(t, nothingPicked)
			if h.outside("house", false, c.topic, c.payload); len(h.waiting) > 0 {
				t.Errorf("the uplink is not connected, and %v wait", h.waiting)
			}
			h.door.OutsideConnected("house")
			if node := h.outside("house", false, c.topic, c.payload); node != c.node {
				t.Errorf("node %q, want %q", node, c.node)
			}
			if c.id != "" && !slices.Contains(h.waiting, c.id) || c.id == "" && len(h.waiting) > 0 {
				t.Errorf("%v wait, want %q", h.waiting, c.id)
			}
		})
	}
}

func TestMotionOfANodeOfAnOutsideBroker(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	const score, state, status, id = "living/sensor/movement_score/state", "living/binary_sensor/motion_detected/state", "living/status", "node:mqtt:house-living"
	h.allowed[id] = true
	h.door.OutsideConnected("house")
	if h.outside("house", false, state, "ON"); len(h.waiting) > 0 {
		t.Errorf("any node of ESPHome is taken for one that senses by radio: %v", h.waiting)
	}
	h.outside("house", true, score, "9")
	h.outside("house", true, state, "ON", status, "online")
	if h.passes(12); len(h.said) > 0 {
		t.Fatalf("what the broker had kept counts: %v", h.said)
	}
	h.outside("house", false, score, "0.5")
	if h.outside("house", false, state, "ON"); h.said[len(h.said)-1] != surely {
		t.Errorf("it sees motion: %v", h.said)
	}
	before := len(h.said)
	h.outside("house", false, status, "offline")
	if h.passes(3); len(h.said) != before {
		t.Error("it is offline, and counts")
	}
	h.outside("house", false, score, "0.5", state, "OFF")
	h.door.OutsideGone("house")
	before = len(h.said)
	if h.passes(35); len(h.said) != before || !slices.Contains(h.ended, id) {
		t.Errorf("the broker is not heard any more: %d figures since, ended %v", len(h.said)-before, h.ended)
	}
}

func TestNodeOfTwoBrokersCountsOnce(t *testing.T) {
	const score, threshold = "sensor/movement_score/state", "number/threshold/state"
	for name, c := range map[string]struct {
		other string
		say   func(h *household)
		both  bool
	}{
		"our own broker":             {"node:mqtt:living", func(h *household) { h.hears("living", score, "3", threshold, "1") }, false},
		"the broker of two uplinks":  {"node:mqtt:second-living", func(h *household) { h.outside("second", false, "living/"+score, "3", "living/"+threshold, "1") }, false},
		"another node of our broker": {"node:mqtt:hall", func(h *household) { h.hears("hall", score, "3", threshold, "1") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHousehold(t, nothingPicked)
			h.allowed["node:mqtt:house-living"], h.allowed[c.other] = true, true
			for _, name := range []string{"living", "hall"} {
				h.door.UserConnected(name, "c", netip.MustParseAddr("192.168.1.9"))
			}
			h.door.OutsideConnected("house")
			h.door.OutsideConnected("second")
			say := func(seconds int) {
				for range seconds / 2 {
					h.outside("house", false, "living/"+score, "3", "living/"+threshold, "1")
					c.say(h)
				}
			}
			say(40)
			h.said = nil
			say(10)
			if twice := len(h.said) > 15; twice != c.both || len(h.said) == 0 { // each tells one figure a second
				t.Errorf("%d figures in 10 s", len(h.said))
			}
		})
	}
}

func TestNodeThatIsAskedByHTTPDoesNotCountAtABroker(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	h.door.OutsideConnected("house")
	const id = "0123456789abcdef"
	h.door.says(source{kind: "espectre", address: here, where: id}, nodewire.Motion{}, user{}, "", router)
	if h.outside("house", false, "espectre/v1/devices/"+id+"/motion", `{"state":"motion"}`); slices.Contains(h.waiting, "node:mqtt:house-"+id) {
		t.Errorf("%v wait", h.waiting)
	}
	if h.outside("house", false, "espectre/v1/devices/fedcba9876543210/motion", `{"state":"motion"}`); !slices.Contains(h.waiting, "node:mqtt:house-fedcba9876543210") {
		t.Errorf("another node: %v wait", h.waiting)
	}
}
