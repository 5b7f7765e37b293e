// Package evaluate measures the product's detection on labelled captures of real
// radios, as docs/detection.md shows. On simulated homes it measures detection, and
// the sleep times of motion/insight, against the simulated truth. It knows scoring,
// the reference figures and the names of the detector's constants; it must not know how motion
// is detected.
//
// Run may be called concurrently.
package evaluate

import (
	"fmt"
	"io"

	"sensegate/motion/detect"
)

// Options say what Run and Cross measure. Start from Defaults.
type Options struct {
	JSON        bool               // one JSON object instead of tables
	Sensitivity float64            // of the detector, 0 to 100
	LM1         bool               // measure the published recipe instead of the product's detector
	Progress    func(done, of int) // called now and then, one call at a time; nil = nobody is told
	Page        Page               // written by Run alone
}

// Defaults returns the options that measure the product as it is.
func Defaults() Options { return Options{Sensitivity: detect.DefaultSensitivity} }

// Run evaluates every labelled capture below dirs, as recorded and under all conditions, and
// writes the figures to w, and a page of them if options name its file. It lists captures that it cannot read and then returns an error.
func Run(dirs []string, w io.Writer, options Options) error {
	if err := options.Page.check(); err != nil {
		return err
	}
	study, err := open(dirs)
	if err != nil {
		return err
	}
	config := options.config()
	charts := options.Page.gallery()
	scores, err := study.sweep(conditions(), 1, options.Progress, scored(config, charts))
	if err != nil {
		return err
	}
	report := study.report(scores[0])
	report.Rates = rateTables(study.groups, pooled{options.detector(), study.pool(scores[0])})
	if report.Levels, err = study.measureLevels(config); err != nil {
		return err
	}
	if options.JSON {
		err = writeJSON(w, report)
	} else {
		err = report.writeTable(w)
	}
	if err == nil && charts != nil {
		err = options.Page.write(study.page(report, charts, options))
	}
	if err == nil {
		err = study.unread(dirs)
	}
	return err
}

// detector returns the name of the detector that is measured.
func (o Options) detector() string {
	if o.LM1 {
		return lm1
	}
	return productAsIs
}

// report summarises the scores of the first condition.
func (s *study) report(scores [][]*score) *report {
	var all []score
	for i := range scores {
		all = append(all, *scores[i][0])
	}
	return summarise(s.recordings, all, s.problems)
}

// unread returns an error if there were captures that could not be read.
func (s *study) unread(dirs []string) error {
	if len(s.problems) > 0 {
		return fmt.Errorf("evaluate %q: some captures could not be read, see the report", dirs)
	}
	return nil
}
