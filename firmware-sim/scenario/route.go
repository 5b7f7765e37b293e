package scenario

import "sensegate/firmware-sim/channel"

// middle returns the middle of a door.
func (d *Door) middle() channel.Point {
	return channel.Point{X: (d.From[0] + d.To[0]) / 2, Y: (d.From[1] + d.To[1]) / 2}
}

// beside is the distance from a door's middle at which sides looks for rooms, m.
const beside = 0.2

// sides returns the rooms on the two sides of a door, −1 for none.
func (s *Scenario) sides(d *Door) (left, right int) {
	a, b := d.middle(), d.middle()
	if d.From[0] == d.To[0] {
		a.X, b.X = a.X-beside, b.X+beside
	} else {
		a.Y, b.Y = a.Y-beside, b.Y+beside
	}
	return s.roomAt(a), s.roomAt(b)
}

// reachable returns which rooms can be reached from a room.
func (s *Scenario) reachable(from int) []bool {
	reached := make([]bool, len(s.Rooms))
	for i := range s.ways(from) {
		reached[i] = true
	}
	reached[from] = true
	return reached
}

// ways returns, for every room that can be reached from a room, the first door of the
// way back through the fewest doors (breadth-first search).
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

// route returns the doors on the way from one room to another, in order.
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
