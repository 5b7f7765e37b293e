// Package install plays the day on which somebody sets up the devices of a home: the gateway
// is there, extenders and leafs come one after the other, some of them with the faults that
// such days have, and a person walks where they are told to. It is for journeys through the
// product, by hand or in tests, that need something to set up and to sense.
//
// It knows the simulator, and of the appliance only the address.
package install

import (
	"context"
	_ "embed" // for the home
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/scenario"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

//go:embed home.yaml
var home []byte

// The devices that can have a fault.
const (
	RefusedNode = "Bathroom extender" // see sim.Refusal
	DeafNode    = "Kitchen extender"  // is connected, and neither sends nor hears a frame
	MovedLeaf   = "Printer"           // says that it is in the office, and stands in the bedroom
)

// astray is where MovedLeaf stands when it is moved: in the corner of the bedroom from which its
// link does not cross the office. Then a walk in the office crosses the link of the bedroom's lamp.
var astray = scenario.Spot{2.9, 6.4, 0.8}

// walkLength is how long a walk lasts, in seconds: longer than any walk test waits.
const walkLength motion.Seconds = 20

// Config configures New.
type Config struct {
	Gatekeeper  string // URL
	AccessToken string // pre-shared token of the gatekeeper; "" waits for adoption
	Seed        uint64
	// Pause is the time from one device to the next; 0: a device comes when Next is called.
	Pause time.Duration
	// The faults at the start.
	Refused     sim.Refusal
	Deaf, Moved bool

	Log *slog.Logger     // nil = no log
	Now func() time.Time // nil = time.Now
}

// Installation is a home whose devices are being set up. Run belongs to one goroutine; the other
// methods may be called concurrently with it, and before.
type Installation struct {
	pause time.Duration
	sim   *sim.Sim
	home  sim.Home
	moved *scenario.Scenario // the place with MovedLeaf astray

	mu      sync.Mutex
	here    int // so many of the devices have come, in the order of Devices
	refused sim.Refusal
	deaf    bool
	astray  bool
}

// Device is a device of the home.
type Device struct {
	Name  string
	Room  string // that it says it is in
	ID    string // deviceId of a node, MAC address of a leaf
	Node  bool   // else a leaf
	Here  bool   // it has come
	Fault string // "" = none
}

// New checks the configuration and returns an installation that is not running yet.
func New(c Config) (*Installation, error) {
	if c.Pause < 0 {
		return nil, fmt.Errorf("pause %s: want 0 or more", c.Pause)
	}
	place, err := scenario.Parse("installation", home)
	if err != nil {
		return nil, err
	}
	moved := *place
	moved.Leafs = slices.Clone(place.Leafs)
	leaf := slices.IndexFunc(moved.Leafs, func(l scenario.Leaf) bool { return l.Name == MovedLeaf })
	moved.Leafs[leaf].At = astray
	i := &Installation{pause: c.Pause, home: sim.HomeOf(place, 0), moved: &moved, here: 1, deaf: c.Deaf, astray: c.Moved}
	if err := i.SetRefused(c.Refused); err != nil {
		return nil, err
	}
	i.sim, err = sim.New(sim.Config{
		Seed: c.Seed, Gatekeeper: c.Gatekeeper, AccessToken: c.AccessToken, Log: c.Log, Now: c.Now, Home: i.home, Steady: true,
		Scene:     func(sim.Home, motion.Time) sim.Scene { return sim.Scene{} },
		Unplugged: func(node int) bool { return !i.isHere(node) },
		Faults: sim.Faults{
			Absent: func(leaf int) bool { return !i.isHere(len(i.home.Nodes) + leaf) },
			Deaf:   i.isDeaf, Refused: i.refusal, Place: i.place,
		},
	})
	return i, err
}

// Run connects the gateway, lets the other devices come, and plays until ctx ends. It may be
// called once.
func (i *Installation) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return i.sim.Run(ctx) })
	if i.pause > 0 {
		group.Go(func() error {
			i.arrive(ctx)
			return nil
		})
	}
	return group.Wait()
}

