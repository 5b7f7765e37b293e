// Package jsonwriter writes values, documents, status reports and live frames as JSON, byte for byte as
// encoding/json does, in a fraction of its time. It knows nothing of networks and how their reports are made.
package jsonwriter

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"sensegate/motion"
)

// Writer appends JSON to Out, byte for byte as encoding/json writes it. Each method writes what leads
// to its value, such as `,"name":`, and the value. A number that JSON cannot say panics.
type Writer struct {
	Out        []byte
	EscapeHTML bool // <, > and & inside strings
}

// Raw writes text as it is.
func (w *Writer) Raw(text string) { w.Out = append(w.Out, text...) }

// Text writes a string.
func (w *Writer) Text(lead, s string) {
	w.Out = append(w.Out, lead...)
	if !w.plain(s) {
		w.Other("", s)
		return
	}
	w.Out = append(w.Out, '"')
	w.Out = append(w.Out, s...)
	w.Out = append(w.Out, '"')
}

// plain reports whether a string stands in JSON as it is.
func (w *Writer) plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ', c == '"', c == '\\', w.EscapeHTML && (c == '<' || c == '>' || c == '&'):
			return false
		case c >= utf8.RuneSelf:
			return w.plainRunes(s[i:])
		}
	}
	return true
}

// plainRunes is plain for a string beyond ASCII: broken UTF-8 is replaced, and two line ends that
// JavaScript knows are escaped.
func (w *Writer) plainRunes(s string) bool {
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

// Integer writes a whole number.
func (w *Writer) Integer(lead string, v int64) {
	w.Out = append(w.Out, lead...)
	w.Out = strconv.AppendInt(w.Out, v, 10)
}

// Number writes a number.
func (w *Writer) Number(lead string, v float64) {
	size := math.Abs(v)
	switch whole := int64(v); {
	case size < 1<<53 && float64(whole) == v && (whole != 0 || !math.Signbit(v)):
		w.Integer(lead, whole)
		return
	case size < 1e-6, size >= 1e21, math.IsNaN(v): // with an exponent, or none that JSON can say
		w.Other(lead, v)
		return
	}
	w.Out = append(w.Out, lead...)
	if thousandths := int64(math.RoundToEven(v * 1000)); size < 1e12 && float64(thousandths)/1000 == v {
		w.thousandths(thousandths)
	} else {
		w.Out = strconv.AppendFloat(w.Out, v, 'f', -1, 64)
	}
}

// thousandths writes v ÷ 1000, which is not whole and of less than 16 digits: no other number of so few is the
// same float64, so that this is what the shortest form of that is.
func (w *Writer) thousandths(v int64) {
	if v < 0 {
		w.Out = append(w.Out, '-')
		v = -v
	}
	rest := byte(v % 10)
	tenths, hundredths := byte(v/100%10), byte(v/10%10)
	w.Out = append(strconv.AppendInt(w.Out, v/1000, 10), '.', '0'+tenths)
	if hundredths|rest != 0 {
		w.Out = append(w.Out, '0'+hundredths)
	}
	if rest != 0 {
		w.Out = append(w.Out, '0'+rest)
	}
}

// Bool writes true or false.
func (w *Writer) Bool(lead string, v bool) {
	w.Out = append(w.Out, lead...)
	w.Out = strconv.AppendBool(w.Out, v)
}

// MAC writes an address as its text.
func (w *Writer) MAC(lead string, m motion.MAC) {
	w.Out = append(w.Out, lead...)
	w.Out = append(w.Out, '"')
	w.Out = m.Append(w.Out)
	w.Out = append(w.Out, '"')
}

// Value writes what JSON is decoded to, and what stands for it in documents.
func (w *Writer) Value(lead string, v any) {
	switch v := v.(type) {
	case string:
		w.Text(lead, v)
	case float64:
		w.Number(lead, v)
	case motion.Time:
		w.Number(lead, float64(v))
	case int:
		w.Integer(lead, int64(v))
	case bool:
		w.Bool(lead, v)
	case map[string]any:
		w.Document(lead, v)
	case motion.Document:
		w.Document(lead, v)
	default:
		w.Other(lead, v)
	}
}

// Document writes an object, by key; null for nil.
func (w *Writer) Document(lead string, d motion.Document) {
	if d == nil {
		w.Out = append(append(w.Out, lead...), "null"...)
		return
	}
	w.fields(lead, d)
}

// fields writes an object; one that is nil is empty.
func (w *Writer) fields(lead string, d motion.Document) {
	var few [16]string
	w.object(lead, keys(few[:0], d), func(name string) { w.Value(":", d[name]) })
}

// object writes an object of so many names; value writes that of a name.
func (w *Writer) object(lead string, names []string, value func(name string)) {
	w.Out = append(w.Out, lead...)
	slices.Sort(names)
	separator := "{"
	for _, name := range names {
		w.Text(separator, name)
		value(name)
		separator = ","
	}
	if len(names) == 0 {
		w.Out = append(w.Out, '{')
	}
	w.Out = append(w.Out, '}')
}

// keys appends the keys of a map.
func keys[V any](names []string, m map[string]V) []string {
	for name := range m {
		names = append(names, name)
	}
	return names
}

// list writes a list of so many values.
func (w *Writer) list(lead string, count int, value func(lead string, i int)) {
	w.Out = append(w.Out, lead...)
	separator := "["
	for i := range count {
		value(separator, i)
		separator = ","
	}
	if count == 0 {
		w.Out = append(w.Out, '[')
	}
	w.Out = append(w.Out, ']')
}

// Other writes a value by encoding/json.
func (w *Writer) Other(lead string, v any) {
	w.Out = append(w.Out, lead...)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(w.EscapeHTML)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("write JSON: %w", err))
	}
	w.Out = w.Out[:len(w.Out)-1] // the line's end
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	w.Out = append(w.Out, b...)
	return len(b), nil
}
