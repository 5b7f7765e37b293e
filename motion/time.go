package motion

import (
	"math"
	"time"
)

// Time is a point in time in seconds since the Unix epoch, UTC, with fractions
// (interfaces.md 2.2: "UTC timestamp"). Today its resolution is better
// than a microsecond. Zero means "never" or "unknown".
type Time float64

// Seconds is a length of time in seconds.
type Seconds = float64

// TimeOf returns t in seconds since the epoch, rounded to the microsecond.
func TimeOf(t time.Time) Time { return FromMicros(t.UnixMicro()) }

// FromMicros returns the Time that is µs microseconds after the epoch.
func FromMicros(µs int64) Time { return Time(float64(µs) / 1e6) }

// Micros returns the microseconds since the epoch, rounded.
func (t Time) Micros() int64 { return int64(math.Round(float64(t) * 1e6)) }

// Second returns the whole second that t lies in.
func (t Time) Second() int64 { return int64(math.Floor(float64(t))) }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(t.Micros()).UTC() }

// Add returns t moved by s seconds.
func (t Time) Add(s Seconds) Time { return t + Time(s) }

// Since returns the seconds from u to t.
func (t Time) Since(u Time) Seconds { return Seconds(t - u) }

// IsZero reports whether t is "never".
func (t Time) IsZero() bool { return t == 0 }
