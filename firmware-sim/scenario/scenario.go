// Package scenario describes homes for the simulator: their rooms and doors, what
// stands in them, who lives there and how their days go. It turns a description
// into the plan of the channel model, and a date into walks and the tracks of
// those who walk. It knows people and floor plans; it must not know radio
// figures beyond a wall's, the device protocol or detection.
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

// Scenario is a home and who lives in it.
type Scenario struct {
	Name  string `yaml:"-"`
	About string `yaml:"about"`
	// Like is the scenario that this one changes: what it does not name is as there.
	Like       string      `yaml:"like"`
	Entrance   string      `yaml:"entrance"` // the room that people leave from and return to
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

// Door is a piece of the wall between two rooms, hinged at From. One that stands
// open is never closed.
type Door struct {
	From     Flat `yaml:"from"`
	To       Flat `yaml:"to"`
	Standing bool `yaml:"standing"`
}

// Reflector is a thing that scatters: a radar cross-section in m².
type Reflector struct {
	At   Spot    `yaml:"at"`
	Size float64 `yaml:"size"`
}

// Node is an access point or extender, with the family of its radio's chip.
type Node struct {
	Name string `yaml:"name"`
	At   Spot   `yaml:"at"`
	Chip string `yaml:"chip"`
}

// Leaf is a Wi-Fi client, attached to the node of that index.
type Leaf struct {
	Name string `yaml:"name"`
	Type string `yaml:"type"`
	At   Spot   `yaml:"at"`
	Node int    `yaml:"node"`
}

// Person is somebody who lives there. Without a weekend every day is the same.
type Person struct {
	Day     []Stay `yaml:"day"`
	Weekend []Stay `yaml:"weekend"`
}

// Pet is an animal that roams some rooms.
type Pet struct {
	Rooms []string `yaml:"rooms"`
}

// Fan is on at the hours of the day that it lists.
type Fan struct {
	At Spot   `yaml:"at"`
	On []Slot `yaml:"on"`
}

// maxSize is the longest description accepted, in bytes.
const maxSize = 1 << 20

// Names returns the scenarios that come with the program.
func Names() []string {
	entries, _ := homes.ReadDir(".") // of an embedded directory
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Open returns a scenario that comes with the program, or the one in a file whose
// name ends in .yaml.
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

// Parse reads a description and checks it.
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

// embedded returns a scenario that comes with the program and is like no other.
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

// RoomAt returns the room that a place lies in, "" outside.
func (s *Scenario) RoomAt(p channel.Point) string {
	if i := s.roomAt(p); i >= 0 {
		return s.Rooms[i].Name
	}
	return ""
}

func (s *Scenario) roomAt(p channel.Point) int {
	return slices.IndexFunc(s.Rooms, func(r Room) bool { return r.Area().Holds(p) })
}

// Area returns the floor of the room of that name; false if there is none.
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
