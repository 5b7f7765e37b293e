package series

import (
	"slices"
	"sort"

	"sensegate/motion"
)

// StateQuery asks for the state blocks of a network (payloads.md 4.6).
type StateQuery struct {
	From, To      int64 // seconds, [From, To)
	StateBucket   int64 // seconds, at least 1; the caller limits it, like DensityBucket
	DensityBucket int64
	States        uint8 // bit mask of the states wanted: 1 low, 2 motion
}

// StateBlock is a run of consecutive state buckets of the same state.
type StateBlock struct {
	State       int
	Start, Stop int64           // seconds, [Start, Stop); inside the query's range
	Density     Points          // of the network, per density bucket
	Devices     []LocationShare // of the locations with motion, strongest first
}

// LocationShare is the share of motion at one location.
type LocationShare struct {
	MAC     motion.MAC
	Density float64 // percent of the seconds for which the network has data
	Seconds float64 // of motion there
}

// LocationPoints are the shares of one location in percent of the seconds for which the network
// has data.
type LocationPoints struct {
	MAC    motion.MAC
	Points Points
}

// StateBlocks answers q: consecutive state buckets of the same state, one of q.States, become
// one block. Different states do not merge, so that all of a block has its state. The error is
// ErrDamaged.
func (s *Set) StateBlocks(q StateQuery) ([]StateBlock, error) {
	states, err := s.Points(Query{Network, State, q.From, q.To, q.StateBucket})
	if err != nil {
		return nil, err
	}
	density, err := s.Points(Query{Network, Density, q.From, q.To, q.DensityBucket})
	if err != nil {
		return nil, err
	}
	blocks, ids := []StateBlock{}, s.locations()
	step, err := s.step(ids, q.From, q.To)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(states.values); {
		end := i + 1
		for end < len(states.values) && states.values[end] == states.values[i] {
			end++
		}
		if state := states.values[i]; state > 0 && int32(q.States)&state != 0 {
			block := StateBlock{State: int(state)}
			block.Start = max(q.From, states.Start+int64(i)*states.Bucket)
			block.Stop = min(q.To, states.Start+int64(end)*states.Bucket)
			block.Density = density.Between(block.Start, block.Stop)
			if block.Devices, err = s.sharesOf(ids, step, block.Start, block.Stop); err != nil {
				return nil, err
			}
			blocks = append(blocks, block)
		}
		i = end
	}
	return blocks, nil
}

// Shares returns the shares of every location in the set, per bucket, sorted by address. All
// have the same effective bucket and start. A share is null where the location itself has no
// data. The error is ErrDamaged.
func (s *Set) Shares(from, to, bucket int64) ([]LocationPoints, error) {
	ids := s.locations()
	p, err := s.plan(ids, from, to, bucket)
	if err != nil || len(ids) == 0 {
		return []LocationPoints{}, err
	}
	out, network := make([]LocationPoints, len(ids)), &presence{plan: p}
	for i, id := range ids {
		out[i].MAC, _ = id.MAC()
		if out[i].Points, err = p.read(id, Density, network); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Locations returns the share of each location over all of [from, to), strongest first, without
// those that have no motion. The error is ErrDamaged.
func (s *Set) Locations(from, to int64) ([]LocationShare, error) {
	ids := s.locations()
	step, err := s.step(ids, from, to)
	if err != nil {
		return nil, err
	}
	return s.sharesOf(ids, step, from, to)
}

// sharesOf returns the shares of locations in [from, to), which rows of step seconds cover.
func (s *Set) sharesOf(ids []ID, step, from, to int64) ([]LocationShare, error) {
	out := []LocationShare{}
	p := s.whole(step, from, to)
	network := &presence{plan: p}
	for _, id := range ids {
		if len(p.parts) == 0 {
			break
		}
		_, sums, err := p.sums(id, Density, p.parts)
		if err != nil {
			return nil, err
		}
		total, err := network.outOf(sums[0], 0)
		if err != nil {
			return nil, err
		}
		if total.motion > 0 {
			share := LocationShare{
				Density: float64(Density.of(total)) / float64(centi),
				Seconds: float64(total.motion) / 100,
			}
			share.MAC, _ = id.MAC()
			out = append(out, share)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[j].Density < out[i].Density })
	return out, nil
}

func (s *Set) locations() []ID {
	return slices.DeleteFunc(s.Series(), func(id ID) bool { return !id.isLocation() })
}
