package nodedoor

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// household plays the engine: who is adopted, and what was reported.
type household struct {
	t       *testing.T
	door    *Door
	now     time.Time
	macs    map[netip.Addr]motion.MAC
	allowed map[string]bool // deviceIds that may come in

	mu      sync.Mutex
	waiting []string // deviceIds that have asked in vain
	batches []csi.Batch
	said    []float64 // intensities of nodes that decide themselves
	ended   []string  // deviceIds whose sessions have ended
	figures map[string]motion.NodeFigures
	gone    bool // no device is known any more
}

func (h *household) Receiver(_ context.Context, said motion.Radar, _ motion.MAC, _ motion.Credentials) (key motion.DeviceKey, receiver motion.MAC, why string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.allowed[said.DeviceID] {
		h.waiting = append(h.waiting, said.DeviceID)
		return key, receiver, "waiting for adoption", nil
	}
	return motion.DeviceKey{Kind: motion.RadarKind, ID: said.DeviceID}, said.Interfaces[0].MAC, "", nil
}

func (h *household) Report(_ context.Context, _ motion.DeviceKey, r motion.Report) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return errors.New("the device is not logged in")
	}
	if said, ok := r.(motion.LinkMotions); ok {
		h.said = append(h.said, said.Links[0].MKAI)
		return nil
	}
	var b csi.Batch
	if err := csi.Decode(slices.Clone(r.(motion.NodeCSI).Batch), &b); err != nil {
		h.t.Error(err)
	}
	h.batches = append(h.batches, b)
	return nil
}

func (h *household) BadInput(device, reason string, _ []byte) { h.t.Errorf("%s: %s", device, reason) }

func (h *household) Disconnected(device motion.DeviceKey, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, device.ID)
}

func (h *household) KnowsTransmitter(_ motion.DeviceKey, mac motion.MAC) bool { return mac == ownNode }

func (h *household) NodeFigures(id string, f *motion.NodeFigures) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f == nil {
		delete(h.figures, id)
		return
	}
	h.figures[id] = *f
}

// Addresses of the tests.
var (
	here, there     = netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")
	nodeMAC, other  = motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}, motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xad}
	router, ownNode = motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}, motion.MAC{0x24, 1, 2, 3, 4, 5}
	stranger        = motion.MAC{0x9a, 1, 1, 1, 1, 1}
	nodeID, otherID = "node:ruview:7c2c6742bbac:2", "node:ruview:7c2c6742bbad:2"
	nodeHere        = source{kind: motion.RuView, address: here, number: 2}
	nothingPicked   = []motion.MAC{}
)

func newHousehold(t *testing.T, picked []motion.MAC) *household {
	t.Helper()
	t.Parallel()
	h := &household{
		t: t, now: time.Unix(1764000000, 0), macs: map[netip.Addr]motion.MAC{here: nodeMAC}, allowed: map[string]bool{},
		figures: map[string]motion.NodeFigures{},
	}
	h.door = New(Config{Transmitters: picked}, Options{
		Engine: h, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now },
		Neighbour: func(a netip.Addr) motion.MAC { return h.macs[a] },
		Connected: func() ([]netip.Prefix, error) { return []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}, nil },
	})
	if err := h.door.Listen(); err != nil {
		t.Fatal(err)
	}
	return h
}

// pass lets seconds pass, in each of which frames come from a source; each frame differs.
func (h *household) pass(seconds, rate int, from source, f nodewire.Frame) {
	h.t.Helper()
	for range seconds {
		for range rate {
			h.now = h.now.Add(time.Second / time.Duration(rate))
			f.Seq.Number++
			if h.door.admits(from.kind, from.address) == admitted {
				f.Data = []byte{byte(f.Seq.Number), byte(f.Seq.Number >> 8), 1, 2}
				h.door.take(from, &f)
			}
		}
		if rate == 0 {
			h.now = h.now.Add(time.Second)
		}
		h.door.handOver(h.t.Context())
		h.door.repeat(h.t.Context())
		h.door.tend(h.t.Context())
	}
}

// frame returns a frame that a transmitter has sent, with the number after which frames go on.
func frame(src motion.MAC, after uint32) nodewire.Frame {
	return nodewire.Frame{Node: 2, Src: src, Seq: nodewire.Sequence{Number: after, Bits: 32}, Channel: 6, RSSI: -50, Noise: -95, Flags: csi.ImagFirst, Length: 4}
}

