package nodes

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// House is a simulated home: its first access point sends, nodes that stand where its leafs do measure, and people
// walk between them. The same seed gives the same people and the same radio.
type House struct {
	place  *scenario.Scenario
	plan   *channel.Plan
	seed   uint64
	vacant bool

	mu    sync.Mutex
	walks []scenario.Walk
	today *scenario.Day
}

// NewHouse returns the house of a scenario. In a vacant one nobody lives: there is only who walks.
func NewHouse(place *scenario.Scenario, seed uint64, vacant bool) *House {
	return &House{place: place, plan: place.Plan(), seed: seed, vacant: vacant}
}

// Walk lets somebody walk about in a room from one time to another.
func (h *House) Walk(room string, from, to motion.Time) error {
	if _, known := h.place.Area(room); !known {
		var rooms []string
		for i := range h.place.Rooms {
			rooms = append(rooms, h.place.Rooms[i].Name)
		}
		return fmt.Errorf("walk in %q: want one of %s", room, strings.Join(rooms, ", "))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.walks = append(h.walks, scenario.Walk{Location: room, From: from, To: to, Vigour: 1})
	return nil
}

// Walking returns the rooms in which somebody walks at t who does not live there.
func (h *House) Walking(t motion.Time) (rooms []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, walk := range h.walks {
		if walk.From <= t && t < walk.To {
			rooms = append(rooms, walk.Location)
		}
	}
	return rooms
}

// scene returns the people and open doors from one time to another, less than a day later.
func (h *House) scene(from, to motion.Time) *channel.Scene {
	h.mu.Lock()
	defer h.mu.Unlock()
	scene := channel.Scene{}
	if !h.vacant {
		if h.today == nil || from >= h.today.End {
			local := from.Std().Local()
			h.today = h.place.Day(h.seed, time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.Local))
		}
		scene = h.today.Scene
		scene.Bodies = scene.Bodies[:len(scene.Bodies):len(scene.Bodies)]
	}
	for i, walk := range h.walks {
		if walk.To <= from || walk.From >= to {
			continue
		}
		if body, known := h.place.Walker(walk, chance.Mix(h.seed, uint64(i), 7)); known {
			scene.Bodies = append(scene.Bodies, body)
		}
	}
	return &scene
}
