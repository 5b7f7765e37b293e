package evaluate

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"

	"sensegate/firmware-sim/capture"
)

// Page is an HTML file that shows a run: its figures, and over time what was decided and why. It needs no other file.
type Page struct {
	File    string // "" = none
	Command string // that was given
	Version string // of the program
}

// gallery returns what keeps the charts of the page, nil without a page.
func (p Page) gallery() *gallery {
	if p.File == "" {
		return nil
	}
	return &gallery{charts: map[*capture.Recording]*chart{}}
}

// check returns an error if the file cannot be written. It leaves nothing behind.
func (p Page) check() error {
	if p.File == "" {
		return nil
	}
	temporary, err := p.begin()
	if err != nil {
		return err
	}
	return errors.Join(temporary.Close(), os.Remove(temporary.Name()))
}

// begin creates the file that takes the page's place when it is whole.
func (p Page) begin() (*os.File, error) {
	if about, err := os.Stat(p.File); err == nil && !about.Mode().IsRegular() {
		return nil, fmt.Errorf("write report: %s is not a regular file", p.File)
	}
	temporary, err := os.OpenFile(fmt.Sprintf("%s.%d.new", p.File, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return temporary, nil
}

//go:embed page.html
var pageText string

// write replaces the file, whole or not at all.
func (p Page) write(content *pageContent) error {
	content.Command, content.Version = p.Command, p.Version
	page, err := template.New("page").Funcs(template.FuncMap{
		"clock": clock, "number": number, "cellText": func(c rateCell) string { return c.text() },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	file, err := p.begin()
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(file)
	err = page.Execute(buffer, content)
	err = errors.Join(err, buffer.Flush(), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), p.File)
	}
	if err != nil {
		return fmt.Errorf("write report: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// number formats a figure, "–" if it is not known.
func number(v *float64, digits int) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

// pageContent is what the template shows.
type pageContent struct {
	Title, About     string
	Part, Parts      string // what a chart shows: a recording, recordings
	Reading          string // how its panels are read
	Command, Version string
	Report           *report
	Summary          string
	Rates            []float64
	Worst            []worstSpot
	Groups           []groupPart
	Homes            [][]string // the rows of the table of simulated homes
	Charts           []*chart   // the worst first
}

// worstSpot is one of the worst moments of all charts.
type worstSpot struct {
	spot
	Chart *chart
}

// groupPart is what the page tells of a group.
type groupPart struct {
	groupRow
	Rates []groupRates
	Plot  *ratePlot
}

// groupRates are the figures of a group under a disturbance.
type groupRates struct {
	Disturbance string
	Cells       []rateCell
}

const recordingReading = "Above the dashed line the statistic in force starts motion, above the dotted line it keeps it, for two seconds after the last time: " +
	"R from 19 frames/s on, and the logarithm of power below. Motion also starts where several conditions hold together; reach counts them all, and starts motion above 1."

// page returns the content of the page of a report.
func (s *study) page(r *report, g *gallery, options Options) *pageContent {
	content := &pageContent{
		Title: "Detection on recordings", Part: "recording", Parts: "Recordings", Reading: recordingReading,
		About:  fmt.Sprintf("%d recordings in %d groups; detector %s at sensitivity %g.", len(s.recordings), len(s.groups), options.detector(), options.Sensitivity),
		Report: r, Summary: summary(r.Rates, options.detector()), Rates: rates(),
	}
	for i, recording := range s.recordings {
		c := g.charts[recording]
		c.figures = r.Captures[i].figures
		content.Charts = append(content.Charts, c)
	}
	content.rank()
	for _, row := range r.Groups {
		part := groupPart{groupRow: row}
		for _, t := range r.Rates {
			at := slices.IndexFunc(t.Rows, func(o rateRow) bool { return o.Set == row.Group })
			part.Rates = append(part.Rates, groupRates{t.Disturbance, t.Rows[at].Cells})
		}
		part.Plot = plotRates(part.Rates)
		content.Groups = append(content.Groups, part)
	}
	return content
}

// Facts returns the figures in words.
func (f *figures) Facts() string {
	var all []string
	add := func(format string, v *float64) {
		if v != nil {
			all = append(all, fmt.Sprintf(format, *v))
		}
	}
	add("recall %.2f %%", f.Recall)
	add("false positives %.2f %%", f.FalsePositives)
	add("balanced accuracy %.2f %%", f.BalancedAccuracy)
	add("median latency %.2f s", f.Latency)
	add("still people flagged %.1f %%", f.StillFlagged)
	return strings.Join(all, ", ")
}

// allListed is the number of moments that a page lists of all charts together; none lists fewer of its own.
const allListed = listed

// rank puts the charts in order, those with the most wrong seconds first, and lists the worst moments of all.
func (p *pageContent) rank() {
	slices.SortStableFunc(p.Charts, func(a, b *chart) int { return cmp.Compare(b.Wrong(), a.Wrong()) })
	for i, c := range p.Charts {
		c.Place = i + 1
		for _, one := range c.Lapses {
			if one.Outcome.wrong() {
				p.Worst = append(p.Worst, worstSpot{one, c})
			}
		}
	}
	slices.SortStableFunc(p.Worst, func(a, b worstSpot) int { return cmp.Compare(b.Length(), a.Length()) })
	p.Worst = p.Worst[:min(allListed, len(p.Worst))]
}
