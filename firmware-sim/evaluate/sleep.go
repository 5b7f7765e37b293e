package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// Nights says which nights of scenarios are simulated and scored.
type Nights struct {
	Seed   uint64 // of the people and radio of the first home
	Homes  int    // of each scenario, each with the next seed
	Nights int    // consecutive ones of each home and habit
}

// rest is a night: seconds since the epoch, and the number of interruptions.
type rest struct {
	sleep, wake   int64
	interruptions int
}

// The limits of an interruption in the truth (payloads.md 4.9), in seconds; a longer one
// than longestUp ends the night.
const (
	shortestInterruption = 120
	interruptionsApart   = 600
	longestUp            = 1800
)

// RunNights simulates nights of homes and writes the errors of the product's sleep and
// wake times (motion/insight) to w, a row per scenario and habit.
func RunNights(homes []*scenario.Scenario, play Nights, w io.Writer) error {
	scores, err := scoreNights(homes, habits(), play)
	if err != nil {
		return err
	}
	return writeNights(scores, w)
}

// writeNights writes a row per score, and below it one for the former rule.
func writeNights(scores []nightScore, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\thabit\trule\tnights\ttold\tempty\ttold\tsleep 50 %\t90 %\twake 50 %\t90 %\tinterruptions 50 %\t90 %\t")
	for _, s := range scores {
		fmt.Fprintf(t, "%s\t%s\tpresent\t%s\n", s.home, s.habit, s.present.row())
		fmt.Fprintf(t, "\t\tformer\t%s\n", s.former.row())
	}
	return t.Flush()
}

// nightScore is the score of the nights of a home and habit.
type nightScore struct {
	home, habit     string
	present, former ruleScore
}

// ruleScore holds the errors of a rule: minutes, for interruptions their number.
type ruleScore struct {
	nights, told         int // nights that a person slept in the home; those reported
	empty, toldEmpty     int // nights that nobody did; those reported
	sleep, wake, between []float64
}