// arrive lets the devices come, with a pause before each.
func (i *Installation) arrive(ctx context.Context) {
	select {
	case <-i.Ready():
	case <-ctx.Done():
		return
	}
	next := time.NewTicker(i.pause)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		if _, ok := i.Next(); !ok {
			return
		}
	}
}

// Ready returns a channel that Run closes when the gateway is connected.
func (i *Installation) Ready() <-chan struct{} { return i.sim.Ready() }

// Network returns the network of the home, 0 before the gateway is adopted.
func (i *Installation) Network() motion.NetworkID { return i.sim.Network() }

// Counters returns what the devices have sent so far.
func (i *Installation) Counters() sim.Counters { return i.sim.Counters() }

// Next lets the next device come and returns it; ok is false when all have.
func (i *Installation) Next() (came Device, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.devices()
	if i.here == len(list) {
		return Device{}, false
	}
	came = list[i.here]
	came.Here = true
	i.here++
	return came, true
}

// All lets all devices come that have not.
func (i *Installation) All() {
	for ok := true; ok; {
		_, ok = i.Next()
	}
}

// Devices returns the devices in the order in which they come: gateway, extenders, leafs.
func (i *Installation) Devices() []Device {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.devices()
}

// devices is Devices; i.mu is held.
func (i *Installation) devices() (list []Device) {
	for _, n := range i.home.Nodes {
		list = append(list, Device{Name: n.FriendlyName, Room: n.Location, ID: n.DeviceID, Node: true})
	}
	for _, l := range i.home.Leafs {
		list = append(list, Device{Name: l.FriendlyName, Room: l.Location, ID: l.MAC.String()})
	}
	for k := range list {
		d := &list[k]
		d.Here = k < i.here
		switch {
		case d.Name == RefusedNode && i.refused != sim.NotRefused:
			d.Fault = "refused: " + string(i.refused)
		case d.Name == DeafNode && i.deaf:
			d.Fault = "deaf"
		case d.Name == MovedLeaf && i.astray:
			d.Fault = "moved"
		}
	}
	return list
}

// SetRefused changes why RefusedNode is refused.
func (i *Installation) SetRefused(r sim.Refusal) error {
	if r != sim.NotRefused && r != sim.WrongPassword && r != sim.OtherNetwork {
		return fmt.Errorf("refused %q: want %s or %s", r, sim.WrongPassword, sim.OtherNetwork)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = r
	return nil
}

// SetDeaf makes DeafNode deaf, or cures it.
func (i *Installation) SetDeaf(deaf bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.deaf = deaf
}

// SetMoved moves MovedLeaf to the bedroom, or back to the office.
func (i *Installation) SetMoved(moved bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.astray = moved
}

// Walk lets a person walk about in a room for 20 s from the next half second on. Where they
// walked before they do no more.
func (i *Installation) Walk(room string) error {
	rooms := i.Rooms()
	at := slices.IndexFunc(rooms, func(name string) bool { return strings.EqualFold(name, room) })
	if at < 0 {
		return fmt.Errorf("room %q: want one of %s", room, strings.Join(rooms, ", "))
	}
	i.sim.Walk(sim.Walk{Who: sim.Visitor, Location: rooms[at], To: motion.Time(walkLength), Vigour: 1})
	return nil
}

// Stop ends the walk.
func (i *Installation) Stop() { i.sim.Walk() }

// Rooms returns the names of the rooms.
func (i *Installation) Rooms() (names []string) {
	for k := range i.home.Place.Rooms {
		names = append(names, i.home.Place.Rooms[k].Name)
	}
	return names
}

// isHere reports whether a device has come, by its index in Devices.
func (i *Installation) isHere(device int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return device < i.here
}

// isDeaf reports whether a node is deaf.
func (i *Installation) isDeaf(node int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.deaf && i.home.Nodes[node].FriendlyName == DeafNode
}

// refusal returns why a node is refused.
func (i *Installation) refusal(node int) sim.Refusal {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.home.Nodes[node].FriendlyName != RefusedNode {
		return sim.NotRefused
	}
	return i.refused
}

// place returns the place with MovedLeaf where it stands.
func (i *Installation) place() *scenario.Scenario {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.astray {
		return i.moved
	}
	return i.home.Place
}
