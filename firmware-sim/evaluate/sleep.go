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
	Homes  int    // of each scenario, each with the next seed: people and devices stand elsewhere
	Nights int    // of each home and habit, in a row
}

// rest is a night: seconds since the epoch, and how often somebody got up in between.
type rest struct {
	sleep, wake   int64
	interruptions int
}

// What an interruption is in the truth (payloads.md 4.9), in seconds, and how long one
// may be up before the night counts as over.
const (
	shortestInterruption = 120
	interruptionsApart   = 600
	longestUp            = 1800
)

// RunNights plays nights of homes and writes to w how far the sleep and wake times
// that the product tells (motion/insight) are from what happened, a row for each
// scenario and habit.
func RunNights(homes []*scenario.Scenario, play Nights, w io.Writer) error {
	scores, err := scoreNights(homes, habits(), play)
	if err != nil {
		return err
	}
	return writeNights(scores, w)
}

// writeNights writes a row for each score, and below it one for the former rule.
func writeNights(scores []nightScore, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\thabit\trule\tnights\ttold\tempty\ttold\tsleep 50 %\t90 %\twake 50 %\t90 %\tinterruptions 50 %\t90 %\t")
	for _, s := range scores {
		fmt.Fprintf(t, "%s\t%s\tpresent\t%s\n", s.home, s.habit, s.present.row())
		fmt.Fprintf(t, "\t\tformer\t%s\n", s.former.row())
	}
	return t.Flush()
}

// nightScore is what was counted over the nights of a home and habit.
type nightScore struct {
	home, habit     string
	present, former ruleScore
}

// ruleScore are the errors of a rule: minutes, and for interruptions how many.
type ruleScore struct {
	nights, told         int // nights that somebody slept in the home
	empty, toldEmpty     int // nights that nobody did
	sleep, wake, between []float64
}

// scoreNights returns the score of every home and habit, in their order.
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

// firstEvening is the evening of the first night: a Monday's.
func firstEvening() time.Time { return time.Date(2025, time.November, 3, 0, 0, 0, 0, time.UTC) }

// homeNights scores the nights of one home and seed, habit by habit.
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

// recorded returns samples as the store holds them: in seconds, which it sums up to minutes.
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

// truthOf returns when the household went to rest and got up in the night between two
// days: from when the last of those at home lies in bed until the first gets up, who may
// be up for less than half an hour in between. slept is false when nobody slept at home.
func truthOf(days []*scenario.Day) (night rest, slept bool) {
	noon, end := days[0].Begin.Add(12*3600), days[1].Begin.Add(14*3600)
	var spans []channel.Span // everybody who is there lies in bed
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

// atRest reports whether somebody is at home and all who are lie in bed.
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

// take scores what a rule tells of a night.
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

// row returns the figures as cells.
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

// formerRule returns the night that the rule of before would tell, as the reference
// that the present one is held against: from the start of the first quiet span of 30
// minutes to the end of the last that has motion before and after it in the window; what
// moves for 2 minutes in between is an interruption.
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

// endOf returns the end of the stretch of equal minutes that begins at i.
func endOf(minutes []bool, i int) int {
	end := i
	for end < len(minutes) && minutes[end] == minutes[i] {
		end++
	}
	return end
}
