package evaluate

import (
	"fmt"
	"math"
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// listed is the number of moments that a page lists of a chart.
const listed = 12

// chart is what a page shows of a run of the detector: drawings, no longer than a screen has room for.
type chart struct {
	Group, Name string
	figures
	Place int // on the page; the worst is 1

	Panels []panel
	Rows   []bandRow
	Hours  []notch

	Lapses []spot         // the worst first
	Others int            // lapses that are not listed …
	Rest   motion.Seconds // … and how long they are together
	Missed motion.Seconds // motion that was not detected
	False  motion.Seconds // quiet in which motion was detected
}

// Wrong returns for how long decisions were wrong, in seconds.
func (c *chart) Wrong() motion.Seconds { return c.Missed + c.False }

// Keys returns a line of each class, for the key of the panels.
func (c *chart) Keys() []line {
	var keys []line
	for _, p := range c.Panels {
		for _, l := range p.Lines {
			if !slices.ContainsFunc(keys, func(k line) bool { return k.Class == l.Class }) {
				keys = append(keys, l)
			}
		}
	}
	return keys
}

// spot is a lapse and its place in the plots.
type spot struct {
	lapse
	Number   int // within the chart, from 1
	X, Width string
}

// panel is a plot of curves over time.
type panel struct {
	Title, Description string
	Lines              []line
	Marks              []notch
}

// line is a curve, or the shape of a band; its class says how it looks.
type line struct{ Name, Class, Path string }

// bandRow is a row of bands over time.
type bandRow struct {
	Title, Description string
	Layers             []line
}

// judged are the moments of a run, with their labels and what was decided.
type judged struct {
	times  []motion.Seconds
	labels []capture.Label
	called []bool // motion was detected
	known  []bool // there were data to decide on
}

func (j *judged) add(at motion.Seconds, label capture.Label, called, known bool) {
	j.times, j.labels = append(j.times, at), append(j.labels, label)
	j.called, j.known = append(j.called, called), append(j.known, known)
}

// chart returns the rows and lapses of the moments, which lie within s.
func (j *judged) chart(s span) *chart {
	outcomes := make([]outcome, len(j.times))
	for i, label := range j.labels {
		outcomes[i] = outcomeOf(label, j.called[i])
	}
	c := &chart{Hours: s.labels()}
	labelled := func(l capture.Label) func(int) bool { return func(i int) bool { return j.labels[i] == l } }
	c.Rows = []bandRow{
		{"labels", "High: motion. Two thirds: a pet. Half: a still person. Low: quiet. None: not scored.", []line{
			{"motion", "motion", s.blocks(j.times, labelled(capture.Motion), 0, 10)},
			{"pet", "still", s.blocks(j.times, labelled(petWalks), 3.3, 10)},
			{"still", "still", s.blocks(j.times, labelled(capture.Still), 5, 10)},
			{"quiet", "quiet", s.blocks(j.times, labelled(capture.Quiet), 8.5, 10)},
		}},
		{"decisions", "High: motion. Low: no motion. None: no data.", []line{
			{"motion", "decided", s.blocks(j.times, func(i int) bool { return j.called[i] }, 0, 10)},
			{"no motion", "quiet", s.blocks(j.times, func(i int) bool { return !j.called[i] && j.known[i] }, 8.5, 10)},
		}},
	}
	for _, row := range []struct {
		outcome      outcome
		title, class string
	}{{missed, "missed", "wrong"}, {alarmed, "false", "wrong"}, {flagged, "still", "still"}, {petFlagged, "pet", "still"}} {
		if shape := s.blocks(j.times, func(i int) bool { return outcomes[i] == row.outcome }, 0, 10); shape != "" {
			name := row.outcome.String()
			c.Rows = append(c.Rows, bandRow{row.title, "Where there is " + name + ".", []line{{name, row.class, shape}}})
		}
	}
	for i, l := range lapses(j.times, outcomes) {
		switch l.Outcome {
		case missed:
			c.Missed += l.Length()
		case alarmed:
			c.False += l.Length()
		}
		if i >= listed {
			c.Others++
			c.Rest += l.Length()
			continue
		}
		x := s.x(l.From)
		c.Lapses = append(c.Lapses, spot{l, i + 1, short(x), short(max(s.x(l.To)-x, 1))})
	}
	return c
}

// curve is a curve of a panel: a value of each tick, NaN = none.
type curve struct {
	name, class string
	of          func(t *detect.Tick) float64
}

// plot returns a panel of the series of ticks. It describes the extent of the first one.
func (s span) plot(title, about string, a axis, ticks []detect.Tick, all ...curve) panel {
	p := panel{Title: title, Description: about + " No data.", Marks: a.labels()}
	times, values := make([]motion.Seconds, len(ticks)), make([]float64, len(ticks))
	for k, one := range all {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range ticks {
			times[i], values[i] = motion.Seconds(ticks[i].Time), math.NaN()
			if ticks[i].Valid {
				values[i] = one.of(&ticks[i])
			}
			if !math.IsNaN(values[i]) {
				least, most = min(least, values[i]), max(most, values[i])
			}
		}
		if least > most {
			continue
		}
		if k == 0 {
			p.Description = fmt.Sprintf("%s From %.2f to %.2f.", about, least, most)
		}
		p.Lines = append(p.Lines, line{one.name, one.class, s.curve(times, values, a)})
	}
	return p
}
