package alert

import (
	"fmt"
	"time"
)

// Stamp is a point in time in milliseconds since the Unix epoch; 0 is "never".
// Its text is RFC 3339, UTC, with milliseconds: "2025-11-24T13:00:01.000Z", and
// "" for never.
type Stamp int64

// StampOf returns t, cut to the millisecond.
func StampOf(t time.Time) Stamp { return Stamp(t.UnixMilli()) }

// Std returns s as a time.Time in UTC.
func (s Stamp) Std() time.Time { return time.UnixMilli(int64(s)).UTC() }

// add returns s moved by d.
func (s Stamp) add(d time.Duration) Stamp { return s + Stamp(d.Milliseconds()) }

// since returns the time from u to s.
func (s Stamp) since(u Stamp) time.Duration { return time.Duration(s-u) * time.Millisecond }

// minute returns the start of the minute that s lies in.
func (s Stamp) minute() Stamp {
	const minute = Stamp(60_000)
	return s - (s%minute+minute)%minute
}

// MarshalText returns the text form.
func (s Stamp) MarshalText() ([]byte, error) { return s.text("2006-01-02T15:04:05.000Z") }

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

func (s Stamp) text(layout string) ([]byte, error) {
	if s == 0 {
		return nil, nil
	}
	return s.Std().AppendFormat(nil, layout), nil
}

// Target is a Stamp whose text ends in "+00:00", as the field target of a rule
// is written: "2025-11-25T13:00:00.000+00:00".
type Target Stamp

// Std returns t as a time.Time in UTC.
func (t Target) Std() time.Time { return Stamp(t).Std() }

// MarshalText returns the text form.
func (t Target) MarshalText() ([]byte, error) {
	return Stamp(t).text("2006-01-02T15:04:05.000-07:00")
}

// UnmarshalText accepts what a Stamp accepts.
func (t *Target) UnmarshalText(text []byte) error { return (*Stamp)(t).UnmarshalText(text) }
