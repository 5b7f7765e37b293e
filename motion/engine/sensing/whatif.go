package sensing

import (
	"context"
	"math"

	"sensegate/motion"
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
	NotKept       = "sensitivity"      // of motion below the threshold nothing is stored, so another sensitivity cannot be tried
)

// replayed is how far a replay looks back.
const replayed motion.Seconds = 24 * 3600

// WhatIf counts how often motion would have been detected in the last 24 hours, and not before since,
// with other settings. It runs the event machine over the samples that are stored: whether the network
// moved, by the sensitivities of then. So it can try all settings but the sensitivity. NotFound: the
// network.
func (se *Sensing) WhatIf(ctx context.Context, id motion.NetworkID, since motion.Time, other Settings) (Replay, error) {
	n, err := se.network(id)
	if err != nil {
		return Replay{}, err
	}
	now := se.state.Now()
	r := Replay{From: max(since, now.Add(-replayed)), To: now}
	n.Mu.Lock()
	inForce, guardian := n.Guardian.MotionEvents, n.Source.GuardianDecides()
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
	samples, err := halves(set, from, to)
	if err != nil {
		return r, err
	}
	if len(samples) == 0 {
		r.Why = NoSamples
		return r, nil
	}
	count := detections(samples, inForce)
	r.Now = &count
	if other.Sens != nil && *other.Sens != inForce.Sens {
		r.Why = NotKept
		return r, nil
	}
	changed := detections(samples, other.apply(inForce))
	r.Then = &changed
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

// halves returns the samples of 500 ms of which the network's motion in a time was stored. How many of
// those in a row were in motion is known, and not which: they are the first ones.
func halves(set *series.Set, from, to int64) (samples []fuse.Sample, err error) {
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
			s := fuse.Sample{Time: motion.Time(at).Add(float64(k+1) * half), Interval: half, Valid: true, Strongest: -1}
			if k < moving {
				s.Intensity, s.Motion = fuse.Reading(intensity), true
			}
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// detections counts what the event machine detects in samples.
func detections(samples []fuse.Sample, m motion.MotionEvents) (count int) {
	m.Enabled = 1 // what was switched off has no samples
	machine := fuse.NewEvents(fuse.ConfigOf(m, false))
	for i := range samples {
		if t, ok := machine.Add(&samples[i]); ok && t.Kind == fuse.Detected {
			count++
		}
	}
	return count
}
