package homeassistant_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink/homeassistant"
)

// house is a House whose networks tests change.
type house struct {
	mu       sync.Mutex
	box      homeassistant.Box
	networks map[motion.NetworkID]homeassistant.Network
	tell     []func(homeassistant.Change)
	asked    []homeassistant.Command
	refuse   bool
}

func share(v float64) *float64 { return &v }

// newHouse returns a house with a network of two rooms, two nodes and a member.
func newHouse() *house {
	mac, _ := motion.ParseMAC("02:00:5e:10:00:37")
	return &house{
		box: homeassistant.Box{Name: "sensegate", URL: "http://gateway.local:8080/", Version: "1.0.0", Uptime: 90, Networks: 1, DB: 12.34},
		networks: map[motion.NetworkID]homeassistant.Network{1: {
			ID: 1, Name: "Home", Version: "3.2.1", Known: true, Home: true, Sensitivity: 2, Density: share(12.4),
			LastMotion: 1764000000.5, Online: 2, Leafs: 3,
			Rooms: []homeassistant.Room{
				{ID: 3, Name: "Kitchen", Known: true, Density: share(3), LastMotion: 1764000000},
				{ID: 4, Name: "Büro", Known: true},
			},
			Nodes:   []homeassistant.Node{{ID: 55, Name: "Gateway", Room: "Kitchen", MAC: mac, Online: true, LastSeen: 1764000000, RSSI: -51, Firmware: "2.0", Uptime: 5}},
			Members: []homeassistant.Member{{ID: 7, Name: "Sam", Present: true, Updated: 1764000000}},
		}},
	}
}

// change changes a network, and tells of it.
func (h *house) change(id motion.NetworkID, change func(*homeassistant.Network)) {
	h.mu.Lock()
	n := h.networks[id]
	n.Rooms = slices.Clone(n.Rooms)
	change(&n)
	h.networks[id] = n
	h.mu.Unlock()
	h.notify(homeassistant.Change{Network: id})
}

// remove deletes a network.
func (h *house) remove(id motion.NetworkID) {
	h.mu.Lock()
	delete(h.networks, id)
	h.mu.Unlock()
	h.notify(homeassistant.Change{})
}

func (h *house) notify(c homeassistant.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tell := range h.tell {
		tell(c)
	}
}

func (h *house) Watch(context.Context) func() { return func() {} }

func (h *house) Follow(_ context.Context, tell func(homeassistant.Change)) homeassistant.Follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tell = append(h.tell, tell)
	return h
}

func (h *house) Do(_ context.Context, c homeassistant.Command) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, c)
	n, ok := h.networks[c.Network]
	if h.refuse || !ok {
		return errors.New("refused by the test")
	}
	switch c.Do {
	case homeassistant.SetAway, homeassistant.SetHome:
		n.Away = c.Do == homeassistant.SetAway
	case homeassistant.Pause, homeassistant.Resume:
		n.Paused = c.Do == homeassistant.Pause
	case homeassistant.SetSensitivity:
		n.Sensitivity = c.Level
	}
	h.networks[c.Network] = n
	return nil
}

func (h *house) Box(context.Context) (homeassistant.Box, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.box, nil
}

func (h *house) Networks() []motion.NetworkID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.networks))
}

func (h *house) Network(_ context.Context, id motion.NetworkID) (homeassistant.Network, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.networks[id]
	return n, ok, nil
}

func (h *house) Intensity(motion.NetworkID) (float64, bool) { return 0.25, true }

// commands returns what was asked.
func (h *house) commands() []homeassistant.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// memory is a Kept.
type memory struct {
	mu sync.Mutex
	p  homeassistant.Published
}

func (m *memory) Load(context.Context) (homeassistant.Published, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.p), nil
}

func (m *memory) Store(_ context.Context, p homeassistant.Published) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p = maps.Clone(p)
	return nil
}

// box runs a Part on a connection.
type box struct {
	t     *testing.T
	base  string
	house *house
	kept  *memory
	peer  peer
	stop  func() // ends Run, and the connection without its last will
	cut   func() // as a power cut does
}

// runBox connects an appliance to the broker. change, which may be nil, changes its options.
func runBox(t *testing.T, broker, id string, h *house, kept *memory, change func(*homeassistant.Options)) *box {
	t.Helper()
	b := &box{t: t, base: "sensegate/" + id, house: h, kept: kept}
	o := homeassistant.Options{
		Box: id, Base: b.base, Alarm: true, House: h, Kept: kept, Log: slog.New(slog.DiscardHandler),
		Delay: func() time.Duration { return 0 },
	}
	if change != nil {
		change(&o)
	}
	client, cut := connect(t, broker, "sensegate-"+id, b.base+"/availability")
	b.peer = peer{client}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		part := homeassistant.New(o)
		err := part.Introduce(ctx, b.peer)
		if err == nil {
			client.Publish(b.base+"/availability", 1, true, "online")
			err = part.Run(ctx, b.peer)
		}
		if ctx.Err() != nil { // it was stopped
			err = nil
		}
		ended <- err
	}()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	b.stop = func() { end(); client.Disconnect(100) }
	b.cut = func() { cut(); end() }
	t.Cleanup(b.stop)
	return b
}

// shown waits until all that the network has was told: its availability comes last.
func (b *box) shown(w *witness) {
	b.t.Helper()
	w.holds(b.base+"/1/availability", "online")
	w.holds(b.base+"/availability", "online") // which is told last
}
