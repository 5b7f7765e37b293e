package motion

import (
	"fmt"
	"time"
)

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
