package insight

import (
	"math"
	"slices"
	"time"

	"sensegate/motion/series"
)

// Schedule is when a household sleeps (interfaces.md 2.4 no. 1), in the time zone Zone.
type Schedule struct {
	SleepHour, SleepMinute int // 0..23, 0..59
	WakeHour, WakeMinute   int
	Zone                   *time.Location
}

// Rules of a night (payloads.md 4.9).
const (
	margin             = 4 * hourS // s before the sleep and after the wake time
	interruption       = 2         // minutes: at least so long
	interruptionsApart = 10        // minutes: those closer to each other are one
	sureEnough         = 0.6       // how sure the model has to be of a night
	noon               = 12        // hour that one night is told from the next at
)

// Bed returns the configured sleep and wake time of the night that date's evening
// begins, in seconds since the epoch. That night is the one whose sleep time lies
// between noon of date and noon of the next day, so that a household that goes to
// bed at 01:00 does so on date+1; it wakes at the next wake time after that.
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

// Window returns the seconds [from, to) of the model of that night: from 4 h before the sleep
// time to 4 h after the wake time.
func (h Schedule) Window(date Date) (from, to int64) {
	sleep, wake := h.Bed(date)
	return floorTo(sleep-margin, minuteS), wake + margin
}

// Night is when a household went to rest and got up (payloads.md 4.9), which is what a
// home can know of sleep.
type Night struct {
	Interruptions int       `json:"hst_interruptions"`
	SleepTime     time.Time `json:"sleep_time"` // in the schedule's zone, whole minutes
	WakeTime      time.Time `json:"wake_time"`
	Timezone      string    `json:"timezone"`   // IANA name
	Confidence    float64   `json:"confidence"` // sureEnough..1: how likely the model holds it that each time is off by at most 45 min
	Date          Date      `json:"-"`          // of the evening
}

// Absence is a time that a household is known to be away, in seconds: [From, To).
type Absence struct{ From, To int64 }

// Nights returns the nights that the evenings from first to last begin, both
// included, as far as their windows are over at second now: an earlier answer
// would take a short awakening for the morning. The model of a night (phase) finds
// the times; spans of 2 minutes or more in between that somebody is up are
// interruptions, those less than 10 minutes apart one. A night is left out when its
// model is not sure, when less than half of it holds data, and when the household was
// away. The number of nights is for the caller to bound, as is the warm-up (WarmedUp).
// The error is series.ErrDamaged.
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

// sight returns the data of the window of the night that date's evening begins.
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

// known reports whether at least half of the minutes [from, to) hold data, the one before
// them and the one after them too.
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

// Averages are the means of some nights (payloads.md 5.6), null when there is
// none. Times of day are whole seconds after local midnight on the clock, 0..86399.
type Averages struct {
	SleepTime     Value `json:"avg_sleep_time_s"`
	WakeTime      Value `json:"avg_wake_time_s"`
	Interruptions Value `json:"average_interruptions"` // two decimals
	Duration      Value `json:"duration_avg_s"`        // s that passed from sleep to wake time
}

// AverageOf returns the averages of nights. Times of day are counted from the
// midnight of the evening's date on, so that 23:50 and 00:10 make 00:00.
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

// onClock returns the time of day of v, in seconds after any midnight.
func onClock(v Value) Value {
	if !v.Known() {
		return v
	}
	return Value(math.Mod(float64(v.round(0))+dayS, dayS))
}
