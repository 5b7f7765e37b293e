package scenario

import "sensegate/firmware-sim/channel"

// middle returns the middle of a door.
func (d *Door) middle() channel.Point {
	return channel.Point{X: (d.From[0] + d.To[0]) / 2, Y: (d.From[1] + d.To[1]) / 2}
}

// beside is how far from a door's middle the rooms on its sides are looked for, m.
const beside = 0.2

// sides returns the rooms on the two sides of a door, −1 for none.
func (s *Scenario) sides(d *Door) (one, other int) {
	a, b := d.middle(), d.middle()
	if d.From[0] == d.To[0] {
		a.X, b.X = a.X-beside, b.X+beside
	} else {
		a.Y, b.Y = a.Y-beside, b.Y+beside
	}
	return s.roomAt(a), s.roomAt(b)
}

// reachable returns which rooms can be reached from one.
func (s *Scenario) reachable(from int) []bool {
	reached := make([]bool, len(s.Rooms))
	for i := range s.ways(from) {
		reached[i] = true
	}
	reached[from] = true
	return reached
}

// ways returns, for every room that can be reached from one, the door that leads
// back towards it, by the fewest doors.
func (s *Scenario) ways(from int) map[int]int {
	back := map[int]int{}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for i := range s.Doors {
			a, b := s.sides(&s.Doors[i])
			if b == queue[0] {
				a, b = b, a
			}
			if a != queue[0] || b == from || b < 0 {
				continue
			}
			if _, known := back[b]; !known {
				back[b] = i
				queue = append(queue, b)
			}
		}
	}
	return back
}

// route returns the doors to go through from one room to another.
func (s *Scenario) route(from, to int) []int {
	var doors []int
	back := s.ways(to)
	for room := from; room != to; {
		door := back[room]
		doors = append(doors, door)
		a, b := s.sides(&s.Doors[door])
		if a == room {
			room = b
		} else {
			room = a
		}
	}
	return doors
}
