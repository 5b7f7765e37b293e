package homeassistant

import (
	"bytes"
	"encoding/json"
	"strings"

	"sensegate/motion/fault"
)

// Limits of templates.
const (
	maxTemplate = 1024 // bytes
	maxDepth    = 16   // of what stands in something else
)

// template makes the value of a sensor of a message, as the part of Jinja 2 that announcements use: text,
// {{ expression }} and {% if condition %} … {% elif condition %} … {% else %} … {% endif %}. An expression has
// value (the message), value_json (the message as JSON), literals, .key, ['key'], [0], .get('key'), ==, !=, <,
// >, <=, >=, and, or, not, is defined, a if b else c, and the filters of filters.
//
// The zero value passes a message on as it is.
type template struct {
	source string // "": none
	parts  []part
}

// part is text, an expression, or a choice.
type part struct {
	text    string
	output  expression
	choices []choice
}

// choice is one branch of an if; a nil condition is else.
type choice struct {
	condition expression
	parts     []part
}

// undefined is the value of a key that is not there.
type undefined struct{}

// scope is what an expression can name.
type scope struct {
	value   string
	json    any
	missing bool // is_defined was asked of what is undefined: the message says nothing of this sensor
}

// expression returns its value in a scope: nil, bool, json.Number, string, map[string]any, []any or undefined.
type expression func(*scope) any

// newTemplate parses a template. Unsupported: it has a form that is not understood.
func newTemplate(source string) (template, error) {
	if strings.TrimSpace(source) == "" {
		return template{}, nil
	}
	if len(source) > maxTemplate {
		return template{}, fault.New(fault.TooLarge, "value_template: longer than %d bytes", maxTemplate)
	}
	p := &parser{rest: source}
	parts, end, err := p.parts(0)
	if err == nil && end != "" {
		err = notUnderstood("{% " + end + " %}")
	}
	return template{source: source, parts: parts}, err
}

// notUnderstood returns the fault of a template with a form that this package does not have.
func notUnderstood(what string) error {
	return fault.New(fault.Invalid, "value_template: %.60q is not understood", what)
}

// render returns the value of a message, without space around it; ok is false when the message says nothing of
// the sensor.
func (t template) render(message []byte) (text string, ok bool) {
	s := &scope{value: string(message), json: undefined{}}
	if t.source == "" {
		return strings.TrimSpace(s.value), true
	}
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	var found any
	if decoder.Decode(&found) == nil && !decoder.More() {
		s.json = found
	}
	var out strings.Builder
	write(&out, t.parts, s)
	text = strings.TrimSpace(out.String())
	return text, text != "" && !s.missing
}

// write appends what parts make.
func write(out *strings.Builder, parts []part, s *scope) {
	for _, p := range parts {
		switch {
		case p.output != nil:
			out.WriteString(textOf(p.output(s)))
		case p.choices != nil:
			for _, c := range p.choices {
				if c.condition == nil || truth(c.condition(s)) {
					write(out, c.parts, s)
					break
				}
			}
		default:
			out.WriteString(p.text)
		}
	}
}

// textOf returns a value as Python writes it; "" for what a sensor's state is never.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// truth reports whether a value counts as true.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		n, err := v.Float64()
		return err != nil || n != 0
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false // nil and undefined
}

// compare returns -1, 0 or 1, and whether two values can be compared.
func compare(a, b any) (order int, ok bool) {
	x, isNumber := a.(json.Number)
	y, both := b.(json.Number)
	if isNumber && both {
		m, err1 := x.Float64()
		n, err2 := y.Float64()
		switch {
		case err1 != nil || err2 != nil:
			return 0, false
		case m < n:
			return -1, true
		case m > n:
			return 1, true
		}
		return 0, true
	}
	s, isText := a.(string)
	t, both := b.(string)
	if isText && both {
		return strings.Compare(s, t), true
	}
	p, isFlag := a.(bool)
	q, both := b.(bool)
	return 0, a == nil && b == nil || isFlag && both && p == q
}
