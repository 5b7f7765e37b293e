package insight

import (
	"math"
	"slices"
	"time"

	"sensegate/motion/series"
)

// Schedule holds a household's sleep times (interfaces.md 2.4 no. 1), in the time zone Zone.
type Schedule struct {
	SleepHour, SleepMinute int // 0..23, 0..59
	WakeHour, WakeMinute   int
	Zone                   *time.Location
}

// Rules of a night (payloads.md 4.9).
const (
	margin             = 4 * hourS // s before the sleep and after the wake time
	interruption       = 2         // least length in minutes
	interruptionsApart = 10        // minutes: closer interruptions count as one
	sureEnough         = 0.6       // least confidence of the model in a night
	noon               = 12        // hour that separates nights
)

// Bed returns the configured sleep and wake time of the night of date, in seconds since the
// epoch. The sleep time is between noon of date and noon of the next day, so a household that
// goes to bed at 01:00 does so on date+1; the wake time is the next one after it.
func (h Schedule) Bed(date Date) (sleep, wake int64) {
	if h.SleepHour < noon {
		date++
	}
	sleep = date.at(h.SleepHour, h.SleepMinute, h.Zone).Unix()
	if h.WakeHour < h.SleepHour || h.WakeHour == h.SleepHour && h.WakeMinute <= h.SleepMinute {
		date++
	}
	return sleep, date.at(h.WakeHour, h.WakeMinute, h.Zone).Unix()
}

// Window returns the range [from, to) of the model of that night, in seconds since the epoch:
// from 4 h before the sleep time to 4 h after the wake time.
func (h Schedule) Window(date Date) (from, to int64) {
	sleep, wake := h.Bed(date)
	return floorTo(sleep-margin, minuteS), wake + margin
}

// Night is the time between going to rest and getting up (payloads.md 4.9), which is what motion
// tells about sleep.
type Night struct {
	Interruptions int       `json:"hst_interruptions"`
	SleepTime     time.Time `json:"sleep_time"` // in the schedule's zone, whole minutes
	WakeTime      time.Time `json:"wake_time"`
	Timezone      string    `json:"timezone"`   // IANA name
	Confidence    float64   `json:"confidence"` // sureEnough..1: probability that each time is off by at most 45 min
	Date          Date      `json:"-"`          // of the evening
}

// Absence is a time during which a household is away, in seconds: [From, To).
type Absence struct{ From, To int64 }

// Nights returns the nights of the evenings from first to last, inclusive, whose windows are
// over at second now: an earlier answer would take a short awakening for the morning. The
// model of a night (phase) estimates the times; spans of 2 minutes or more in between with
// somebody up are interruptions, those less than 10 minutes apart count as one. Nights omits a
// night if the model is not sure, if less than half of it holds data, or if the household was
// away. The caller limits the number of nights and checks the warm-up (WarmedUp). The error is
// series.ErrDamaged.
func Nights(s *series.Set, h Schedule, first, last Date, now int64, away ...Absence) ([]Night, error) {
	nights := []Night{}
	for date := first; date <= last; date++ {
		from, to := h.Window(date)
		if from < 0 || to > now {
			continue
		}
		sight, err := h.sight(s, date, away)
		if err != nil {
			return nil, err
		}
		g, ok := sight.guess()
		if !ok || g.sure < sureEnough || !sight.known(g.sleep, g.wake) {
			continue
		}
		at := func(minute int) time.Time { return time.Unix(from+int64(minute)*minuteS, 0).In(h.Zone) }
		nights = append(nights, Night{
			Date: date, SleepTime: at(g.sleep), WakeTime: at(g.wake), Timezone: h.Zone.String(),
			Interruptions: interruptions(g.up[g.sleep:g.wake]), Confidence: float64(Value(g.sure).round(2)),
		})
	}
	return nights, nil
}

// sight returns the data in the window of the night of date.
func (h Schedule) sight(s *series.Set, date Date, away []Absence) (sight, error) {
	from, to := h.Window(date)
	intensities, err := minutes(s, series.Network, series.Mean, from, to)
	if err != nil {
		return sight{}, err
	}
	bed, up := h.Bed(date)
	out := sight{
		levels: make([]level, len(intensities)), away: make([]bool, len(intensities)),
		bed: int(bed-from) / minuteS, up: int(up-from) / minuteS,
	}
	for i, intensity := range intensities {
		out.levels[i] = levelOf(intensity)
		begin := from + int64(i)*minuteS
		out.away[i] = slices.ContainsFunc(away, func(a Absence) bool { return a.From < begin+minuteS && begin < a.To })
	}
	return out, nil
}

// known reports whether at least half of the minutes [from, to) hold data, and the minutes before
// and after them too.
func (s sight) known(from, to int) bool {
	if s.levels[from-1] == noLevel || s.levels[to] == noLevel {
		return false
	}
	known := 0
	for _, l := range s.levels[from:to] {
		if l != noLevel {
			known++
		}
	}
	return 2*known >= to-from
}

// interruptions counts the spans of minutes in which somebody was up.
func interruptions(up []bool) (n int) {
	last := -interruptionsApart
	for _, span := range runs(up) {
		if !span.of || span.len() < interruption {
			continue
		}
		if span.from-last >= interruptionsApart {
			n++
		}
		last = span.to
	}
	return n
}

// Averages are the means of several nights (payloads.md 5.6), null if there is none. Times of day
// are whole seconds after local midnight on the clock, 0..86399.
type Averages struct {
	SleepTime     Value `json:"avg_sleep_time_s"`
	WakeTime      Value `json:"avg_wake_time_s"`
	Interruptions Value `json:"average_interruptions"` // two decimals
	Duration      Value `json:"duration_avg_s"`        // s from sleep to wake time
}

// AverageOf returns the averages of nights. Times of day count from the midnight of the evening's
// date, so that 23:50 and 00:10 average to 00:00.
func AverageOf(nights []Night) Averages {
	n := len(nights)
	sleep, wake, interruptions, duration := make([]Value, n), make([]Value, n), make([]Value, n), make([]Value, n)
	for i, night := range nights {
		evening := int64(night.Date) * dayS
		sleep[i] = Value(wall(night.SleepTime.Unix(), night.SleepTime.Location()) - evening)
		wake[i] = Value(wall(night.WakeTime.Unix(), night.WakeTime.Location()) - evening)
		interruptions[i] = Value(night.Interruptions)
		duration[i] = Value(night.WakeTime.Sub(night.SleepTime).Seconds())
	}
	return Averages{
		SleepTime: onClock(mean(sleep)), WakeTime: onClock(mean(wake)),
		Interruptions: mean(interruptions).round(2), Duration: mean(duration).round(0),
	}
}

// onClock returns v, in seconds after any midnight, as a time of day.
func onClock(v Value) Value {
	if !v.Known() {
		return v
	}
	return Value(math.Mod(float64(v.round(0))+dayS, dayS))
}
