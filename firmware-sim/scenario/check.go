package scenario

import (
	"fmt"
	"math"
	"slices"
)

// Limits of a scenario.
const (
	maxRooms  = 64
	maxThings = 256 // doors, reflectors, nodes, leafs, …
	maxMetres = 200
	minRoom   = 0.5 // m
)

// check returns the first mistake of a scenario.
func (s *Scenario) check() error {
	if len(s.Rooms) == 0 || len(s.Nodes) == 0 {
		return fmt.Errorf("rooms and nodes: name at least one of each")
	}
	things := max(len(s.Doors), len(s.Reflectors), len(s.Nodes), len(s.Leafs), len(s.People), len(s.Pets), len(s.Fans))
	if len(s.Rooms) > maxRooms || things > maxThings {
		return fmt.Errorf("more than %d rooms, or more than %d of something else", maxRooms, maxThings)
	}
	for _, part := range []func() error{s.checkRooms, s.checkDoors, s.checkPlaces, s.checkPeople} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) checkRooms() error {
	for i := range s.Rooms {
		r := &s.Rooms[i]
		switch {
		case r.Name == "" || s.roomNamed(r.Name) != i:
			return fmt.Errorf("rooms: room %d: want a name of its own", i)
		case !within(r.From[:]) || !within(r.To[:]):
			return fmt.Errorf("rooms: %s: want metres from 0 to %d", r.Name, maxMetres)
		case r.To[0]-r.From[0] < minRoom || r.To[1]-r.From[1] < minRoom:
			return fmt.Errorf("rooms: %s: to is not %v m beyond from", r.Name, minRoom)
		}
	}
	if s.roomNamed(s.Entrance) < 0 {
		return fmt.Errorf("entrance: no room is called %q", s.Entrance)
	}
	return nil
}

func (s *Scenario) checkDoors() error {
	for i := range s.Doors {
		d := &s.Doors[i]
		if d.From[0] != d.To[0] && d.From[1] != d.To[1] || d.From == d.To {
			return fmt.Errorf("doors: door %d: is not a piece of a wall", i)
		}
		if a, b := s.sides(d); a < 0 || b < 0 || a == b {
			return fmt.Errorf("doors: door %d: is not between two rooms", i)
		}
	}
	reached := s.reachable(s.roomNamed(s.Entrance))
	for i := range s.Rooms {
		if !reached[i] {
			return fmt.Errorf("doors: no way leads from the entrance to %s", s.Rooms[i].Name)
		}
	}
	return nil
}

func (s *Scenario) checkPlaces() error {
	inside := func(what string, at Spot) error {
		if !within(at[:]) || s.roomAt(at.Point()) < 0 {
			return fmt.Errorf("%s: lies in no room", what)
		}
		return nil
	}
	for i, r := range s.Reflectors {
		if err := inside(fmt.Sprintf("reflectors: number %d", i), r.At); err != nil {
			return err
		}
		if !(r.Size > 0 && r.Size <= 10) {
			return fmt.Errorf("reflectors: number %d: want a size up to 10 m²", i)
		}
	}
	for _, n := range s.Nodes {
		if err := inside("nodes: "+n.Name, n.At); err != nil {
			return err
		}
	}
	for _, l := range s.Leafs {
		if err := inside("leafs: "+l.Name, l.At); err != nil {
			return err
		}
		if l.Node < 0 || l.Node >= len(s.Nodes) {
			return fmt.Errorf("leafs: %s: there is no node %d", l.Name, l.Node)
		}
	}
	for i, f := range s.Fans {
		if err := inside(fmt.Sprintf("fans: number %d", i), f.At); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) checkPeople() error {
	for i, p := range s.People {
		for _, day := range [][]Stay{p.Day, p.Weekend} {
			if err := s.checkDay(day); err != nil {
				return fmt.Errorf("people: person %d: %w", i, err)
			}
		}
		if len(p.Day) == 0 {
			return fmt.Errorf("people: person %d: has no day", i)
		}
	}
	for i, p := range s.Pets {
		if len(p.Rooms) == 0 || slices.ContainsFunc(p.Rooms, func(r string) bool { return s.roomNamed(r) < 0 }) {
			return fmt.Errorf("pets: pet %d: want rooms of this home", i)
		}
	}
	return nil
}

func (s *Scenario) checkDay(day []Stay) error {
	for i, stay := range day {
		switch {
		case i == 0 && stay.From != 0:
			return fmt.Errorf("the day does not begin at 00:00")
		case i > 0 && stay.From <= day[i-1].From:
			return fmt.Errorf("%s comes after a later time", stay.From)
		case stay.Does != Away && s.roomNamed(stay.Room) < 0:
			return fmt.Errorf("no room is called %q", stay.Room)
		}
	}
	return nil
}

// within reports whether all coordinates lie in 0..maxMetres.
func within(metres []float64) bool {
	return !slices.ContainsFunc(metres, func(m float64) bool { return math.IsNaN(m) || m < 0 || m > maxMetres })
}
