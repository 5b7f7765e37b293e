package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The size of a plot and of its frame, in its own units.
const (
	plotWidth, plotHeight = 760.0, 440.0
	plotLeft, plotRight   = 64.0, 520.0
	plotTop, plotBottom   = 48.0, 392.0
)

// plotStyle makes a plot readable on a light and on a dark page. Colours are those of
// Okabe and Ito, which people tell apart who see few colours, its blue made lighter.
const plotStyle = `
  svg { font: 13px system-ui, sans-serif; background: #fff; --ink: #222; --grid: #ddd }
  @media (prefers-color-scheme: dark) { svg { background: #161616; --ink: #ddd; --grid: #3a3a3a } }
  text { fill: var(--ink) } .title { font-size: 15px; font-weight: 600 }
  .grid { stroke: var(--grid); fill: none } .frame { stroke: var(--ink); fill: none }
  .cost { fill: none; stroke-width: 2 } .linear { stroke: var(--ink); fill: none; stroke-dasharray: 2 5 }
`

// plotColours returns the colours of lines, for light and dark pages alike.
func plotColours() []string {
	return []string{"#e69f00", "#56b4e9", "#009e73", "#d55e00", "#3f83d8", "#cc79a7", "#8a8a8a", "#a08a00"}
}

// scale maps values to places on a logarithmic axis.
type scale struct{ low, high, from, to float64 }

func (s scale) at(v float64) float64 {
	return s.from + (s.to-s.from)*math.Log(v/s.low)/math.Log(s.high/s.low)
}

// decades returns the powers of ten of the axis.
func (s scale) decades() []float64 {
	var all []float64
	for e := math.Ceil(math.Log10(s.low) - 1e-9); e <= math.Log10(s.high)+1e-9; e++ {
		all = append(all, math.Pow(10, e))
	}
	return all
}

// plot draws a growth on logarithmic axes as an SVG: a line is as steep as its exponent.
func (g growth) plot() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	x, y := g.scales()
	put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">`, plotWidth, plotHeight, html.EscapeString(g.title))
	put(`<style>%s</style>`, plotStyle)
	put(`<text class="title" x="%g" y="24">%s</text>`, plotLeft, html.EscapeString(g.title))
	for _, v := range y.decades() {
		put(`<path class="grid" d="M%g %.1fH%g"/><text x="%g" y="%.1f" text-anchor="end">%s</text>`, plotLeft, y.at(v), plotRight, plotLeft-8, y.at(v)+4, number(v))
	}
	for _, p := range g.points {
		put(`<path class="grid" d="M%.1f %gV%g"/><text x="%.1f" y="%g" text-anchor="middle">%s</text>`, x.at(p.x), plotTop, plotBottom, x.at(p.x), plotBottom+20, html.EscapeString(p.label))
	}
	put(`<path class="frame" d="M%g %gV%gH%g"/>`, plotLeft, plotTop, plotBottom, plotRight)
	put(`<text x="%g" y="%g" text-anchor="middle">%s</text>`, (plotLeft+plotRight)/2, plotBottom+40, html.EscapeString(g.axis))
	g.plotLinear(put, x, y)
	ends := g.labelPlaces(y)
	for k, c := range g.costs {
		colour := plotColours()[k%len(plotColours())]
		var places []string
		for _, p := range g.points {
			if v := p.values[k]; v > 0 {
				places = append(places, fmt.Sprintf("%.1f %.1f", x.at(p.x), y.at(v)))
				put(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x.at(p.x), y.at(v), colour)
			}
		}
		put(`<path class="cost" stroke="%s" d="M%s"/>`, colour, strings.Join(places, "L"))
		put(`<path stroke="%s" stroke-width="2" d="M%g %.1fh14"/><text x="%g" y="%.1f">%s</text>`, colour, plotRight+12, ends[k], plotRight+32, ends[k]+4,
			html.EscapeString(c.name+", "+c.unit))
	}
	put(`</svg>`)
	return b.String()
}

// scales returns the axes: from the least to the greatest of all costs, in whole decades.
func (g growth) scales() (x, y scale) {
	low, high := math.Inf(1), 0.0
	for _, p := range g.points {
		for _, v := range p.values {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	const inset = 18 // of the first and the last row
	return scale{g.points[0].x, g.points[len(g.points)-1].x, plotLeft + inset, plotRight - inset},
		scale{math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high))), plotBottom, plotTop}
}

// plotLinear draws how steep a cost is that grows with the axis.
func (g growth) plotLinear(put func(string, ...any), x, y scale) {
	from, to, low := x.low, x.high, y.low
	if rise := to / from; low*rise > y.high {
		to = from * y.high / low
	}
	put(`<path class="linear" d="M%.1f %.1fL%.1f %.1f"/><text x="%.1f" y="%.1f" font-size="11" text-anchor="end">linear</text>`,
		x.at(from), y.at(low), x.at(to), y.at(low*to/from), x.at(to)-12, y.at(low*to/from)-2)
}

// labelPlaces returns the heights of the labels of lines: at the end of each, apart from
// each other.
func (g growth) labelPlaces(y scale) []float64 {
	const apart = 18.0
	last := g.points[len(g.points)-1].values
	order := make([]int, len(g.costs))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(last[b], last[a]) })
	places := make([]float64, len(g.costs))
	above := math.Inf(-1)
	for i, k := range order {
		room := plotBottom - apart*float64(len(order)-1-i) // for those below
		above = min(max(y.at(max(last[k], y.low)), above+apart), room)
		places[k] = above
	}
	return places
}
