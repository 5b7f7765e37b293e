// Package shape knows what a JSON value may be: numbers in a range, words, texts, objects
// with known keys. Shapes are derived from Go types, whose tags (json, minimum, maximum,
// enum, maxLength, maxItems) the documents of the interfaces are written from too, so that
// a range stands in one place. It must not know what a value means, or where it is kept.
package shape

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Shape says what a value may be. It notes what is wrong with the value that stands at a
// place of the input, decoded as encoding/json does into any.
type Shape func(m *fault.Details, at string, value any)

// Integer is a whole number from low to high.
func Integer(low, high int) Shape {
	return func(m *fault.Details, at string, value any) {
		v, ok := value.(float64)
		if !ok || v != math.Trunc(v) || v < float64(low) || v > float64(high) {
			m.Add(at, value, "want a whole number from %d to %d", low, high)
		}
	}
}

// Toggle is a switch: 0 or 1.
func Toggle(m *fault.Details, at string, value any) {
	if value != 0.0 && value != 1.0 {
		m.Add(at, value, "want 0 or 1")
	}
}

// number is any number from low to high.
func number(low, high float64) Shape {
	return func(m *fault.Details, at string, value any) {
		if v, ok := value.(float64); !ok || v < low || v > high {
			m.Add(at, value, "want a number from %g to %g", low, high)
		}
	}
}

// Text is a string of up to longest characters.
func Text(longest int) Shape {
	return func(m *fault.Details, at string, value any) {
		v, ok := value.(string)
		switch {
		case !ok:
			m.Add(at, value, "want a string")
		case utf8.RuneCountInString(v) > longest:
			m.Add(at, nil, "want at most %d characters", longest)
		}
	}
}

// Word is one of some strings.
func Word(words ...string) Shape {
	return func(m *fault.Details, at string, value any) {
		if word, ok := value.(string); !ok || !slices.Contains(words, word) {
			m.Add(at, value, "want one of %s", strings.Join(words, ", "))
		}
	}
}

// choice is one of some whole numbers, in decimal.
func choice(numbers ...string) Shape {
	return func(m *fault.Details, at string, value any) {
		if v, ok := value.(float64); !ok || !slices.Contains(numbers, strconv.FormatFloat(v, 'f', -1, 64)) {
			m.Add(at, value, "want one of %s", strings.Join(numbers, " "))
		}
	}
}

// OrNull also lets null stand.
func OrNull(s Shape) Shape {
	return func(m *fault.Details, at string, value any) {
		if value != nil {
			s(m, at, value)
		}
	}
}

// Anything is any value: of a key that only devices know.
func Anything(*fault.Details, string, any) {}

// Nothing refuses a key.
func Nothing(m *fault.Details, at string, value any) { m.Add(at, value, "not a field here") }

// list is an array of up to longest different strings.
func list(longest int, item Shape) Shape {
	return func(m *fault.Details, at string, value any) {
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

// Array is an array of up to most items, which are looked at one by one elsewhere.
func Array(most int, items string) Shape {
	return func(m *fault.Details, at string, value any) {
		if list, ok := value.([]any); !ok || len(list) > most {
			m.Add(at, nil, "want an array of at most %d %s", most, items)
		}
	}
}

// LongestKey bounds the name of a key, in bytes.
const LongestKey = 128

// Object is a JSON object with known keys, and a shape for all others.
type Object struct {
	Known  map[string]Shape
	Others Shape
}

// Check is the object's shape.
func (o Object) Check(m *fault.Details, at string, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		m.Add(at, value, "want an object")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		o.checkKey(m, at, key, object[key])
	}
}

// checkKey checks the value at a key of the object.
func (o Object) checkKey(m *fault.Details, at, key string, value any) {
	if len(key) > LongestKey {
		m.Add(at, nil, "a key is longer than %d bytes", LongestKey)
		return
	}
	o.Field(key)(m, at+"."+key, value)
}

// Field returns the shape of the value at a key. A key that differs from a known
// one in case only is refused: it is surely meant, and what reads documents into
// records would take it for the known one.
func (o Object) Field(key string) Shape {
	if s, ok := o.Known[key]; ok {
		return s
	}
	for known := range o.Known {
		if strings.EqualFold(known, key) {
			return func(m *fault.Details, at string, _ any) { m.Add(at, nil, "write the key as %s", known) }
		}
	}
	return o.Others
}

// ByMAC is an object whose keys are MAC addresses, already in their text form
// where they are ones.
func ByMAC(most int, item Shape) Shape {
	return func(m *fault.Details, at string, value any) {
		v, ok := value.(map[string]any)
		if !ok || len(v) > most {
			m.Add(at, nil, "want an object of at most %d entries by MAC address", most)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			before := len(*m)
			if MAC(m, at+"."+key, key); len(*m) == before {
				item(m, at+"."+key, v[key])
			}
		}
	}
}

// WholeNumber is any integer that a JSON number holds exactly.
func WholeNumber(m *fault.Details, at string, value any) {
	const exact = 1 << 53
	v, ok := value.(float64)
	if !ok || v != math.Trunc(v) || math.Abs(v) > exact {
		m.Add(at, value, "want a whole number")
	}
}

// MAC is a MAC address that is not zero.
func MAC(m *fault.Details, at string, value any) {
	text, _ := value.(string)
	if mac, err := motion.ParseMAC(text); err != nil || mac.IsZero() {
		m.Add(at, value, "want a MAC address such as 02:bb:00:00:00:31")
	}
}

// longestPlace bounds a zone, location or friendly name, in characters.
const longestPlace = 256

// Place is a friendly name or location: up to 256 letters of any script, digits,
// spaces and = + - _ @ !, or empty (payloads.md 4.5).
func Place(m *fault.Details, at string, value any) {
	before := len(*m)
	Text(longestPlace)(m, at, value)
	if name, _ := value.(string); len(*m) == before && !plainText(name) {
		m.Add(at, value, "want letters, digits, spaces and = + - _ @ ! only")
	}
}

// Zone is the name of a zone: up to 256 characters, not empty.
func Zone(m *fault.Details, at string, value any) {
	if value == "" {
		m.Add(at, value, "must not be empty")
		return
	}
	Text(longestPlace)(m, at, value)
}

// plainText reports whether a name has only the characters that one may have. The
// marks of letters (accents, vowel signs) belong to them.
func plainText(name string) bool {
	for _, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), r == ' ':
		case strings.ContainsRune("=+-_@!", r):
		default:
			return false
		}
	}
	return true
}
