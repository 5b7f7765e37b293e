// Package compare compares synthetic channel state with that of real radios: it
// makes synthetic twins of every recording, with the same times, labels, layout and
// kind of receiver, runs the product's detector over both and measures how much the
// distributions of the detector's features overlap. It knows captures, the channel
// model and the observations of evaluate; it must not know the device protocol or
// how motion is detected.
//
// Run may be called concurrently.
package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/evaluate"
	"sensegate/motion/detect"
)

// Row compares one feature in one class of ticks.
type Row struct {
	Group           string // of recordings
	Label           capture.Label
	Feature         string
	Real, Synthetic [5]float64 // 5, 25, 50, 75 and 95 % points
	Ticks           int        // number of real ones
	Overlap         float64    // common area of the two histograms, 0..1
}

// Run compares the recordings below dir with their synthetic twins and writes a
// table to w.
func Run(dir string, w io.Writer) error {
	rows, err := Measure(dir, twins)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rate\tmoments\tfeature\tof\t5 %\t25 %\t50 %\t75 %\t95 %\tticks\toverlap\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\treal\t%s%d\t\t\n", r.Group, word(r.Label), r.Feature, cells(r.Real), r.Ticks)
		fmt.Fprintf(t, "\t\t\tsynthetic\t%s\t%.2f\t\n", cells(r.Synthetic), r.Overlap)
	}
	return t.Flush()
}

func word(l capture.Label) string {
	if l == capture.Motion {
		return "motion"
	}
	return "quiet"
}

func cells(points [5]float64) (text string) {
	for _, v := range points {
		text += fmt.Sprintf("%.2f\t", v)
	}
	return text
}

// twins is the number of synthetic rooms for each real one in the table: several, so
// that the result depends less on single rooms.
const twins = 3

// class is a set of ticks that are compared.
type class struct {
	group string
	label capture.Label
}

// sample is the values of the features, by class, feature and tick.
type sample map[class][][]float64

// Measure compares the recordings below dir with a number of synthetic twins of each
// and returns a row per group, label and feature.
func Measure(dir string, twins int) ([]Row, error) {
	recordings, err := capture.Scan(dir)
	if err != nil {
		return nil, err
	}
	if len(recordings) == 0 {
		return nil, fmt.Errorf("compare %s: no labelled captures (*.csv.gz)", dir)
	}
	parts := make([][2]sample, len(recordings))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range recordings {
		group.Go(func() (err error) {
			parts[i], err = pair(r, twins)
			r.Frames = nil
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	actual, synthetic := sample{}, sample{}
	for _, p := range parts {
		actual.join(p[0])
		synthetic.join(p[1])
	}
	return rowsOf(actual, synthetic), nil
}

// pair observes a recording and its twins.
func pair(r *capture.Recording, twins int) (both [2]sample, err error) {
	if err := r.Load(); err != nil {
		return both, err
	}
	both = [2]sample{{}, {}}
	err = both[0].observe(r)
	for variant := range twins {
		err = errors.Join(err, both[1].observe(twinOf(r, uint64(variant))))
	}
	return both, err
}

// groupOf returns the group of a recording, by rate: the detector decides differently
// at a low one.
func groupOf(h *capture.Header) string {
	if h.Rate < lowRate {
		return "10 Hz"
	}
	return "73-143 Hz"
}

// What is thinned shows how long a moving body is like itself, and so how fast it is: R of frames up
// to 80 ms apart, of which 25 a second hold two lags.
const (
	thinnedRate = 25.0 // frames/s
	thinnedLag  = 0.08 // s
)

// observe adds the features of a recording.
func (s sample) observe(r *capture.Recording) error {
	all, err := evaluate.Observe(r)
	if err != nil {
		return err
	}
	s.addAll(groupOf(&r.Header), all)
	if r.Header.Rate < lowRate {
		return nil
	}
	all, err = evaluate.ObserveThinned(r, thinnedRate, thinnedLag)
	if err == nil {
		s.addAll(groupOf(&r.Header)+", at 25", all)
	}
	return err
}

func (s sample) addAll(group string, all []evaluate.Observation) {
	for _, o := range all {
		if o.Label == capture.Quiet || o.Label == capture.Motion {
			s.add(class{group, o.Label}, &o.Tick)
		}
	}
}

func (s sample) add(c class, t *detect.Tick) {
	if s[c] == nil {
		s[c] = make([][]float64, len(features()))
	}
	halves := math.Min(t.Features.Ra, t.Features.Rb)
	if math.IsNaN(halves) {
		halves = t.Features.R
	}
	for i, v := range []float64{t.Features.R, halves, t.Power} {
		s[c][i] = append(s[c][i], v)
	}
}

func (s sample) join(other sample) {
	for c, columns := range other {
		if s[c] == nil {
			s[c] = make([][]float64, len(columns))
		}
		for i := range columns {
			s[c][i] = append(s[c][i], columns[i]...)
		}
	}
}

// rowsOf returns the rows, ordered by group, label and feature.
func rowsOf(actual, synthetic sample) []Row {
	var rows []Row
	for c, columns := range actual {
		for i, f := range features() {
			other := synthetic[c]
			if other == nil {
				other = make([][]float64, len(columns))
			}
			rows = append(rows, Row{
				Group: c.group, Label: c.label, Feature: f.name, Ticks: len(columns[i]),
				Real: quantiles(columns[i]), Synthetic: quantiles(other[i]), Overlap: f.overlap(columns[i], other[i]),
			})
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return slices.Compare([]string{b.Group, word(b.Label)}, []string{a.Group, word(a.Label)})
	})
	return rows
}

// feature is a number on which the detector's decisions depend.
type feature struct {
	name      string
	low, high float64 // range of the histogram; values beyond it count in the end bins
}

// features returns the compared features (lm1.md 2 no. 4 and no. 5).
func features() []feature {
	return []feature{
		{"R", -0.2, 1},
		{"min(Ra, Rb)", -0.3, 0.9},
		{"lm", -9, -1},
	}
}

const histogramBins = 24

// overlap returns the common area of the histograms of two distributions, 0..1; 1 =
// equal.
func (f *feature) overlap(a, b []float64) float64 {
	x, y := f.histogram(a), f.histogram(b)
	common := 0.0
	for i := range x {
		common += math.Min(x[i], y[i])
	}
	return common
}

// histogram returns the share of the values in each bin.
func (f *feature) histogram(values []float64) (shares [histogramBins]float64) {
	for _, v := range values {
		bin := int(math.Floor((v - f.low) / (f.high - f.low) * histogramBins))
		shares[min(max(bin, 0), histogramBins-1)] += 1 / float64(len(values))
	}
	return shares
}

// quantiles returns the 5, 25, 50, 75 and 95 % points of values, NaN without values.
func quantiles(values []float64) (points [5]float64) {
	sorted := slices.Sorted(slices.Values(values))
	for i, share := range [5]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		points[i] = math.NaN()
		if len(sorted) > 0 {
			points[i] = sorted[int(share*float64(len(sorted)-1))]
		}
	}
	return points
}
