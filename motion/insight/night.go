package insight

import (
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Schedule is when a household sleeps (interface document 2.4), on the clocks of
// Zone.
type Schedule struct {
	SleepHour, SleepMinute int // 0..23, 0..59
	WakeHour, WakeMinute   int
	Zone                   *time.Location
}

// Rules of a night (payloads.md 4.9).
const (
	margin       = 4 * hourS // s before the sleep and after the wake time
	quietSpan    = 30        // minutes: at least so long
	interruption = 2         // minutes: at least so long
	noon         = 12        // hour that one night is told from the next at
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

// Window returns the seconds [from, to) that are looked at for that night: from
// 4 h before the sleep time to 4 h after the wake time.
func (h Schedule) Window(date Date) (from, to int64) {
	sleep, wake := h.Bed(date)
	return floorTo(sleep-margin, minuteS), wake + margin
}

// Night is the quiet time of a household in one night (payloads.md 4.9). It tells
// when motion stopped and began again, which is what a home can know of sleep.
type Night struct {
	Interruptions int       `json:"hst_interruptions"`
	SleepTime     time.Time `json:"sleep_time"` // in the schedule's zone, whole minutes
	WakeTime      time.Time `json:"wake_time"`
	Timezone      string    `json:"timezone"`   // IANA name
	Confidence    float64   `json:"confidence"` // 0..1, see confidence
	Date          Date      `json:"-"`          // of the evening
	Quiet         []Quiet   `json:"-"`          // by Cole–Kripke, within the window
}

// Quiet is a period of quiet time of at least 160 minutes (Periods).
type Quiet struct {
	From, To time.Time // [From, To)
	Period
}

// Nights returns the nights that the evenings from first to last begin, both
// included, as far as their windows are over at second now: an earlier answer
// would take a short awakening for the morning. Minutes are quiet, in motion or
// unknown as the package comment says. sleep_time is the start of the first quiet
// span of 30 minutes or more, wake_time the end of the last; only spans count
// that have motion before and after them in the window, so that an empty house or
// missing data is not a night. A night without such a span is left out. Motion of
// 2 minutes or more in a row in between is an interruption.
//
// bedrooms are the leafs that CountsOf takes; they bear on Confidence and Quiet
// alone. The number of nights is for the caller to bound, as is the warm-up
// (WarmedUp). The error is series.ErrDamaged.
func Nights(s *series.Set, h Schedule, first, last Date, now int64, bedrooms ...motion.MAC) ([]Night, error) {
	var watches []watch
	for date := first; date <= last; date++ {
		if from, to := h.Window(date); from < 0 || to > now {
			continue
		}
		w, err := h.watch(s, date, bedrooms)
		if err != nil {
			return nil, err
		}
		watches = append(watches, w)
	}
	scale := scaleOfNights(watches)
	nights := []Night{}
	for _, w := range watches {
		if sleep, wake, ok := w.night(); ok {
			nights = append(nights, w.tell(h.Zone, sleep, wake, scale))
		}
	}
	return nights, nil
}

// watch is what was seen in the window of one night, per minute.
type watch struct {
	date    Date
	from    int64 // second of the first minute
	bed, up int   // minutes of the configured sleep and wake time
	states  []state
	counts  Counts
}

func (h Schedule) watch(s *series.Set, date Date, bedrooms []motion.MAC) (watch, error) {
	from, to := h.Window(date)
	sleep, wake := h.Bed(date)
	w := watch{date: date, from: from, bed: int(sleep-from) / minuteS, up: int(wake-from) / minuteS}
	var err error
	if w.states, err = states(s, from, to); err != nil {
		return watch{}, err
	}
	w.counts, err = CountsOf(s, from, to, bedrooms...)
	return w, err
}

// scaleOfNights returns the factor for the counts: from those between the
// configured sleep and wake times, or from the whole windows when nothing ever
// moved in between, which would leave the scorings blind.
func scaleOfNights(watches []watch) float64 {
	inBed, all := make([]Counts, len(watches)), make([]Counts, len(watches))
	for i, w := range watches {
		inBed[i], all[i] = w.counts[w.bed:w.up], w.counts
	}
	scale, ok := scaleOf(inBed...)
	if !ok {
		scale, _ = scaleOf(all...)
	}
	return scale
}

// night returns the minutes of the sleep and wake time.
func (w watch) night() (sleep, wake int, ok bool) {
	firstMotion := slices.Index(w.states, active)
	lastMotion := 0
	spans := runs(w.states)
	for _, r := range spans {
		if r.of == active {
			lastMotion = r.from
		}
	}
	for _, r := range spans {
		if r.of != quiet || r.len() < quietSpan || firstMotion < 0 || r.from < firstMotion || r.to > lastMotion {
			continue
		}
		if !ok {
			sleep = r.from
		}
		wake, ok = r.to, true
	}
	return sleep, wake, ok
}

// tell describes the night from minute sleep to minute wake.
func (w watch) tell(zone *time.Location, sleep, wake int, scale float64) Night {
	n := Night{
		Date:      w.date,
		SleepTime: w.time(sleep, zone), WakeTime: w.time(wake, zone), Timezone: zone.String(),
	}
	for _, r := range runs(w.states[sleep:wake]) {
		if r.of == active && r.len() >= interruption {
			n.Interruptions++
		}
	}
	counts := w.counts.scaled(scale)
	scores := ColeKripke(counts, OneMinute)
	n.Confidence = float64(w.confidence(scores[sleep:wake], Sadeh(counts)[sleep:wake]))
	for _, p := range Periods(counts, scores, DefaultPeriods()) {
		n.Quiet = append(n.Quiet, Quiet{From: w.time(p.From, zone), To: w.time(p.To, zone), Period: p})
	}
	return n
}

// confidence returns the share of the window's minutes that hold data, times the
// share of the night that the two scorings call asleep, in the mean. It is low
// when data is missing, and when an evening or a morning that was lived through
// stands between the first and the last quiet span. It is not a probability.
func (w watch) confidence(scorings ...[]Score) Value {
	seen := 0
	for _, m := range w.states {
		if m != unknown {
			seen++
		}
	}
	shares := make([]Value, len(scorings))
	for i, s := range scorings {
		shares[i] = asleepShare(s)
	}
	agreed := mean(shares)
	if !agreed.Known() {
		return 0
	}
	return (ratio(seen, len(w.states), 1) * agreed).round(2)
}

// time returns the start of a minute.
func (w watch) time(minute int, zone *time.Location) time.Time {
	return time.Unix(w.from+int64(minute)*minuteS, 0).In(zone)
}