// frames returns how many frames were reported, by link source.
func (h *household) frames() map[motion.MAC]int {
	counts := map[motion.MAC]int{}
	for _, b := range h.batches {
		counts[b.Src] += len(b.Frames)
	}
	return counts
}

func TestNodeWaitsUntilItIsLetInAndThenEachFrameCountsOnce(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.pass(12, 20, nodeHere, frame(router, 0))
	if len(h.batches) > 0 || !slices.Contains(h.waiting, nodeID) {
		t.Fatalf("%d batches of a node that waits as %v, want none of %s", len(h.batches), h.waiting, nodeID)
	}
	h.allowed[nodeID] = true
	h.pass(10, 20, nodeHere, frame(router, 1000))
	h.batches = nil
	h.pass(10, 20, nodeHere, frame(router, 2000))
	if got := h.frames(); len(got) != 1 || got[router] != 200 {
		t.Errorf("frames by transmitter: %v, want 200 of the router", got)
	}
	times := map[uint64]bool{}
	for _, b := range h.batches {
		if b.Dst != nodeMAC || b.Channel != 6 || b.Subcarriers != 2 {
			t.Errorf("batch %+v", b)
		}
		for i := range b.Frames {
			times[b.Start+uint64(b.Frames[i].Offset)] = true
		}
	}
	if len(times) != 200 {
		t.Errorf("the frames have %d times, want 200", len(times))
	}
	if f := h.figures[nodeID]; f.Rate != 20 || f.Used != 20 || len(f.Lengths) != 1 || f.MAC != nodeMAC {
		t.Errorf("figures %+v", f)
	}
}

func TestForeignNetworksAndFloodsAreTurnedAway(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	for _, a := range []string{"198.51.100.7", "10.0.0.1", "2001:db8::1"} {
		if h.door.admits(motion.RuView, netip.MustParseAddr(a)) != foreign {
			t.Errorf("%s may send", a)
		}
	}
	h.allowed[nodeID] = true
	h.pass(4, 100, nodeHere, frame(router, 0))
	flood := netip.MustParseAddr("192.0.2.200")
	let := 0
	for range 50_000 {
		if h.door.admits(motion.RuView, flood) == admitted {
			let++
		}
	}
	if let > strangerBurst+1 {
		t.Errorf("%d of 50,000 messages at once of a stranger are looked at", let)
	}
	h.batches = nil
	h.pass(2, 100, nodeHere, frame(router, 1000))
	if got := h.frames()[router]; got < 195 {
		t.Errorf("during the flood %d frames of 200 of the node count", got)
	}
	let = 0
	for range 1000 {
		if h.door.admits(motion.RuView, here) == admitted {
			let++
		}
	}
	if let > nodeBurst+1 {
		t.Errorf("%d messages at once of one node", let)
	}
	h.pass(1, 1, nodeHere, frame(router, 3000))
	if f := h.figures[nodeID]; f.TooFast < 400 || !slices.Contains(f.Advice, motion.BeyondRate) {
		t.Errorf("it is not told: %+v", f)
	}
}

func TestStrangersDoNotPushOutAdoptedNodes(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	h.allowed[nodeID] = true
	h.pass(3, 20, nodeHere, frame(router, 0))
	for i := range 200 {
		h.now = h.now.Add(10 * time.Millisecond)
		from := source{kind: motion.RuView, address: netip.AddrFrom4([4]byte{192, 0, 2, byte(50 + i)}), number: byte(i)}
		f := frame(router, 1)
		h.door.take(from, &f)
		if i%50 == 0 {
			h.door.tend(t.Context())
		}
	}
	if got := len(h.door.sources); got > maxPending+1 {
		t.Errorf("%d nodes are remembered", got)
	}
	if n := h.door.sources[nodeHere]; n == nil || n.key.ID != nodeID {
		t.Error("the adopted node is gone")
	}
	if got := len(h.waiting); got > 5*asksASecond {
		t.Errorf("the engine was asked %d times", got)
	}
}

func TestOneStrangerTakesAFewPlacesAlone(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	h.pass(2, 20, nodeHere, frame(router, 0))
	let := 0
	for i := range 1000 {
		h.now = h.now.Add(time.Millisecond)
		if h.door.admits(motion.RuView, there) == admitted {
			let++
			f := frame(router, 1)
			h.door.take(source{kind: motion.RuView, address: there, number: byte(i)}, &f)
		}
	}
	if let > oneBurst+oneRate+1 || len(h.door.sources) > maxAtAddress+1 {
		t.Errorf("%d of its messages in a second are looked at, and it has %d places", let, len(h.door.sources)-1)
	}
	if h.door.sources[nodeHere] == nil {
		t.Error("the node that waited before is gone")
	}
}

