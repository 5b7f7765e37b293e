package scenario

import (
	"cmp"
	"slices"
	"sort"

	"sensegate/firmware-sim/channel"
)

// Losses at 2.4 GHz in dB (ITU-R P.2040 and P.1238: brick outside, light walls inside,
// wooden doors), and the share of the amplitude that walls reflect.
const (
	outerLoss, outerReflection = 12, 0.6
	innerLoss, innerReflection = 4, 0.4
	doorLoss                   = 3
)

// Plan returns the home for the channel model, with doors in the order of Doors.
func (s *Scenario) Plan() *channel.Plan {
	p := &channel.Plan{}
	for _, across := range []bool{true, false} {
		p.Walls = append(p.Walls, s.walls(across)...)
	}
	for _, d := range s.Doors {
		p.Doors = append(p.Doors, channel.Door{A: d.From.Point(), B: d.To.Point(), Loss: doorLoss, Standing: d.Standing})
	}
	for _, r := range s.Reflectors {
		p.Reflectors = append(p.Reflectors, channel.Reflector{At: r.At.Point(), Size: r.Size})
	}
	return p
}

// side is one side of a room: from low to high along a line.
type side struct{ line, low, high float64 }

// walls returns the walls that run along x (across false) or along y.
func (s *Scenario) walls(across bool) []channel.Wall {
	along, line := 0, 1
	if across {
		along, line = 1, 0
	}
	var sides, gaps []side
	for _, r := range s.Rooms {
		sides = append(sides, side{r.From[line], r.From[along], r.To[along]}, side{r.To[line], r.From[along], r.To[along]})
	}
	for _, d := range s.Doors {
		if d.From[line] == d.To[line] {
			gaps = append(gaps, side{d.From[line], min(d.From[along], d.To[along]), max(d.From[along], d.To[along])})
		}
	}
	var walls []channel.Wall
	for _, piece := range pieces(sides, gaps) {
		var a, b Flat
		a[line], a[along], b[line], b[along] = piece.line, piece.low, piece.line, piece.high
		w := channel.Wall{A: a.Point(), B: b.Point(), Loss: outerLoss, Reflection: outerReflection}
		if touching(sides, piece) > 1 {
			w.Loss, w.Reflection = innerLoss, innerReflection
		}
		if touching(gaps, piece) == 0 {
			walls = append(walls, w)
		}
	}
	return walls
}

// pieces cuts sides at every end of a side or gap on the same line and returns the
// distinct pieces.
func pieces(sides, gaps []side) []side {
	var cut []side
	all := slices.Concat(sides, gaps)
	for _, s := range sides {
		ends := []float64{s.low, s.high}
		for _, other := range all {
			for _, end := range []float64{other.low, other.high} {
				if other.line == s.line && end > s.low && end < s.high {
					ends = append(ends, end)
				}
			}
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		for i := 1; i < len(ends); i++ {
			cut = append(cut, side{s.line, ends[i-1], ends[i]})
		}
	}
	sort.Slice(cut, func(i, j int) bool {
		a, b := cut[i], cut[j]
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high)) < 0
	})
	return slices.Compact(cut)
}

// touching counts the sides that contain a piece.
func touching(sides []side, piece side) int {
	count := 0
	for _, s := range sides {
		if s.line == piece.line && s.low <= piece.low && s.high >= piece.high {
			count++
		}
	}
	return count
}
