package core

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"sensegate/motion"
)

// jsonWriter appends JSON, byte for byte as encoding/json writes it. Each method writes what leads
// to its value, such as `,"name":`, and the value.
type jsonWriter struct {
	out        []byte
	escapeHTML bool // <, > and & inside strings
}

func (w *jsonWriter) raw(text string) { w.out = append(w.out, text...) }

func (w *jsonWriter) text(lead, s string) {
	w.out = append(w.out, lead...)
	if !w.plain(s) {
		w.other("", s)
		return
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, s...)
	w.out = append(w.out, '"')
}

// plain reports whether a string stands in JSON as it is.
func (w *jsonWriter) plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ', c == '"', c == '\\', w.escapeHTML && (c == '<' || c == '>' || c == '&'):
			return false
		case c >= utf8.RuneSelf:
			return w.plainRunes(s[i:])
		}
	}
	return true
}

// plainRunes is plain for a string beyond ASCII: broken UTF-8 is replaced, and two line ends that
// JavaScript knows are escaped.
func (w *jsonWriter) plainRunes(s string) bool {
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if !w.plain(s[i : i+1]) {
				return false
			}
		case r == utf8.RuneError, r == '\u2028', r == '\u2029':
			return false
		}
	}
	return true
}

func (w *jsonWriter) integer(lead string, v int64) {
	w.out = append(w.out, lead...)
	w.out = strconv.AppendInt(w.out, v, 10)
}

func (w *jsonWriter) number(lead string, v float64) {
	size := math.Abs(v)
	switch whole := int64(v); {
	case size < 1<<53 && float64(whole) == v && (whole != 0 || !math.Signbit(v)):
		w.integer(lead, whole)
	case size >= 1e-6 && size < 1e21:
		w.out = append(w.out, lead...)
		w.out = strconv.AppendFloat(w.out, v, 'f', -1, 64)
	default: // with an exponent, or none that JSON can say
		w.other(lead, v)
	}
}

func (w *jsonWriter) bool(lead string, v bool) {
	w.out = append(w.out, lead...)
	w.out = strconv.AppendBool(w.out, v)
}

func (w *jsonWriter) mac(lead string, m motion.MAC) {
	w.out = append(w.out, lead...)
	w.out = append(w.out, '"')
	w.out = m.Append(w.out)
	w.out = append(w.out, '"')
}

// value writes what JSON is decoded to, and what stands for it in documents.
func (w *jsonWriter) value(lead string, v any) {
	switch v := v.(type) {
	case string:
		w.text(lead, v)
	case float64:
		w.number(lead, v)
	case motion.Time:
		w.number(lead, float64(v))
	case int:
		w.integer(lead, int64(v))
	case bool:
		w.bool(lead, v)
	case map[string]any:
		w.document(lead, v)
	case motion.Document:
		w.document(lead, v)
	default:
		w.other(lead, v)
	}
}

func (w *jsonWriter) document(lead string, d motion.Document) {
	if d == nil {
		w.out = append(append(w.out, lead...), "null"...)
		return
	}
	writeObject(w, lead, d, w.value)
}

// writeObject writes a map, by key.
func writeObject[V any](w *jsonWriter, lead string, m map[string]V, value func(lead string, v V)) {
	w.out = append(w.out, lead...)
	if len(m) == 0 {
		w.raw("{}")
		return
	}
	var few [16]string
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	separator := "{"
	for _, name := range names {
		w.text(separator, name)
		value(":", m[name])
		separator = ","
	}
	w.out = append(w.out, '}')
}

// writeList writes a list; one that is nil is empty too.
func writeList[E any](w *jsonWriter, lead string, list []E, value func(lead string, v *E)) {
	w.out = append(w.out, lead...)
	separator := "["
	for i := range list {
		value(separator, &list[i])
		separator = ","
	}
	if len(list) == 0 {
		w.out = append(w.out, '[')
	}
	w.out = append(w.out, ']')
}

// other has encoding/json write a value.
func (w *jsonWriter) other(lead string, v any) {
	w.out = append(w.out, lead...)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(w.escapeHTML)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("encode answer: %w", err))
	}
	w.out = w.out[:len(w.out)-1] // the line's end
}

// Write appends b.
func (w *jsonWriter) Write(b []byte) (int, error) {
	w.out = append(w.out, b...)
	return len(b), nil
}
