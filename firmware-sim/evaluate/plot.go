package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// plotWidth is the width of a plot in its own units; its height is 100. No wider screen shows more of it.
const plotWidth = 1000.0

// span is the time that a plot shows.
type span struct{ from, to motion.Seconds }

// x returns the place of a time, 0 to plotWidth.
func (s span) x(t motion.Seconds) float64 { return plotWidth * (t - s.from) / (s.to - s.from) }

// axis maps values to heights, 0 at the top and 100 at the bottom. What is beyond its ends is at the end.
type axis struct {
	low, high float64
	bend      func(float64) float64 // rising
	marks     []float64             // values that are labelled
}

func (a axis) y(v float64) float64 {
	low, high := a.bend(a.low), a.bend(a.high)
	return 100 * (1 - max(0, min(1, (a.bend(v)-low)/(high-low))))
}

// even is the bend of an axis on which equal differences are equally far apart.
func even(v float64) float64 { return v }

// root spreads what is near 0.
func root(v float64) float64 { return math.Copysign(math.Sqrt(math.Abs(v)), v) }

// path draws lines through points. It leaves out those within a level line.
type path struct {
	text strings.Builder
	line [][2]string // not written yet
}

func (p *path) to(x, y float64) {
	point := [2]string{short(x), short(y)}
	if n := len(p.line); n >= 2 && p.line[n-2][1] == point[1] && p.line[n-1][1] == point[1] {
		p.line = p.line[:n-1]
	}
	p.line = append(p.line, point)
}

// lift ends a line; the next point begins another one. A line of one point is a dot.
func (p *path) lift() {
	for i, point := range p.line {
		p.text.WriteString([]string{"M", " "}[min(i, 1)] + point[0] + " " + point[1])
	}
	if len(p.line) == 1 {
		p.text.WriteString("h.1")
	}
	p.line = p.line[:0]
}

// short formats a coordinate with a digit after the point at most.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// curve returns the path of values. Of each unit of width it draws the first value, the least, the greatest and
// the last, so that no peak is lost. It is broken where a value is NaN, and where times are apart.
func (s span) curve(times []motion.Seconds, values []float64, a axis) string {
	var p path
	var column []int // indices of the values in one unit of width
	flush := func() {
		if len(column) == 0 {
			return
		}
		compare := func(i, k int) int { return cmp.Compare(values[i], values[k]) }
		drawn := []int{column[0], slices.MinFunc(column, compare), slices.MaxFunc(column, compare), column[len(column)-1]}
		slices.Sort(drawn)
		for _, i := range slices.Compact(drawn) {
			p.to(s.x(times[i]), a.y(values[i]))
		}
		column = column[:0]
	}
	for i, v := range values {
		if len(column) > 0 && math.Floor(s.x(times[column[0]])) != math.Floor(s.x(times[i])) {
			flush()
		}
		if math.IsNaN(v) || i > 0 && apart(times[i-1], times[i]) {
			flush()
			p.lift()
		}
		if !math.IsNaN(v) {
			column = append(column, i)
		}
	}
	flush()
	p.lift()
	return p.text.String()
}

// blocks returns the path of rectangles over the moments of which is holds, from the top to the bottom of a row
// of height 10. None is narrower than a unit, and those with less than half a unit between them are one.
func (s span) blocks(times []motion.Seconds, is func(i int) bool, top, bottom float64) string {
	var text strings.Builder
	left, right := 0.0, -1.0
	draw := func() {
		if right >= 0 {
			text.WriteString("M" + short(left) + " " + short(top) + "H" + short(max(right, left+1)) + "V" + short(bottom) + "H" + short(left) + "z")
		}
	}
	for i, t := range times {
		if !is(i) {
			continue
		}
		begin, end := s.x(t), s.x(t+detect.TickInterval)
		if right < 0 || begin-right > 0.5 {
			draw()
			left = begin
		}
		right = end
	}
	draw()
	return text.String()
}

// notch is a label beside a plot.
type notch struct {
	Label string
	Place float64 // percent of the width from the left, or of the height from the top
}

func (a axis) labels() []notch {
	var all []notch
	for _, v := range a.marks {
		all = append(all, notch{strconv.FormatFloat(v, 'g', -1, 64), a.y(v)})
	}
	return all
}

// labels returns round times, six at most.
func (s span) labels() []notch {
	step := 86400.0
	for _, round := range []motion.Seconds{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200} {
		if (s.to-s.from)/round <= 6 {
			step = round
			break
		}
	}
	var all []notch
	for t := math.Ceil(s.from/step) * step; t < s.to; t += step {
		all = append(all, notch{clock(t), 100 * s.x(t) / plotWidth})
	}
	return all
}

// clock formats a time as minutes and seconds, from an hour on with hours.
func clock(t motion.Seconds) string {
	hundredths := int(math.Round(100 * t))
	hours, minutes, seconds := hundredths/360000, hundredths/6000%60, hundredths/100%60
	text := fmt.Sprintf("%d:%02d", minutes, seconds)
	if hours > 0 {
		text = fmt.Sprintf("%d:%02d:%02d", hours, minutes, seconds)
	}
	if rest := hundredths % 100; rest > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%02d", rest), "0")
	}
	return text
}
