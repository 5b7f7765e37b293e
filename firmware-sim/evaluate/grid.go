package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"sensegate/motion/detect"
)

// knob is a constant of the detector that Cross chooses.
type knob struct {
	name   string
	values []float64 // ascending; but for the lag, the more the more careful is the detector
	set    func(c *detect.Constants, v float64)
	get    func(c *detect.Constants) float64
}

// lagKnob changes what the detector sees; the other knobs change only what it decides.
func lagKnob() knob {
	return knob{"lag", []float64{0.05, 0.06, 0.07},
		func(c *detect.Constants, v float64) { c.Lag = v }, func(c *detect.Constants) float64 { return c.Lag }}
}

func knobs() []knob {
	return []knob{
		{"stay", []float64{0.04, 0.06, 0.08},
			func(c *detect.Constants, v float64) { c.Stay = v }, func(c *detect.Constants) float64 { return c.Stay }},
		{"noise", []float64{1.2, 1.5, 1.8},
			func(c *detect.Constants, v float64) { c.Noise = v }, func(c *detect.Constants) float64 { return c.Noise }},
		{"alone", []float64{0, 2, 2.5},
			func(c *detect.Constants, v float64) { c.Alone = v }, func(c *detect.Constants) float64 { return c.Alone }},
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

// careOf counts the steps of the grid from its least careful settings to c.
func careOf(c detect.Constants) int {
	steps := 0
	for _, k := range knobs() {
		steps += max(0, slices.Index(k.values, k.get(&c)))
	}
	return steps
}

// changes says by which constants c differs from the product's.
func changes(c detect.Constants) string {
	product := detect.Defaults().Constants
	var all []string
	for _, k := range append([]knob{lagKnob()}, knobs()...) {
		if now, was := k.get(&c), k.get(&product); now != was {
			all = append(all, fmt.Sprintf("%s %v (product %v)", k.name, now, was))
		}
	}
	if len(all) == 0 {
		return "the product's"
	}
	return strings.Join(all, ", ")
}

// gridText names the values of the grid.
func gridText() string {
	var all []string
	for _, k := range append([]knob{lagKnob()}, knobs()...) {
		all = append(all, fmt.Sprintf("%s %v", k.name, k.values))
	}
	return strings.Join(all, ", ")
}
