package insight

import (
	"encoding/json"
	"math"
)

// Value is a number that may be unknown: NaN here, null in JSON.
type Value float64

// Unknown returns the unknown value.
func Unknown() Value { return Value(math.NaN()) }

// Known reports whether v is known.
func (v Value) Known() bool { return !math.IsNaN(float64(v)) }

// Ptr returns the number, or nil if it is unknown.
func (v Value) Ptr() *float64 {
	if !v.Known() {
		return nil
	}
	f := float64(v)
	return &f
}

// MarshalJSON writes a number, or null.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.Ptr()) }

// ratio returns part ÷ whole × scale, or unknown if whole is 0.
func ratio[N int | int64 | float64](part, whole N, scale float64) Value {
	if whole == 0 {
		return Unknown()
	}
	return Value(scale * float64(part) / float64(whole))
}

// plus adds two values; an unknown one adds nothing to a known one.
func plus(a, b Value) Value {
	switch {
	case !a.Known():
		return b
	case !b.Known():
		return a
	}
	return a + b
}

// round returns v with the given number of decimals.
func (v Value) round(decimals int) Value {
	unit := math.Pow10(decimals)
	return Value(math.Round(float64(v)*unit) / unit)
}

// mean returns the mean of the known values, or unknown if there is none.
func mean(values []Value) Value {
	total, n := 0.0, 0
	for _, v := range values {
		if v.Known() {
			total += float64(v)
			n++
		}
	}
	return ratio(total, float64(n), 1)
}

// fill returns n unknown values.
func fill(n int64) []Value {
	values := make([]Value, max(n, 0))
	for i := range values {
		values[i] = Unknown()
	}
	return values
}
