package sim

import (
	"log/slog"
	"slices"
	"time"

	"sensegate/motion"
)

// narrator says who walks where. It belongs to the home's goroutine.
type narrator struct {
	world *world
	log   *slog.Logger
	walks []Walk
	where map[int]string // by person; without those who are still
	leafs []bool         // at the last step
}

// step says what is new at t.
func (n *narrator) step(t motion.Time) {
	n.walks = n.world.walks(n.walks[:0], t.Add(-sampleStep), t)
	now := map[int]string{}
	for _, walk := range n.walks {
		now[walk.Who] = walk.Location
	}
	at := slog.String("at", t.Std().In(n.world.home.zone()).Format(time.TimeOnly))
	for _, walk := range n.walks {
		if n.where[walk.Who] != walk.Location && now[walk.Who] == walk.Location {
			who := "person"
			if walk.Pet {
				who = "pet"
			}
			n.log.Info("walking", "location", walk.Location, who, walk.Who, at)
		}
	}
	n.where = now
	leafs := n.world.up(t).leafs
	for i, present := range leafs {
		if n.leafs != nil && n.leafs[i] != present {
			word := "leaf drops"
			if present {
				word = "leaf returns"
			}
			n.log.Info(word, "leaf", n.world.home.Leafs[i].FriendlyName, at)
		}
	}
	n.leafs = slices.Clone(leafs)
}
