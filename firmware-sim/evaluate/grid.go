package evaluate

import (
	"fmt"
	"strings"

	"sensegate/motion/detect"
)

// knob is a constant of the detector that Cross chooses, or several that go together.
type knob struct {
	name   string
	values []float64
	set    func(c *detect.Constants, v float64)
	get    func(c *detect.Constants) float64
}

// lagKnob changes what the detector sees; the other knobs change only what it decides.
func lagKnob() knob {
	return knob{"lag", []float64{0.05, 0.075},
		func(c *detect.Constants, v float64) { c.Lag = v }, func(c *detect.Constants) float64 { return c.Lag }}
}

func knobs() []knob {
	return []knob{
		{"whole", []float64{0.25, 0.30, 0.35},
			func(c *detect.Constants, v float64) { c.Whole = v }, func(c *detect.Constants) float64 { return c.Whole }},
		{"halves", []float64{0.12, 0.15, 0.20},
			func(c *detect.Constants, v float64) { c.Halves = v }, func(c *detect.Constants) float64 { return c.Halves }},
		{"stay", []float64{0.04, 0.06, 0.08},
			func(c *detect.Constants, v float64) { c.Stay = v }, func(c *detect.Constants) float64 { return c.Stay }},
		{"noise", []float64{1.2, 1.5, 1.8},
			func(c *detect.Constants, v float64) { c.Noise = v }, func(c *detect.Constants) float64 { return c.Noise }},
		{"half", []float64{0.3, 0.4},
			func(c *detect.Constants, v float64) { c.Half = v }, func(c *detect.Constants) float64 { return c.Half }},
	}
}

// combine returns base with every combination of the knobs' values.
func combine(base detect.Constants, knobs []knob) []detect.Constants {
	all := []detect.Constants{base}
	for _, k := range knobs {
		var more []detect.Constants
		for _, c := range all {
			for _, v := range k.values {
				k.set(&c, v)
				more = append(more, c)
			}
		}
		all = more
	}
	return all
}

// changes says by which constants c differs from the product's, and by how many.
func changes(c detect.Constants) (text string, n int) {
	product := detect.Defaults().Constants
	var all []string
	for _, k := range append([]knob{lagKnob()}, knobs()...) {
		if now, was := k.get(&c), k.get(&product); now != was {
			all = append(all, fmt.Sprintf("%s %v (product %v)", k.name, now, was))
		}
	}
	if len(all) == 0 {
		return "the product's", 0
	}
	return strings.Join(all, ", "), len(all)
}

// gridText names the values of the grid.
func gridText() string {
	var all []string
	for _, k := range append([]knob{lagKnob()}, knobs()...) {
		all = append(all, fmt.Sprintf("%s %v", k.name, k.values))
	}
	return strings.Join(all, ", ")
}
