package fuse

import (
	"encoding/json"
	"math"
)

// Reading is a value that may be absent: NaN here, null in JSON. An unknown value is never 0
// (device-protocol.md 3).
type Reading float64

// Unknown returns the absent reading.
func Unknown() Reading { return Reading(math.NaN()) }

// Known reports whether there is a value.
func (r Reading) Known() bool { return !math.IsNaN(float64(r)) }

// Ptr returns the value, nil when it is absent.
func (r Reading) Ptr() *float64 {
	if !r.Known() {
		return nil
	}
	v := float64(r)
	return &v
}

// MarshalJSON writes a number, or null.
func (r Reading) MarshalJSON() ([]byte, error) { return json.Marshal(r.Ptr()) }

// UnmarshalJSON reads a number, or null.
func (r *Reading) UnmarshalJSON(text []byte) error {
	var v *float64
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*r = Unknown()
	if v != nil {
		*r = Reading(*v)
	}
	return nil
}

// orZero returns the value, or 0 if it is absent.
func (r Reading) orZero() Reading {
	if !r.Known() {
		return 0
	}
	return r
}

// finite returns the value, or absent if it is infinite.
func (r Reading) finite() Reading {
	if math.IsInf(float64(r), 0) {
		return Unknown()
	}
	return r
}

// share returns the value limited to 0..1, or absent if it is infinite.
func (r Reading) share() Reading { return max(0, min(r.finite(), 1)) }

// Readings is a list of readings.
type Readings []Reading

// Floats returns the values with 0 for absent ones, for the fields that are arrays of floats
// (interfaces.md 2.2: intensity_window, msad, mconf).
func (rs Readings) Floats() []float64 {
	floats := make([]float64, len(rs))
	for i, r := range rs {
		floats[i] = float64(r.orZero())
	}
	return floats
}

// unknowns returns n absent readings.
func unknowns(n int) Readings {
	rs := make(Readings, n)
	for i := range rs {
		rs[i] = Unknown()
	}
	return rs
}