func TestGroupsTransmitNothing(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	h.allowed[nodeID] = true
	for _, group := range []motion.MAC{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {1, 0, 0x5e, 0, 0, 1}} {
		h.pass(15, 20, nodeHere, frame(group, 0))
	}
	if len(h.batches) > 0 || len(h.figures[nodeID].Transmitters) > 0 {
		t.Errorf("frames %v, transmitters %v", h.frames(), h.figures[nodeID].Transmitters)
	}
}

func TestNodeThatRepeatsItsNumberIsTold(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(3, 20, nodeHere, frame(router, 0))
	for i := range 200 {
		h.now = h.now.Add(50 * time.Millisecond)
		f := frame(router, 100)
		f.Data = []byte{byte(i), 1, 1, 1}
		h.door.take(nodeHere, &f)
		if i%20 == 19 {
			h.door.tend(t.Context())
		}
	}
	if f := h.figures[nodeID]; !slices.Contains(f.Advice, motion.SameAgain) {
		t.Errorf("advice %v of a node that is heard and not used", f.Advice)
	}
}

func TestDoublesAndStepsBackAreLeftOut(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(3, 20, nodeHere, frame(router, 5000))
	n := h.door.sources[nodeHere]
	h.batches = nil
	for _, c := range []struct {
		number uint32
		after  time.Duration
	}{{6000, 0}, {6000, 0}, {5990, 0}, {6001, 0}, {3, 0}, {4, 0}, {6002, 0}} {
		h.now = h.now.Add(c.after + time.Millisecond)
		f := frame(router, c.number)
		f.Data = []byte{byte(c.number), 7, 7, 7}
		h.door.take(nodeHere, &f)
	}
	h.door.handOver(t.Context())
	var got []uint16
	for _, b := range h.batches {
		for i := range b.Frames {
			got = append(got, b.Frames[i].Seq)
		}
	}
	if !slices.Equal(got, []uint16{6000, 6001, 3, 4, 6002}) {
		t.Errorf("frames %v", got)
	}
	if n.tally.duplicates != 1 || n.tally.backwards != 1 || n.tally.restarts != 1 {
		t.Errorf("%+v", n.tally)
	}
}

func TestSecondSourceAndRepeatedFramesAreTold(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(3, 20, nodeHere, frame(router, 5000))
	f, spoofed := frame(router, 6000), frame(router, 5500)
	for i := range 200 {
		h.now = h.now.Add(25 * time.Millisecond)
		f.Seq.Number++
		spoofed.Seq.Number++
		f.Data, spoofed.Data = []byte{1, 1, 1, 1}, []byte{1, 1, 1, 1}
		h.door.take(nodeHere, &f)
		h.door.take(nodeHere, &spoofed)
		if i%40 == 39 {
			h.door.tend(t.Context())
		}
	}
	if f := h.figures[nodeID]; !slices.Contains(f.Advice, motion.SecondSource) || !slices.Contains(f.Advice, motion.SameAgain) {
		t.Errorf("advice %v", f.Advice)
	}
}

func TestTransmittersThatCount(t *testing.T) {
	mixed := func(h *household, shares map[motion.MAC]int) map[motion.MAC]int {
		h.allowed[nodeID] = true
		h.pass(3, 20, nodeHere, frame(router, 0))
		h.batches = nil
		n := h.door.sources[nodeHere]
		n.transmitters = nil
		number := uint32(1000)
		for range 100 {
			for mac, many := range shares {
				for range many {
					number++
					h.now = h.now.Add(10 * time.Millisecond)
					f := frame(mac, number)
					f.Data = []byte{byte(number), byte(number >> 8), 0, 1}
					h.door.take(nodeHere, &f)
				}
			}
			h.door.handOver(h.t.Context())
			h.door.tend(h.t.Context())
		}
		return h.frames()
	}
	for name, c := range map[string]struct {
		picked []motion.MAC
		shares map[motion.MAC]int
		want   []motion.MAC
		advice motion.NodeAdvice
	}{
		"picked":                {[]motion.MAC{router}, map[motion.MAC]int{router: 1, stranger: 3, ownNode: 1}, []motion.MAC{router, ownNode}, ""},
		"a node of the network": {nil, map[motion.MAC]int{ownNode: 1, stranger: 3}, []motion.MAC{ownNode}, ""},
		"one makes nearly all":  {nil, map[motion.MAC]int{router: 9, stranger: 1}, []motion.MAC{router}, ""},
		"none that can be told": {nil, map[motion.MAC]int{router: 2, stranger: 2}, nil, motion.NoTransmitter},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHousehold(t, c.picked)
			got := mixed(h, c.shares)
			for mac, many := range got {
				if many < 5 {
					delete(got, mac) // before the network's own nodes were looked up
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("frames of %v count, want those of %v", got, c.want)
			}
			for _, mac := range c.want {
				if got[mac] == 0 {
					t.Errorf("no frame of %s counts", mac)
				}
			}
			if advice := h.figures[nodeID].Advice; (c.advice != "") != slices.Contains(advice, motion.NoTransmitter) {
				t.Errorf("advice %v, want %s", advice, c.advice)
			}
		})
	}
}

