package evaluate

import (
	"fmt"
	"math"
	"strings"
)

// ratePlot shows a group's accuracy over the rates, a curve for each disturbance.
type ratePlot struct {
	What          string // that is shown: balanced accuracy, or recall without quiet
	Width, Height float64
	Left, Bottom  float64 // where the axes are
	Curves        []rateCurve
	Rows          []notch // percent, Place = y
	Columns       []notch // frames/s, Place = x
}

// rateCurve is the curve of a disturbance; it does not join what was recorded with what was thinned.
type rateCurve struct {
	Name   string
	Number int // of the disturbance
	Path   string
	Points []ratePoint
}

// Key returns the shape of the curve's points, for its key.
func (c rateCurve) Key() string { return shapeAt(c.Number, 18, 6) }

// ratePoint is a point of a curve, with the shape of its disturbance.
type ratePoint struct{ Title, Shape string }

// plotRates draws the figures of a group, nil if there are none.
func plotRates(tables []groupRates) *ratePlot {
	p := &ratePlot{What: "balanced accuracy", Width: 360, Height: 170, Left: 36, Bottom: 140}
	of := func(c *rateCell) *float64 { return c.BalancedAccuracy }
	if tables[0].Cells[0].BalancedAccuracy == nil {
		p.What, of = "recall", func(c *rateCell) *float64 { return c.Recall }
	}
	least := 100.0
	for _, t := range tables {
		for i := range t.Cells {
			if v := of(&t.Cells[i]); v != nil {
				least = min(least, *v)
			}
		}
	}
	least = max(0, math.Floor((least-1)/5)*5)
	y := func(v float64) float64 { return p.Bottom - (p.Bottom-12)*(v-least)/(100-least) }
	x := func(i int) float64 { return p.Left + 20 + (p.Width-p.Left-40)*float64(i)/float64(len(rates())-1) }
	for v := least; v <= 100; v += (100 - least) / 5 {
		p.Rows = append(p.Rows, notch{fmt.Sprintf("%.0f", v), y(v)})
	}
	for i, rate := range rates() {
		label := "own"
		if rate > 0 {
			label = fmt.Sprint(rate)
		}
		p.Columns = append(p.Columns, notch{label, x(i)})
	}
	for d, t := range tables {
		c := rateCurve{Name: t.Disturbance, Number: d}
		var line path
		for i := range t.Cells {
			v := of(&t.Cells[i])
			if v == nil {
				continue
			}
			at := x(i) + 5*float64(d-1) // beside each other
			line.to(at, y(*v))
			if i == 0 {
				line.lift()
			}
			c.Points = append(c.Points, ratePoint{fmt.Sprintf("%s, %s frames/s: %.2f %%", t.Disturbance, p.Columns[i].Label, *v), shapeAt(d, at, y(*v))})
		}
		line.lift()
		c.Path = line.text.String()
		p.Curves = append(p.Curves, c)
	}
	return p
}

// shapeAt returns the path of the shape of a disturbance: a square, a triangle, a diamond.
func shapeAt(number int, x, y float64) string {
	shape := []string{"m-3 -3h6v6h-6z", "m0 -4l4 7h-8z", "m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z"}[number%3]
	return strings.Join([]string{"M", short(x), " ", short(y), shape}, "")
}
