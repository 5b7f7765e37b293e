package sim

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
)

// narrator logs walks and changes of leafs. It belongs to the home's goroutine.
type narrator struct {
	world *world
	log   *slog.Logger
	walks []Walk
	where map[int]string // location by person who walks
	leafs []bool         // at the last step
}

// step logs what is new at t.
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

// narration logs the progress and the labels of a take.
type narration struct {
	log   *slog.Logger
	take  *Take
	tenth float64
	label int // last logged, -1 = none
}

// step logs what is new after the slice s.
func (p *narration) step(s *slice) {
	if label := s.frames[len(s.frames)-1].Label; int(label) != p.label {
		if word := labelWord(label); word != "" {
			p.log.Info("label", "recording", p.take.Name, "is", word, "second", math.Round(s.end()))
		}
		p.label = int(label)
	}
	if tenth := math.Floor(10 * s.end() / math.Max(p.take.Duration(), batchSpan)); tenth > p.tenth {
		p.tenth = tenth
		p.log.Info("replayed", "recording", p.take.Name, "percent", 10*tenth)
	}
}

func labelWord(l capture.Label) string {
	switch l {
	case capture.Quiet:
		return "quiet"
	case capture.Still:
		return "still"
	case capture.Motion:
		return "motion"
	}
	return ""
}
