package scenario

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Activity is what a person does during a stay.
type Activity string

// The activities.
const (
	Moves  Activity = "moves"  // walks about, with pauses
	Sits   Activity = "sits"   // moves little, and sometimes walks to another room
	Stays  Activity = "stays"  // sits, and never leaves the room
	Sleeps Activity = "sleeps" // turns over, and gets up about once a night
	Away   Activity = "away"   // is not at home
)

// Stay is what a person does from a time of day on. It is written
// "19:00 Living room sits", or "08:00 away".
type Stay struct {
	From time.Duration // since midnight
	Room string        // "" = away
	Does Activity
}

// UnmarshalYAML reads a stay.
func (s *Stay) UnmarshalYAML(node *yaml.Node) error {
	fields := strings.Fields(node.Value)
	if len(fields) < 2 {
		return fmt.Errorf("line %d: %q: want a time, a room and moves, sits, stays or sleeps; or a time and away", node.Line, node.Value)
	}
	from, err := parseClock(fields[0])
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	last := len(fields) - 1
	s.From, s.Room, s.Does = from, strings.Join(fields[1:last], " "), Activity(fields[last])
	switch s.Does {
	case Moves, Sits, Stays, Sleeps:
		if s.Room == "" {
			return fmt.Errorf("line %d: %q: name the room", node.Line, node.Value)
		}
	case Away:
		if s.Room != "" {
			return fmt.Errorf("line %d: %q: away has no room", node.Line, node.Value)
		}
	default:
		return fmt.Errorf("line %d: %q: want moves, sits, stays, sleeps or away at the end", node.Line, node.Value)
	}
	return nil
}

// Slot is a part of each day, written "12:00-22:00".
type Slot struct{ From, To time.Duration }

// UnmarshalYAML reads a slot.
func (s *Slot) UnmarshalYAML(node *yaml.Node) (err error) {
	from, to, found := strings.Cut(node.Value, "-")
	if !found {
		return fmt.Errorf("line %d: %q: want hours such as 12:00-22:00", node.Line, node.Value)
	}
	if s.From, err = parseClock(from); err == nil {
		s.To, err = parseClock(to)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	if s.To <= s.From {
		return fmt.Errorf("line %d: %q: the end is not after the beginning", node.Line, node.Value)
	}
	return nil
}

// parseClock reads a time of day.
func parseClock(text string) (time.Duration, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("%q: want a time of day such as 07:30", text)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}
