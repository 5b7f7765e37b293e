package insight

import (
	"fmt"

	"sensegate/motion/series"
)

// activeDensity is the percentage of a minute above which the minute is in motion (lm1.md 7:
// "motion density > 0.1").
const activeDensity = 10

// state is the state of a minute: in motion, quiet or unknown.
type state uint8

const (
	unknown state = iota
	quiet
	active
)

// stateOf classifies a density in percent.
func stateOf(density Value) state {
	switch {
	case !density.Known():
		return unknown
	case density > activeDensity:
		return active
	}
	return quiet
}

// minutes returns a measure of series id for each minute of [from, to); from is a multiple of 60.
// It is unknown where only rows longer than a minute are stored.
func minutes(s *series.Set, id series.ID, m series.Measure, from, to int64) ([]Value, error) {
	out := fill((to - from + minuteS - 1) / minuteS)
	p, err := s.Points(series.Query{Series: id, Measure: m, From: from, To: to, Bucket: minuteS})
	if err != nil {
		return nil, fmt.Errorf("read minutes: %w", err)
	}
	if p.Bucket != minuteS {
		return out, nil
	}
	for i := range p.Len() {
		if v, ts, ok := p.At(i); ok {
			out[(ts-from)/minuteS] = Value(v)
		}
	}
	return out, nil
}

// states returns the states of the minutes of [from, to).
func states(s *series.Set, from, to int64) ([]state, error) {
	densities, err := minutes(s, series.Network, series.Density, from, to)
	if err != nil {
		return nil, err
	}
	out := make([]state, len(densities))
	for i, d := range densities {
		out[i] = stateOf(d)
	}
	return out, nil
}

// run is a range [from, to) of equal items.
type run[T comparable] struct {
	of       T
	from, to int
}

func (r run[T]) len() int { return r.to - r.from }

// runs returns the maximal runs of equal items, in order.
func runs[T comparable](items []T) []run[T] {
	var out []run[T]
	for i, item := range items {
		if n := len(out); n > 0 && out[n-1].of == item {
			out[n-1].to = i + 1
			continue
		}
		out = append(out, run[T]{item, i, i + 1})
	}
	return out
}
