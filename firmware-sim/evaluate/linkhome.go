package evaluate

import (
	"math"
	"strconv"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
)

// linkHome says how a home of so many links is made of a scenario.
type linkHome struct {
	like  string
	nodes []int // of the scenario, the master first
	leafs int   // chosen evenly from those of the scenario, and where it has fewer, one more in each room
}

// linkHomes returns homes of 2, 4, 8, 16 and 30 links, whose names are these numbers.
func linkHomes() ([]*scenario.Scenario, error) {
	var homes []*scenario.Scenario
	for _, h := range []linkHome{
		{"flat", []int{0, 1}, 1},
		{"flat", []int{0, 1}, 3},
		{"house", []int{0, 1, 2}, 6},
		{"villa", []int{0, 1, 3, 6, 8}, 12},
		{"villa", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 21},
	} {
		home, err := h.build()
		if err != nil {
			return nil, err
		}
		homes = append(homes, home)
	}
	return homes, nil
}

// build returns the home. Each device is attached to the node that is nearest.
func (h *linkHome) build() (*scenario.Scenario, error) {
	whole, err := scenario.Open(h.like)
	if err != nil {
		return nil, err
	}
	home := *whole
	home.Nodes, home.Leafs, home.Fans, home.Pets = nil, nil, nil, nil
	for _, n := range h.nodes {
		home.Nodes = append(home.Nodes, whole.Nodes[n])
	}
	chosen := min(h.leafs, len(whole.Leafs))
	for i := range h.leafs {
		var leaf scenario.Leaf
		if i < chosen {
			leaf = whole.Leafs[i*len(whole.Leafs)/chosen]
		} else {
			room := &home.Rooms[(i-chosen)%len(home.Rooms)]
			at := room.Area().Spot(uint64(i), 71)
			leaf = scenario.Leaf{Name: room.Name + " plug", Type: "Smart plug", At: scenario.Spot{at.X, at.Y, 0.3}}
		}
		leaf.Node = nearestNode(&home, leaf.At.Point(), -1)
		home.Leafs = append(home.Leafs, leaf)
	}
	home.Name = strconv.Itoa(len(home.Links()))
	return &home, nil
}

// nearestNode returns the index of the node that is nearest to a place, one left out.
func nearestNode(home *scenario.Scenario, at channel.Point, out int) int {
	best, least := -1, math.Inf(1)
	for i := range home.Nodes {
		if d := at.Distance(home.Nodes[i].At.Point()); i != out && d < least {
			best, least = i, d
		}
	}
	return best
}
