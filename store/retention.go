package store

import (
	"errors"
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Retention says how long what is kept is kept, by class
// (payloads.md 6 no. 9). A class of 0 is kept for ever. What is older is not shown, and deleted:
// samples as whole blocks, so that a bit more than asked for lies on the disk.
type Retention struct {
	At1s     time.Duration `yaml:"at_1s" env:"AT_1S"`     // motion at 1 s
	At5s     time.Duration `yaml:"at_5s" env:"AT_5S"`     // at 5 s
	At60s    time.Duration `yaml:"at_60s" env:"AT_60S"`   // at 60 s
	At900s   time.Duration `yaml:"at_900s" env:"AT_900S"` // at 15 min
	Events   time.Duration `yaml:"events" env:"EVENTS"`
	Commands time.Duration `yaml:"commands" env:"COMMANDS"` // management commands that are over, and their batches

	Detections         time.Duration `yaml:"detections" env:"DETECTIONS"`                     // of third-party sensors
	DetectionsOfSensor int           `yaml:"detections_of_sensor" env:"DETECTIONS_OF_SENSOR"` // the newest of each; 0: any number
}

const day = 24 * time.Hour

// DefaultRetention returns that of payloads.md 6 no. 9; commands are kept as long as
// events.
func DefaultRetention() Retention {
	return Retention{
		At1s: day, At5s: 7 * day, At60s: 90 * day, At900s: 730 * day,
		Events: 90 * day, Commands: 90 * day,
		Detections: 90 * day, DetectionsOfSensor: 10_000,
	}
}

// Validate returns every rule that is broken. Each resolution is kept at least
// twice as long as a block of the next coarser one lasts, which is made of it, and
// not longer than that one.
func (r Retention) Validate() error {
	var wrong []error
	rule := func(ok bool, format string, parts ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, parts...))
		}
	}
	for _, tier := range series.Tiers() {
		keep, span := r.of(tier), tier.Span()
		coarser, ok := tier.Coarser()
		if ok {
			span = coarser.Span()
		}
		least := 2 * time.Duration(span) * time.Second
		rule(keep == 0 || keep >= least, "at_%v: want at least %v, or 0 for ever", tier, least)
		rule(!ok || r.of(coarser) <= 0 || keep != 0 && keep <= r.of(coarser), "at_%v: must not be longer than the next coarser resolution", tier)
	}
	rule(r.Events == 0 || r.Events >= time.Hour, "events: want at least 1h, or 0 for ever")
	rule(r.Commands == 0 || r.Commands >= time.Hour, "commands: want at least 1h, or 0 for ever")
	rule(r.Detections == 0 || r.Detections >= time.Hour, "detections: want at least 1h, or 0 for ever")
	rule(r.DetectionsOfSensor >= 0, "detections_of_sensor: want a number, or 0 for any number")
	return errors.Join(wrong...)
}

// of returns how long a tier is kept.
func (r Retention) of(tier series.Tier) time.Duration {
	switch tier {
	case series.Second:
		return r.At1s
	case series.FiveSeconds:
		return r.At5s
	case series.Minute:
		return r.At60s
	}
	return r.At900s
}

// since returns, of a tier, the second before which its rows are past their retention
// when it is now, 0 when none are. It lies at a multiple of 10 minutes, so that it
// does not cut into an hour, or a day, while a question about it is on its way.
func (r Retention) since(now int64) func(series.Tier) int64 {
	return func(tier series.Tier) int64 {
		keep := r.of(tier)
		if keep == 0 {
			return 0
		}
		since := max(0, now-int64(keep/time.Second))
		return since - since%series.Second.Span()
	}
}

// before returns the time before which what is kept for so long is past its
// retention when it is now, 0 when nothing is.
func before(now motion.Time, keep time.Duration) motion.Time {
	if keep == 0 {
		return 0
	}
	return max(0, now.Add(-keep.Seconds()))
}

// Trust in a clock that has jumped.
const (
	clockGap    = 24 * 3600     // s between two steps that are still no jump
	clockTrials = 7 * 24 * 3600 // s that a clock must go on after a jump to be trusted
)

// retentionClock is the time by which things are deleted. It follows the wall clock
// as long as that goes on steadily. When that has jumped ahead, it waits for a
// week: a clock that was set wrong, and is noticed in that time, costs no history.
type retentionClock struct {
	At    int64 `json:"at"`              // what is trusted, s since the epoch; 0: never stepped
	Seen  int64 `json:"seen"`            // the wall clock at the last step
	Since int64 `json:"since,omitempty"` // the wall clock after a jump that is not trusted yet
}

// step returns the clock when the wall clock says now. Steps come once an hour.
func (c retentionClock) step(now int64) retentionClock {
	steady := now >= c.Seen && now-c.Seen <= clockGap
	c.Seen = now
	switch {
	case c.At == 0, now <= c.At+clockGap:
		c.At, c.Since = max(c.At, now), 0
		if now < c.At-clockGap {
			c.At = now
		}
	case c.Since == 0, !steady:
		c.Since = now
	case now-c.Since >= clockTrials:
		c.At, c.Since = now, 0
	}
	return c
}
