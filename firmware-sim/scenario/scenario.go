// Package scenario describes homes for the simulator: rooms, doors, furniture,
// devices, and people with their days. It turns a description into the plan of the
// channel model, and a date into walks and the tracks of bodies. It knows people,
// floor plans and the radio figures of walls and links; it must not know the device
// protocol or detection.
//
// A Scenario is read only once parsed; its methods may be called concurrently.
// The same seed and date always give the same day.
package scenario

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sensegate/firmware-sim/channel"
)

//go:embed *.yaml
var homes embed.FS

// Scenario is a home and its people.
type Scenario struct {
	Name  string `yaml:"-"`
	About string `yaml:"about"`
	// Like names the scenario from which this one inherits the fields it does not set.
	Like       string      `yaml:"like"`
	Entrance   string      `yaml:"entrance"` // the room through which people leave and return
	Rooms      []Room      `yaml:"rooms"`
	Doors      []Door      `yaml:"doors"`
	Reflectors []Reflector `yaml:"reflectors"`
	Nodes      []Node      `yaml:"nodes"` // the first is the master
	Leafs      []Leaf      `yaml:"leafs"`
	People     []Person    `yaml:"people"`
	Pets       []Pet       `yaml:"pets"`
	Fans       []Fan       `yaml:"fans"`
}

// Flat is a place in the plan, and Spot one in space: metres from a corner of the
// home and above the floor.
type (
	Flat [2]float64
	Spot [3]float64
)

// Point returns the place on the floor.
func (f Flat) Point() channel.Point { return channel.Point{X: f[0], Y: f[1]} }

// Point returns the place.
func (s Spot) Point() channel.Point { return channel.Point{X: s[0], Y: s[1], Z: s[2]} }

// Room is a rectangle with walls around it.
type Room struct {
	Name string `yaml:"name"`
	From Flat   `yaml:"from"`
	To   Flat   `yaml:"to"`
}

// Area returns the floor of the room.
func (r *Room) Area() channel.Area { return channel.Area{Min: r.From.Point(), Max: r.To.Point()} }

// Door is a piece of the wall between two rooms, hinged at From. A Standing door is
// always open.
type Door struct {
	From     Flat `yaml:"from"`
	To       Flat `yaml:"to"`
	Standing bool `yaml:"standing"`
}

// Reflector is an object that scatters; Size is its radar cross-section in m².
type Reflector struct {
	At   Spot    `yaml:"at"`
	Size float64 `yaml:"size"`
}

// Node is an access point or extender; Chip is as for channel.DeviceOf.
type Node struct {
	Name string `yaml:"name"`
	At   Spot   `yaml:"at"`
	Chip string `yaml:"chip"`
}

// Leaf is a Wi-Fi client; Node is the index of the node to which it is attached.
type Leaf struct {
	Name string `yaml:"name"`
	Type string `yaml:"type"`
	At   Spot   `yaml:"at"`
	Node int    `yaml:"node"`
}

// Person is a resident. Without Weekend, Day holds on all days.
type Person struct {
	Day     []Stay `yaml:"day"`
	Weekend []Stay `yaml:"weekend"`
}

// Pet is an animal that roams some rooms.
type Pet struct {
	Rooms []string `yaml:"rooms"`
}

// Fan is a fan that is on in the slots of each day.
type Fan struct {
	At Spot   `yaml:"at"`
	On []Slot `yaml:"on"`
}

// maxSize is the maximum size of a description, in bytes.
const maxSize = 1 << 20

// Names returns the names of the embedded scenarios.
func Names() []string {
	entries, _ := homes.ReadDir(".") // always succeeds: it is embedded
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Open returns an embedded scenario, or the one in a file whose name ends in .yaml.
func Open(name string) (*Scenario, error) {
	if strings.HasSuffix(name, ".yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("open scenario: %w", err)
		}
		return Parse(name, text)
	}
	text, err := homes.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("scenario %q: want one of %s, or a file that ends in .yaml", name, strings.Join(Names(), ", "))
	}
	return Parse(name, text)
}

// Parse reads a description, at most 1 MiB of YAML, and checks it.
func Parse(name string, text []byte) (*Scenario, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("scenario %s: longer than %d bytes", name, maxSize)
	}
	s := &Scenario{}
	var kind struct {
		Like string `yaml:"like"`
	}
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", name, err)
	}
	if kind.Like != "" {
		base, err := embedded(kind.Like)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
		*s = *base
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read scenario %s: %w", name, err)
	}
	s.Name = name
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	return s, nil
}

// embedded returns an embedded scenario that inherits from no other.
func embedded(name string) (*Scenario, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("like %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	base, err := Open(name)
	if err == nil && base.Like != "" {
		return nil, fmt.Errorf("like %q: that one is like %s; name that", name, base.Like)
	}
	return base, err
}

// RoomAt returns the name of the room that contains a place, "" outside.
func (s *Scenario) RoomAt(p channel.Point) string {
	if i := s.roomAt(p); i >= 0 {
		return s.Rooms[i].Name
	}
	return ""
}

func (s *Scenario) roomAt(p channel.Point) int {
	return slices.IndexFunc(s.Rooms, func(r Room) bool { return r.Area().Holds(p) })
}

// Area returns the floor of a room by name, and false if there is none.
func (s *Scenario) Area(room string) (channel.Area, bool) {
	i := s.roomNamed(room)
	if i < 0 {
		return channel.Area{}, false
	}
	return s.Rooms[i].Area(), true
}

func (s *Scenario) roomNamed(name string) int {
	return slices.IndexFunc(s.Rooms, func(r Room) bool { return r.Name == name })
}
