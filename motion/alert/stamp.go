package alert

import (
	"time"

	"sensegate/motion"
)

// second returns the start of the second that s lies in.
func second(s motion.Stamp) motion.Stamp {
	const second = motion.Stamp(1000)
	return s - (s%second+second)%second
}

// Target is a Stamp whose text ends in "+00:00", the form of the field target of a rule:
// "2025-11-25T13:00:00.000+00:00".
type Target motion.Stamp

// Std returns t as a time.Time in UTC.
func (t Target) Std() time.Time { return motion.Stamp(t).Std() }

// MarshalText returns the text form.
func (t Target) MarshalText() ([]byte, error) {
	if t == 0 {
		return nil, nil
	}
	return motion.Stamp(t).Std().AppendFormat(nil, "2006-01-02T15:04:05.000-07:00"), nil
}

// UnmarshalText accepts what a Stamp accepts.
func (t *Target) UnmarshalText(text []byte) error { return (*motion.Stamp)(t).UnmarshalText(text) }