// scoreNights returns a score per home and habit, in their order.
func scoreNights(homes []*scenario.Scenario, habits []habit, play Nights) ([]nightScore, error) {
	parts := make([][]nightScore, len(homes)*play.Homes)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, home := range homes {
		for k := range play.Homes {
			group.Go(func() (err error) {
				parts[i*play.Homes+k], err = homeNights(home, habits, play.Seed+uint64(k), play.Nights)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var sums []nightScore
	for i, home := range homes {
		for h := range habits {
			sum := nightScore{home: home.Name, habit: habits[h].name}
			for _, part := range parts[i*play.Homes : (i+1)*play.Homes] {
				sum.present.add(&part[h].present)
				sum.former.add(&part[h].former)
			}
			sums = append(sums, sum)
		}
	}
	return sums, nil
}

// firstEvening returns the midnight that begins the day of the first night, a Monday.
func firstEvening() time.Time { return time.Date(2025, time.November, 3, 0, 0, 0, 0, time.UTC) }

// homeNights returns the scores of the nights of a home, by habit.
func homeNights(home *scenario.Scenario, habits []habit, seed uint64, nights int) ([]nightScore, error) {
	eyes := newSight(home, seed)
	scores := make([]nightScore, len(habits))
	for h, habit := range habits {
		lived := habit.of(home)
		habit.schedule.Zone = time.UTC
		today := habit.plan(lived, seed, firstEvening())
		for n := range nights {
			evening := firstEvening().AddDate(0, 0, n)
			tomorrow := habit.plan(lived, seed, evening.AddDate(0, 0, 1))
			days := []*scenario.Day{today, tomorrow}
			today = tomorrow
			date := insight.DateOf(evening.Unix(), time.UTC)
			from, to := habit.schedule.Window(date)
			set, err := recorded(eyes.samples(days, motion.Time(from), motion.Time(to)), from)
			if err != nil {
				return nil, err
			}
			truth, slept := truthOf(days)
			told, err := insight.Nights(set, habit.schedule, date, date, to)
			if err != nil {
				return nil, err
			}
			var night rest
			if len(told) > 0 {
				night = rest{told[0].SleepTime.Unix(), told[0].WakeTime.Unix(), told[0].Interruptions}
			}
			scores[h].present.take(truth, slept, night, len(told) > 0)
			before, ok := formerRule(set, habit.schedule, date)
			scores[h].former.take(truth, slept, before, ok)
		}
	}
	return scores, nil
}

// recorded returns samples as the store holds them, in a series of seconds.
func recorded(samples []float64, from int64) (*series.Set, error) {
	var values [][]byte
	var block *series.Block
	network := 0
	for i, intensity := range samples {
		ts := from + int64(float64(i)*sampleStep)
		if block == nil || ts >= block.End() {
			if block != nil {
				values = append(values, block.AppendValue(nil))
			}
			block = series.NewBlock(series.Second, series.Second.BlockStart(ts))
			network, _ = block.Index(series.Network)
		}
		block.Add(network, ts, intensity)
	}
	return series.NewSet(append(values, block.AppendValue(nil))...)
}

// truthOf returns the night between two days: from when all people at home are in bed
// until the first gets up; being up for less than half an hour does not end it. slept is
// false if nobody slept at home.
func truthOf(days []*scenario.Day) (night rest, slept bool) {
	noon, end := days[0].Begin.Add(12*3600), days[1].Begin.Add(14*3600)
	var spans []channel.Span // all people at home are in bed
	for t := noon; t < end; t = t.Add(5) {
		if !atRest(days, t) {
			continue
		}
		if n := len(spans); n > 0 && t.Since(spans[n-1].To) < shortestInterruption {
			spans[n-1].To = t.Add(5)
			continue
		}
		spans = append(spans, channel.Span{From: t, To: t.Add(5)})
	}
	var nights [][]channel.Span
	for _, s := range spans {
		if n := len(nights); n > 0 && s.From.Since(nights[n-1][len(nights[n-1])-1].To) < longestUp {
			nights[n-1] = append(nights[n-1], s)
			continue
		}
		nights = append(nights, []channel.Span{s})
	}
	if len(nights) == 0 {
		return rest{}, false
	}
	length := func(n []channel.Span) float64 { return n[len(n)-1].To.Since(n[0].From) }
	longest := slices.MaxFunc(nights, func(a, b []channel.Span) int { return cmp.Compare(length(a), length(b)) })
	night = rest{sleep: longest[0].From.Second(), wake: longest[len(longest)-1].To.Second()}
	last := math.Inf(-1)
	for i := 1; i < len(longest); i++ {
		if up := longest[i-1].To; float64(up)-last >= interruptionsApart {
			night.interruptions++
		}
		last = float64(longest[i].From)
	}
	return night, true
}

// atRest reports whether people are at home and all of them are in bed.
func atRest(days []*scenario.Day, t motion.Time) bool {
	day := days[count(t >= days[1].Begin)]
	holds := func(spans []channel.Span) bool {
		return slices.ContainsFunc(spans, func(s channel.Span) bool { return s.Holds(t) })
	}
	somebody := false
	for i := range day.Scene.Bodies {
		b := &day.Scene.Bodies[i]
		if b.Kind != channel.Person || !holds(b.Present) {
			continue
		}
		if !holds(b.Asleep) {
			return false
		}
		somebody = true
	}
	return somebody
}

// take scores the result of a rule for a night.
func (s *ruleScore) take(truth rest, slept bool, told rest, ok bool) {
	if !slept {
		s.empty++
		s.toldEmpty += count(ok)
		return
	}
	s.nights++
	if !ok {
		return
	}
	s.told++
	s.sleep = append(s.sleep, math.Abs(float64(told.sleep-truth.sleep))/60)
	s.wake = append(s.wake, math.Abs(float64(told.wake-truth.wake))/60)
	s.between = append(s.between, math.Abs(float64(told.interruptions-truth.interruptions)))
}

func (s *ruleScore) add(o *ruleScore) {
	s.nights, s.told = s.nights+o.nights, s.told+o.told
	s.empty, s.toldEmpty = s.empty+o.empty, s.toldEmpty+o.toldEmpty
	s.sleep, s.wake, s.between = append(s.sleep, o.sleep...), append(s.wake, o.wake...), append(s.between, o.between...)
}

// row returns the figures as cells of the table.
func (s *ruleScore) row() string {
	pair := func(errors []float64) string {
		if len(errors) == 0 {
			return "-\t-\t"
		}
		return fmt.Sprintf("%.0f\t%.0f\t", quantile(errors, 0.5), quantile(errors, 0.9))
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t", s.nights, s.told, s.empty, s.toldEmpty) +
		pair(s.sleep) + pair(s.wake) + pair(s.between)
}

// quantile returns the smallest value that the given share of values does not exceed.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// formerRule returns the night by the former rule, for comparison with the present one:
// from the start of the first quiet span of 30 minutes to the end of the last, both with
// motion before and after them in the window; 2 minutes of motion in between are an
// interruption.
func formerRule(s *series.Set, h insight.Schedule, date insight.Date) (rest, bool) {
	from, to := h.Window(date)
	points, err := s.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: 60})
	if err != nil {
		return rest{}, false
	}
	moves := make([]bool, points.Len())
	firstMotion, lastMotion := len(moves), 0
	for i := range moves {
		density, _, _ := points.At(i)
		if moves[i] = density > 10; moves[i] {
			firstMotion, lastMotion = min(firstMotion, i), i
		}
	}
	sleep, wake := -1, -1
	for i := firstMotion; i < lastMotion; {
		end := endOf(moves, i)
		if !moves[i] && end-i >= 30 {
			if sleep < 0 {
				sleep = i
			}
			wake = end
		}
		i = end
	}
	if sleep < 0 {
		return rest{}, false
	}
	interruptions := 0
	for i := sleep; i < wake; {
		end := endOf(moves, i)
		if moves[i] && end-i >= 2 {
			interruptions++
		}
		i = end
	}
	return rest{from + int64(sleep)*60, from + int64(wake)*60, interruptions}, true
}

// endOf returns the end of the run of equal minutes that begins at i.
func endOf(minutes []bool, i int) int {
	end := i
	for end < len(minutes) && minutes[end] == minutes[i] {
		end++
	}
	return end
}
