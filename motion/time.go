package motion

import (
	"fmt"
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

// Stamp is a point in time in milliseconds since the Unix epoch; 0 is "never".
// Its text is RFC 3339, UTC, with milliseconds: "2025-11-24T13:00:01.000Z", and
// "" for never (payloads.md 1: times of records for the household's apps).
type Stamp int64

// StampOf returns t, cut to the millisecond.
func StampOf(t time.Time) Stamp { return Stamp(t.UnixMilli()) }

// Stamp returns t, cut to the millisecond.
func (t Time) Stamp() Stamp { return Stamp(t.Micros() / 1000) }

// Std returns s as a time.Time in UTC.
func (s Stamp) Std() time.Time { return time.UnixMilli(int64(s)).UTC() }

// Add returns s moved by d.
func (s Stamp) Add(d time.Duration) Stamp { return s + Stamp(d.Milliseconds()) }

// Since returns the time from u to s.
func (s Stamp) Since(u Stamp) time.Duration { return time.Duration(s-u) * time.Millisecond }

// MarshalText returns the text form.
func (s Stamp) MarshalText() ([]byte, error) {
	if s == 0 {
		return nil, nil
	}
	return s.Std().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// UnmarshalText accepts RFC 3339 with any offset and fraction, and "".
func (s *Stamp) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = 0
		return nil
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("time %.40q: want RFC 3339", text)
	}
	*s = StampOf(t)
	return nil
}
