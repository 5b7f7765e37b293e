package nodes

import (
	"math"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// scorer decides about motion as nodes do that tell only the result: by how much the shape of the frames' spectrum
// varies (moving variance of spatial turbulence, francescopace/espectre, README).
type scorer struct {
	recent [scoreFrames]float64 // spread of the amplitudes over the subcarriers, over their mean
	at     int                  // how many there have been
}

const (
	scoreFrames = 75
	scoreScale  = 0.0025 // variance that is a score of about 0.63

	// scoreThreshold is the score from which on there is motion.
	scoreThreshold = 0.25
)

// add takes in a frame.
func (s *scorer) add(f *nodewire.Frame) {
	n, sum, squares := 0.0, 0.0, 0.0
	for k := 0; k+1 < len(f.Data); k += 2 {
		im, re := float64(int8(f.Data[k])), float64(int8(f.Data[k+1]))
		if power := im*im + re*re; power > 0 {
			n, sum, squares = n+1, sum+math.Sqrt(power), squares+power
		}
	}
	if n == 0 {
		return
	}
	mean := sum / n
	s.recent[s.at%scoreFrames] = math.Sqrt(max(0, squares/n-mean*mean)) / mean
	s.at++
}

// score returns the score of the recent frames, 0..1, and false while there are too few.
func (s *scorer) score() (score float64, ok bool) {
	if s.at < scoreFrames {
		return 0, false
	}
	sum, squares := 0.0, 0.0
	for _, v := range s.recent {
		sum, squares = sum+v, squares+v*v
	}
	mean := sum / scoreFrames
	return 1 - math.Exp(-max(0, squares/scoreFrames-mean*mean)/scoreScale), true
}

// verdict is what a node that decides itself finds at a time.
type verdict struct {
	at     motion.Time
	score  float64
	motion bool
}

// evaluateEvery is how often a node decides, in seconds.
const evaluateEvery motion.Seconds = 0.25

// judge calls found with a verdict each 250 ms of the frames that add takes in.
type judge struct {
	scorer scorer
	due    motion.Time
	found  func(verdict)
}

func (j *judge) add(f *Frame) {
	j.scorer.add(&f.Frame)
	score, ok := j.scorer.score()
	if !ok || f.At < j.due {
		return
	}
	j.due = f.At.Add(evaluateEvery)
	j.found(verdict{f.At, score, score >= scoreThreshold})
}