// TestNobodyIsToldToPickATransmitterBeforeOneCouldBeFound: the first frames tell too little.
func TestNobodyIsToldToPickATransmitterBeforeOneCouldBeFound(t *testing.T) {
	h := newHousehold(t, nil)
	h.allowed[nodeID] = true
	for seconds := range 20 {
		h.pass(1, 20, nodeHere, frame(router, uint32(20*seconds)))
		f := h.figures[nodeID]
		if found := 20*seconds > aloneAfter; slices.Contains(f.Advice, motion.NoTransmitter) || found && f.Used == 0 {
			t.Errorf("after %d s %.1f of %.1f frames a second are used, advice %v", seconds, f.Used, f.Rate, f.Advice)
		}
	}
}

func TestNodeIsFollowedToAnotherAddressAndNotToAnotherMAC(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(5, 20, nodeHere, frame(router, 0))
	h.macs[there] = nodeMAC
	h.batches, h.waiting, h.ended = nil, nil, nil
	moved := source{kind: motion.RuView, address: there, number: 2}
	h.pass(5, 20, moved, frame(router, 1000))
	if h.frames()[router] < 60 || len(h.waiting) > 0 || h.figures[nodeID].Address != there.String() {
		t.Errorf("at its new address %d frames count, %v wait", h.frames()[router], h.waiting)
	}
	h.macs[there] = other
	h.pass(12, 20, moved, frame(router, 2000))
	h.batches = nil
	h.pass(5, 20, moved, frame(router, 3000))
	if len(h.batches) > 0 || !slices.Contains(h.waiting, otherID) || !slices.Contains(h.ended, nodeID) {
		t.Errorf("another device at that address: %d batches, %v wait, ended %v", len(h.batches), h.waiting, h.ended)
	}
	if _, told := h.figures[nodeID]; told {
		t.Error("figures of the node that is gone stay")
	}
}

func TestNodeWithoutMACIsKnownByItsAddress(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	from := source{kind: motion.RuView, address: there, number: 2}
	id := "node:ruview:192-0-2-8:2"
	h.allowed[id] = true
	h.pass(15, 20, from, frame(router, 0))
	if h.frames()[router] == 0 || !slices.Contains(h.figures[id].Advice, motion.NeighbourUnknown) {
		t.Errorf("frames %v, figures %+v", h.frames(), h.figures)
	}
	h.macs[there] = nodeMAC // it is known by its address meanwhile
	h.pass(12, 20, from, frame(router, 1000))
	if len(h.ended) > 0 {
		t.Error("its session has ended when its MAC became known")
	}
}

func TestSilentNodeIsOfflineAndComesBack(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(5, 20, nodeHere, frame(router, 0))
	h.pass(29, 0, nodeHere, frame(router, 0))
	if len(h.ended) > 0 {
		t.Fatal("it is offline too early")
	}
	h.pass(3, 0, nodeHere, frame(router, 0))
	if !slices.Equal(h.ended, []string{nodeID}) || !slices.Contains(h.figures[nodeID].Advice, motion.NothingArrives) {
		t.Errorf("ended %v, %+v", h.ended, h.figures[nodeID])
	}
	h.batches = nil
	h.pass(5, 20, nodeHere, frame(router, 10))
	if h.frames()[router] < 60 {
		t.Errorf("back again, %d frames count", h.frames()[router])
	}
}

