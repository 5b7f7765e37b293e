package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// elided is what docs/core.md writes for what it does not show: in the place of an
// array's last items, as ["…", …], and of some fields of an object, as "…": "…".
const elided = "…"

// value is a JSON value that keeps the order of its fields.
type value struct {
	scalar any // nil, bool, string or json.Number, unless it is one of the others
	fields []field
	items  []value
	kind   byte // '{', '[' or 0 for a scalar
}

type field struct {
	name string
	value
}

// readValues reads JSON values until the end of the text.
func readValues(text []byte) (all []value, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for decoder.More() {
		v, err := readValue(decoder)
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, text)
		}
		all = append(all, v)
	}
	return all, nil
}

func readValue(decoder *json.Decoder) (v value, err error) {
	token, err := decoder.Token()
	delim, compound := token.(json.Delim)
	if err != nil || !compound {
		return value{scalar: token}, err
	}
	v.kind = byte(delim)
	for decoder.More() {
		name := ""
		if v.kind == '{' {
			token, err := decoder.Token()
			if err != nil {
				return v, err
			}
			name, _ = token.(string)
		}
		inner, err := readValue(decoder)
		if err != nil {
			return v, err
		}
		if v.kind == '{' {
			v.fields = append(v.fields, field{name, inner})
		} else {
			v.items = append(v.items, inner)
		}
	}
	_, err = decoder.Token()
	return v, err
}

// get returns a field of an object.
func (v value) get(name string) (value, bool) {
	i := slices.IndexFunc(v.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return value{}, false
	}
	return v.fields[i].value, true
}

// shown returns the items or fields that a document's value shows, and whether it
// leaves out others.
func (v value) shown() (fields []field, items []value, rest bool) {
	fields, items = v.fields, v.items
	if n := len(fields); n > 0 && fields[n-1].name == elided {
		return fields[:n-1], nil, true
	}
	if n := len(items); n > 0 && items[n-1].scalar == elided {
		return nil, items[:n-1], true
	}
	return fields, items, false
}

// measured are the names below which numbers are figures of the moment, and null
// is one that is not known.
var measured = []string{
	"confidence", "data", "delay_ms", "density", "hst_interruptions", "intensity_window", "last_motion", "locations", "lraw", "mconf",
	"mkai", "mkai_original", "mkai_scaled", "msad", "percent", "percent_active", "rssi", "seconds", "sounding_status_score", "sounding_warmup", "throughput", "values",
}

// chosen are the names below which, in a block "of the moment", motion has chosen
// among the things of the home: any other of the same kind will do.
var chosen = []string{
	"friendly_name", "id", "is_extender", "is_node", "is_root", "link_dst_name", "link_id", "link_src_name", "links", "loc", "loc_name", "location", "mac", "node_name",
	"state", "motion_tripped", "text",
}

// rule says how exactly a value is compared.
type rule struct {
	moment  bool // the block depends on where there was motion
	figures bool // numbers are measured
	choice  bool // another thing of the home will do
}

// below returns the rule for a field.
func (r rule) below(name string) rule {
	r.figures = r.figures || slices.Contains(measured, name)
	r.choice = r.choice || r.moment && slices.Contains(chosen, name)
	return r
}

// differences compares an answer with what the document shows of it.
func (r rule) differences(at string, doc, got value) (all []string) {
	says := func(format string, args ...any) { all = append(all, at+": "+fmt.Sprintf(format, args...)) }
	fields, items, rest := doc.shown()
	switch {
	case doc.kind != got.kind:
		says("documented %s, got %s", doc.line(), got.line())
	case doc.kind == '{':
		for _, f := range fields {
			if inner, ok := got.get(f.name); ok {
				all = append(all, r.below(f.name).differences(at+"."+f.name, f.value, inner)...)
			} else {
				says("documented field %q is missing", f.name)
			}
		}
		for _, f := range got.fields {
			if _, ok := doc.get(f.name); !ok && !rest {
				says("field %q is not documented", f.name)
			}
		}
	case doc.kind == '[' && (len(items) > len(got.items) || !rest && len(items) != len(got.items)):
		says("documented %d items, got %d", len(items), len(got.items))
	case doc.kind == '[':
		if len(items) == 2 && items[1].isTime() { // a point of a history: value, time
			r.figures = true
		}
		for i := range items {
			all = append(all, r.differences(fmt.Sprintf("%s[%d]", at, i), items[i], got.items[i])...)
		}
	case !r.same(doc, got):
		says("documented %s, got %s", doc.line(), got.line())
	}
	return all
}

// same compares scalars.
func (r rule) same(doc, got value) bool {
	switch a := doc.scalar.(type) {
	case string:
		b, ok := got.scalar.(string)
		return ok && (plain(a) == plain(b) || r.choice && thing(a) == thing(b) || r.figures && isDecimal(a) && isDecimal(b))
	case bool:
		b, ok := got.scalar.(bool)
		return ok && (a == b || r.choice)
	case json.Number:
		_, ok := got.scalar.(json.Number)
		return r.figures && (ok || got.scalar == nil) || ok && (r.choice || doc.float() == got.float() || doc.isTime() && got.isTime())
	case nil:
		_, ok := got.scalar.(json.Number)
		return got.scalar == nil || ok && r.figures
	}
	return doc.scalar == got.scalar
}

