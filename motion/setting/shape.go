package setting

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// shape says what a value may be. It adds what is wrong with the value that
// stands at a place of the request.
type shape func(m *Mistakes, at string, value any)

// Mistakes collects everything that is wrong with one request.
type Mistakes []fault.Detail

// Add notes a mistake at a place such as body.motion_events.sens.
func (m *Mistakes) Add(at string, value any, format string, args ...any) {
	*m = append(*m, fault.Detail{Location: at, Message: fmt.Sprintf(format, args...), Value: value})
}

// Err returns an Invalid fault with the mistakes, nil when there are none.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: "request is not valid", Details: m}
}

// integer is a whole number from low to high.
func integer(low, high int) shape {
	return func(m *Mistakes, at string, value any) {
		v, ok := value.(float64)
		if !ok || v != math.Trunc(v) || v < float64(low) || v > float64(high) {
			m.Add(at, value, "want a whole number from %d to %d", low, high)
		}
	}
}

// toggle is a switch: 0 or 1.
func toggle() shape {
	return func(m *Mistakes, at string, value any) {
		if value != 0.0 && value != 1.0 {
			m.Add(at, value, "want 0 or 1")
		}
	}
}

// number is any number from low to high.
func number(low, high float64) shape {
	return func(m *Mistakes, at string, value any) {
		if v, ok := value.(float64); !ok || v < low || v > high {
			m.Add(at, value, "want a number from %g to %g", low, high)
		}
	}
}

// text is a string of up to longest characters.
func text(longest int) shape {
	return func(m *Mistakes, at string, value any) {
		v, ok := value.(string)
		switch {
		case !ok:
			m.Add(at, value, "want a string")
		case utf8.RuneCountInString(v) > longest:
			m.Add(at, nil, "want at most %d characters", longest)
		}
	}
}

// word is one of some strings.
func word(words ...string) shape {
	return func(m *Mistakes, at string, value any) {
		for _, w := range words {
			if value == w {
				return
			}
		}
		m.Add(at, value, "want one of %s", strings.Join(words, ", "))
	}
}

// choice is one of some whole numbers.
func choice(numbers ...int) shape {
	return func(m *Mistakes, at string, value any) {
		for _, n := range numbers {
			if value == float64(n) {
				return
			}
		}
		m.Add(at, value, "want one of %s", strings.Trim(fmt.Sprint(numbers), "[]"))
	}
}

// orNull also lets null stand.
func orNull(s shape) shape {
	return func(m *Mistakes, at string, value any) {
		if value != nil {
			s(m, at, value)
		}
	}
}

// anything is any value: of a key that only devices know.
func anything(*Mistakes, string, any) {}

// nothing refuses a key.
func nothing(m *Mistakes, at string, value any) { m.Add(at, value, "not a field here") }

// list is an array of up to longest different strings.
func list(longest int, item shape) shape {
	return func(m *Mistakes, at string, value any) {
		items, ok := value.([]any)
		if !ok || len(items) > longest {
			m.Add(at, nil, "want an array of at most %d strings", longest)
			return
		}
		seen := map[any]bool{}
		for i, v := range items {
			place := fmt.Sprintf("%s[%d]", at, i)
			item(m, place, v)
			if s, isText := v.(string); isText && seen[s] {
				m.Add(place, v, "stands twice")
			} else if isText {
				seen[s] = true
			}
		}
	}
}

// longestKey bounds the name of a key, in bytes.
const longestKey = 128

// object is a JSON object with known keys, and a shape for all others.
type object struct {
	known  map[string]shape
	others shape
}

// check is the object's shape.
func (o object) check(m *Mistakes, at string, value any) {
	v, ok := value.(map[string]any)
	if !ok {
		m.Add(at, value, "want an object")
		return
	}
	for _, key := range sortedKeys(v) {
		if len(key) > longestKey {
			m.Add(at, nil, "a key is longer than %d bytes", longestKey)
			continue
		}
		o.field(key)(m, at+"."+key, v[key])
	}
}

// field returns the shape of the value at a key. A key that differs from a known
// one in case only is refused: it is surely meant, and what reads documents into
// records would take it for the known one.
func (o object) field(key string) shape {
	if s, ok := o.known[key]; ok {
		return s
	}
	for known := range o.known {
		if strings.EqualFold(known, key) {
			return func(m *Mistakes, at string, _ any) { m.Add(at, nil, "write the key as %s", known) }
		}
	}
	return o.others
}

// byMAC is an object whose keys are MAC addresses, already in their text form
// where they are ones.
func byMAC(most int, item shape) shape {
	return func(m *Mistakes, at string, value any) {
		v, ok := value.(map[string]any)
		if !ok || len(v) > most {
			m.Add(at, nil, "want an object of at most %d entries by MAC address", most)
			return
		}
		for _, key := range sortedKeys(v) {
			place := at + "." + key
			if mac, err := motion.ParseMAC(key); err != nil || mac.IsZero() {
				m.Add(place, key, "want a MAC address such as 02:bb:00:00:00:31")
				continue
			}
			item(m, place, v[key])
		}
	}
}

// wholeNumber is any integer that a JSON number holds exactly.
func wholeNumber(m *Mistakes, at string, value any) {
	const exact = 1 << 53
	v, ok := value.(float64)
	if !ok || v != math.Trunc(v) || math.Abs(v) > exact {
		m.Add(at, value, "want a whole number")
	}
}
