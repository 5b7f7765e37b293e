package sensing

import (
	"context"
	"iter"
	"math"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
	"sensegate/motion/series"
)

// Settings are what decides when motion becomes an event; nil: as it is.
type Settings struct {
	Sens             *int
	Cooldown         *int // s
	DensityWindow    *int // samples
	DensityThreshold *float64
}

// Replay is how often motion was detected in a time, as its samples say.
type Replay struct {
	From, To motion.Time
	Now      *int   // with the settings in force; nil: not known
	Then     *int   // with others; nil: not known
	Why      string // one of these is not known: NoSamples and the others
}

// Why a replay does not say something.
const (
	NoSamples     = "no_data"
	GuardianTells = "guardian_decides" // a guardian raises the events, by settings of its own
	NotKept       = "sensitivity"      // a device cuts off weak motion by a threshold of its own, so another sensitivity cannot be tried
	Restarted     = "restarted"        // of motion below the threshold nothing is stored, and none was judged since the start
)

// replayed is how far a replay looks back.
const replayed motion.Seconds = 24 * 3600

// WhatIf counts how often motion would have been detected in the last 24 hours, and not before since,
// with other settings. It runs the event machine over the samples that are stored: whether the network
// moved, by the sensitivities of then; single disturbances (lm1.md 4 no. 6) are told from motion since the start alone. For another sensitivity it takes those that were judged at each
// level as they came, which are in memory: From is then the start at the earliest. NotFound: the
// network.
func (se *Sensing) WhatIf(ctx context.Context, id motion.NetworkID, since motion.Time, other Settings) (Replay, error) {
	n, err := se.network(id)
	if err != nil {
		return Replay{}, err
	}
	now := se.state.Now()
	r := Replay{From: max(since, now.Add(-replayed)), To: now}
	n.Mu.Lock()
	inForce, guardian, levels := n.Guardian.MotionEvents, n.Source.GuardianDecides(), n.levels.copyOf()
	measured := n.Source.Holder == state.GuardianHolds
	n.Mu.Unlock()
	if guardian {
		r.Why = GuardianTells
		return r, nil
	}
	from, to := int64(math.Ceil(float64(r.From))), now.Second()+1
	set, err := se.state.Samples(ctx, id, from, to)
	if err != nil {
		return r, err
	}
	stored, err := halves(set, from, to)
	if err != nil {
		return r, err
	}
	if stored == nil {
		r.Why = NoSamples
		return r, nil
	}
	if len(levels.runs) > 0 {
		stored = levels.instead(stored, r.From)
	}
	r.Now = detections(stored, inForce)
	if other.Sens == nil || *other.Sens == inForce.Sens {
		r.Then = detections(stored, other.apply(inForce))
		return r, nil
	}
	switch start := max(r.From, levels.since()); {
	case measured, levels.cut >= start:
		r.Why = NotKept
	case len(levels.runs) == 0:
		r.Why = Restarted
	default:
		r.From = start
		r.Now = detections(levels.samples(start, 0), inForce)
		r.Then = detections(levels.samples(start, *other.Sens), other.apply(inForce))
	}
	return r, nil
}

// apply returns settings with those of s in force.
func (s Settings) apply(m motion.MotionEvents) motion.MotionEvents {
	replace(&m.Cooldown, s.Cooldown)
	replace(&m.DensityWindow, s.DensityWindow)
	replace(&m.DensityThreshold, s.DensityThreshold)
	return m
}

func replace[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

// half is the length of the samples that the event machine counts.
const half motion.Seconds = 0.5

// halves returns the samples of 500 ms of which the network's motion in a time was stored, nil if
// there are none. How many of those in a row were in motion is known, and not which: they are the
// first ones.
func halves(set *series.Set, from, to int64) (iter.Seq[*fuse.Sample], error) {
	query := series.Query{Series: series.Network, Measure: series.Intensity, From: from, To: to, Bucket: 1}
	intensities, err := set.Points(query)
	if err != nil {
		return nil, err
	}
	query.Measure, query.Bucket = series.Density, intensities.Bucket
	densities, err := set.Points(query)
	if err != nil {
		return nil, err
	}
	samples := func(yield func(*fuse.Sample) bool) {
		var s fuse.Sample
		for i := range min(intensities.Len(), densities.Len()) {
			intensity, at, ok := intensities.At(i)
			percent, _, _ := densities.At(i)
			if !ok {
				continue
			}
			count := int(2 * intensities.Bucket)
			moving := int(math.Round(float64(count) * percent / 100))
			if intensity > 0 {
				moving = max(1, moving)
			}
			for k := range count {
				if s = halfSample(motion.Time(at).Add(float64(k+1)*half), k < moving, true, intensity); !yield(&s) {
					return
				}
			}
		}
	}
	for range samples {
		return samples, nil
	}
	return nil, nil
}

// detections counts what the event machine detects in samples.
func detections(samples iter.Seq[*fuse.Sample], m motion.MotionEvents) *int {
	m.Enabled = 1 // what was switched off has no samples
	machine, count := fuse.NewEvents(fuse.ConfigOf(m, false)), 0
	for s := range samples {
		if t, ok := machine.Add(s); ok && t.Kind == fuse.Detected {
			count++
		}
	}
	return &count
}