// isDecimal reports whether a text is a number, as devices send some.
func isDecimal(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func (v value) float() float64 {
	n, _ := v.scalar.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return math.NaN()
	}
	return f
}

// isTime reports whether a value is a time of this century: seconds since the
// epoch, or milliseconds.
func (v value) isTime() bool {
	f := v.float()
	return f > 1.2e9 && f < 4.2e9 || f > 1.2e12 && f < 4.2e12
}

// What the things of the home are named by.
var (
	address  = regexp.MustCompile(`[0-9a-f]{2}(:?[0-9a-f]{2}){5}`)
	nodeName = regexp.MustCompile(`[A-Z]{3}[0-9]{7}`)
)

// thing returns what kind of thing a text names.
func thing(text string) string {
	kind := nodeName.ReplaceAllString(address.ReplaceAllString(text, "DEVICE"), "DEVICE")
	if kind == text {
		return "PLACE"
	}
	return kind
}

// varying are the parts of texts that differ from run to run.
var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` + // uuid
	`|eyJ[\w-]+(…|\.[\w-]+\.[\w-]+)` + // token
	`|USER_[0-9a-f]{32}|(HUB|SENSOR)_02CC00FFFE[0-9A-F]{6}` + // of the sensor cloud
	`|[0-9]{4}-?[0-9]{2}-?[0-9]{2}T[0-9]{2}:?[0-9]{2}:?[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?` + // time
	`|[0-9]{4}-[0-9]{2}-[0-9]{2}`) // date

// token is a JSON Web Token: its header, of which a document shows the beginning.
var token = regexp.MustCompile(`(eyJ[\w-]{9})[\w-]+\.[\w-]+\.[\w-]+`)

// plain returns a text without what varies in it.
func plain(text string) string {
	return varying.ReplaceAllStringFunc(text, func(part string) string {
		switch {
		case strings.HasPrefix(part, "eyJ"):
			return "TOKEN"
		case strings.Contains(part, "_"):
			kind, _, _ := strings.Cut(part, "_")
			return kind
		case strings.Count(part, "-") == 4 && !strings.Contains(part, "T"):
			return "UUID"
		case strings.Contains(part, "T"):
			return "TIME"
		}
		return "DATE"
	})
}

// shorten returns an answer as the document is to show it: with what its former
// text left out, of tokens the beginning, and of long arrays the first item, or the first three scalars.
func shorten(former, got value) value {
	fields, items, rest := former.shown()
	out := value{kind: got.kind, scalar: got.scalar}
	if text, ok := got.scalar.(string); ok {
		out.scalar = token.ReplaceAllString(text, "$1"+elided)
	}
	switch {
	case got.kind == '{' && former.kind == '{' && rest:
		for _, f := range fields {
			if inner, ok := got.get(f.name); ok {
				out.fields = append(out.fields, field{f.name, shorten(f.value, inner)})
			}
		}
		out.fields = append(out.fields, field{elided, value{scalar: elided}})
	case got.kind == '{':
		for _, f := range got.fields {
			inner, _ := former.get(f.name)
			out.fields = append(out.fields, field{f.name, shorten(inner, f.value)})
		}
	case got.kind == '[':
		const whole = 3 // items of a list that is shown whole
		keep := len(got.items)
		if former.kind == '[' && rest {
			keep = min(keep, len(items))
		} else if keep > whole && got.items[0].kind != 0 {
			keep = 1
		} else if keep > whole && former.kind == 0 {
			keep = whole
		}
		for i, item := range got.items[:keep] {
			var inner value
			if i < len(items) {
				inner = items[i]
			}
			out.items = append(out.items, shorten(inner, item))
		}
		if keep < len(got.items) || rest && former.kind == '[' {
			out.items = append(out.items, value{scalar: elided})
		}
	}
	return out
}

// line returns a value in one line.
func (v value) line() string {
	var parts []string
	switch v.kind {
	case '{':
		for _, f := range v.fields {
			parts = append(parts, strconv.Quote(f.name)+": "+f.line())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case '[':
		for _, item := range v.items {
			parts = append(parts, item.line())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v.scalar); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out.String())
}

// text returns a value in lines of at most 120 characters where that can be.
func (v value) text(indent string) string {
	const width = 120
	if line := v.line(); v.kind == 0 || utf8.RuneCountInString(indent+line) <= width {
		return line
	}
	var out strings.Builder
	inner := indent + "  "
	room := 0
	put := func(part string, last bool) {
		if !last {
			part += ","
		}
		n := utf8.RuneCountInString(part)
		if multi := strings.Contains(part, "\n"); room < n+1 || multi {
			out.WriteString("\n" + inner)
			room = width - len(inner)
			if multi {
				room = n
			}
		} else {
			out.WriteString(" ")
			room--
		}
		out.WriteString(part)
		room -= n
	}
	for i, f := range v.fields {
		put(strconv.Quote(f.name)+": "+f.text(inner), i == len(v.fields)-1)
	}
	for i, item := range v.items {
		put(item.text(inner), i == len(v.items)-1)
	}
	closing := map[byte]string{'{': "}", '[': "]"}[v.kind]
	return string(v.kind) + out.String() + "\n" + indent + closing
}
