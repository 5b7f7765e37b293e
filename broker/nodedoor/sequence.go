package nodedoor

import (
	"time"

	"sensegate/broker/nodewire"
)

// sequence follows the numbers of a node's frames.
type sequence struct {
	newest nodewire.Sequence
	at     time.Time
	back   int // frames in a row that were earlier
}

// order is what the number of a frame says.
type order int

const (
	forward order = iota
	duplicate
	backwards // an earlier one: late, or of something else that sends in the node's name
	restarted // the node has begun anew
)

const (
	restartBelow = 1000            // a node that begins anew counts from here at most
	staleAfter   = 2 * time.Second // without a frame: any number is as good
	backForLong  = 50              // frames in a row that are earlier: the node has begun anew
)

// judge looks at the number of a frame that has come at now.
func (s *sequence) judge(n nodewire.Sequence, now time.Time) order {
	if n.Bits == 0 {
		return forward
	}
	first, stale := s.at.IsZero(), now.Sub(s.at) > staleAfter
	shift := 32 - n.Bits
	step := int32((n.Number-s.newest.Number)<<shift) >> shift
	switch {
	case !first && step == 0:
		if !stale {
			return duplicate
		}
	case first || step > 0:
	case n.Number < restartBelow && n.Bits > 16 || stale || s.back >= backForLong:
		s.newest, s.at, s.back = n, now, 0
		return restarted
	default:
		s.back++
		return backwards
	}
	s.newest, s.at, s.back = n, now, 0
	return forward
}
