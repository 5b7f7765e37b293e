package insight

import "math"

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