func TestRemovedNodeAsksAgain(t *testing.T) {
	h := newHousehold(t, []motion.MAC{router})
	h.allowed[nodeID] = true
	h.pass(5, 20, nodeHere, frame(router, 0))
	h.allowed[nodeID], h.gone = false, true
	h.pass(13, 20, nodeHere, frame(router, 1000))
	if !slices.Contains(h.waiting, nodeID) {
		t.Error("it does not wait")
	}
	h.allowed[nodeID], h.gone, h.batches = true, false, nil
	h.pass(13, 20, nodeHere, frame(router, 2000))
	if len(h.batches) == 0 {
		t.Error("let in again, nothing counts")
	}
	h.door.Forget(nodeID)
	if h.door.sources[nodeHere].key.ID != "" {
		t.Error("removed, it is in still")
	}
}

// hears lets an integration user of the broker publish messages, each a topic and a payload, and a second pass.
func (h *household) hears(user string, messages ...string) {
	h.t.Helper()
	for i := 0; i < len(messages); i += 2 {
		h.door.UserSaid(user, "c", user, messages[i], []byte(messages[i+1]))
	}
	h.pass(1, 0, source{}, nodewire.Frame{})
}

func TestMotionOfUsersOfTheBroker(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	const score, state, id = "sensor/movement_score/state", "binary_sensor/motion_detected/state", "node:mqtt:esp"
	h.hears("esp", state, "ON") // nobody of that name is connected
	h.door.UserConnected("esp", "c", here)
	h.hears("esp", score, "0.5", "number/threshold/state", "2")
	h.hears("esp")
	if len(h.said) > 0 || !slices.Contains(h.waiting, id) {
		t.Fatalf("it waits as %v, and %v counts", h.waiting, h.said)
	}
	h.allowed[id] = true
	h.pass(10, 0, source{}, nodewire.Frame{})
	h.said = nil
	last := func() float64 { return h.said[len(h.said)-1] }
	for _, c := range []struct {
		topic, payload string
		want           float64
	}{
		{score, "0.5", 0}, {score, "2", 0.5}, {score, "9", 1}, {state, "OFF", 0}, {state, "ON", 1}, {score, "0.5", surely},
		{"sensor/temperature/state", "21", surely},
	} {
		if h.hears("esp", c.topic, c.payload); last() != c.want {
			t.Errorf("after %s %s: %v, want %v", c.topic, c.payload, last(), c.want)
		}
	}
	h.pass(31, 0, source{}, nodewire.Frame{})
	if !slices.Contains(h.ended, id) {
		t.Error("it tells its score no more, and is not offline")
	}
}

func TestNodeOfTheBrokerThatSpeaksOnlyOfChanges(t *testing.T) {
	h := newHousehold(t, nothingPicked)
	const id = "node:mqtt:esp-hall"
	h.allowed[id] = true
	h.door.UserConnected("esp", "c", here)
	h.door.UserConnected("esp", "other", here)
	h.hears("esp", "hall/binary_sensor/motion/state", "OFF")
	h.pass(120, 0, source{}, nodewire.Frame{})
	if len(h.ended) > 0 || len(h.said) < 100 || h.said[len(h.said)-1] != 0 {
		t.Errorf("it said that nothing moves and is connected: ended %v, %d figures", h.ended, len(h.said))
	}
	h.door.UserGone("esp", "other")
	before := len(h.said)
	if h.pass(5, 0, source{}, nodewire.Frame{}); len(h.said) == before {
		t.Error("another connection of its user has ended, and it counts no more")
	}
	h.door.UserConnected("esp", "other", here)
	h.door.UserGone("esp", "c")
	before = len(h.said)
	h.pass(35, 0, source{}, nodewire.Frame{})
	if len(h.said) != before || !slices.Contains(h.ended, id) {
		t.Errorf("its connection has ended: %d figures since, ended %v", len(h.said)-before, h.ended)
	}
	h.door.UserConnected("esp", "c", here)
	h.hears("esp", "hall/status", "online", "hall/binary_sensor/motion/state", "ON")
	h.hears("esp", "hall/status", "offline")
	before = len(h.said)
	if h.pass(5, 0, source{}, nodewire.Frame{}); len(h.said) != before {
		t.Error("it has said that it is offline, and counts")
	}
}

func TestConfigurationMistakesAreNamed(t *testing.T) {
	t.Parallel()
	c := Defaults()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.RuView = RuViewConfig{Listen: ":5005", Forward: "127.0.0.1:5005"}
	c.Transmitters = []motion.MAC{{1, 0, 0x5e, 0, 0, 1}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "listens itself") || !strings.Contains(err.Error(), "transmitters[0]") {
		t.Error(err)
	}
	c.RuView = RuViewConfig{Listen: "5005", Forward: "box:99999"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "ruview.listen") || !strings.Contains(err.Error(), "ruview.forward") {
		t.Error(err)
	}
}
