package sim

import (
	"log/slog"
	"math"

	"sensegate/firmware-sim/capture"
)

// narration says how far a take has come and what its labels tell.
type narration struct {
	log   *slog.Logger
	take  *Take
	tenth float64
	label int // last told, -1 = none
}

// step notes that a slice is published.
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
