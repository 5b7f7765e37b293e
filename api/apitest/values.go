package apitest

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// values makes values from schemas. It remembers what stood in answers, so that
// later requests name what exists.
type values struct {
	*rand.Rand
	seen map[string][]any // by the name of a field or parameter
}

// memory bounds what is remembered of one name.
const memory = 20

func (v *values) learn(name string, value any) {
	if len(v.seen[name]) < memory {
		v.seen[name] = append(v.seen[name], value)
		return
	}
	v.seen[name][v.IntN(memory)] = value
}

// harvest remembers the ids of an answer. A field named id is known by the names
// that parameters have for it, too.
func (v *values) harvest(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			v.harvest(key, inner)
		}
	case []any:
		for _, inner := range value[:min(len(value), 5)] {
			v.harvest(name, inner)
		}
	case string, float64:
		if text, isText := value.(string); isText && (text == "" || len(text) > 100) {
			return
		}
		v.learn(name, value)
		switch name {
		case "_id":
			v.learn("eventid", value)
		case "id":
			for _, known := range []string{"nodeid", "node_id", "master_id", "batch_id", "trigger_id"} {
				v.learn(known, value)
			}
		}
	}
}

// text makes the text of a parameter.
func (v *values) text(name string, schema *openapi3.Schema) string {
	value := v.valid(name, schema, 0)
	if text, ok := value.(string); ok {
		return text
	}
	encoded, _ := json.Marshal(value) // what valid returns can be encoded
	return string(encoded)
}

// valid makes a value that fits a schema, or nearly does where a pattern is hard
// to meet.
func (v *values) valid(name string, s *openapi3.Schema, depth int) any {
	if seen := v.seen[name]; len(seen) > 0 && v.IntN(10) > 0 {
		if value := seen[v.IntN(len(seen))]; s.VisitJSON(value) == nil {
			return value
		}
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[v.IntN(len(s.Enum))]
	case len(s.OneOf) > 0:
		return v.valid(name, s.OneOf[v.IntN(len(s.OneOf))].Value, depth)
	case len(s.AnyOf) > 0:
		return v.valid(name, s.AnyOf[v.IntN(len(s.AnyOf))].Value, depth)
	case s.Example != nil && v.IntN(4) == 0:
		return s.Example
	case len(s.Examples) > 0 && v.IntN(4) == 0:
		return s.Examples[v.IntN(len(s.Examples))]
	}
	types := s.Type.Slice()
	if len(types) == 0 {
		types = []string{"string", "number", "boolean", "object"}
	}
	switch types[v.IntN(len(types))] {
	case "object":
		return v.object(s, depth)
	case "array":
		return v.array(name, s, depth)
	case "string":
		return v.validString(s)
	case "integer":
		return math.Trunc(v.number(s))
	case "number":
		return v.number(s)
	case "boolean":
		return v.IntN(2) == 0
	}
	return nil
}

func (v *values) object(s *openapi3.Schema, depth int) map[string]any {
	object := map[string]any{}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names) // the same for the same seed
	for _, name := range names {
		property := s.Properties[name].Value
		if slices.Contains(s.Required, name) || !property.ReadOnly && depth < 5 && v.IntN(2) == 0 {
			object[name] = v.valid(name, property, depth+1)
		}
	}
	if extra := s.AdditionalProperties; (extra.Has == nil || *extra.Has) && depth < 4 {
		for range v.IntN(3) {
			var inner any = v.string(8)
			if extra.Schema != nil {
				inner = v.valid("", extra.Schema.Value, depth+1)
			}
			object[v.string(6)] = inner
		}
	}
	return object
}

func (v *values) array(name string, s *openapi3.Schema, depth int) []any {
	n := int(s.MinItems) + v.IntN(3)
	if s.MaxItems != nil {
		n = min(n, int(*s.MaxItems))
	}
	list := make([]any, n)
	for i := range list {
		list[i] = v.valid(name, s.Items.Value, depth+1)
	}
	return list
}

// number makes a number within the bounds of a schema, often at one of them.
func (v *values) number(s *openapi3.Schema) float64 {
	low, high := -1e6, 1e6
	if s.Min != nil {
		low, high = *s.Min, max(*s.Min+1e6, high)
	}
	if s.Max != nil {
		high = *s.Max
		low = min(low, high)
	}
	switch v.IntN(6) {
	case 0:
		return low
	case 1:
		return high
	case 2:
		return min(max(float64(v.IntN(10)), low), high)
	case 3:
		return min(max(1764000000.5+float64(v.IntN(100000)), low), high)
	}
	return low + v.Float64()*(high-low)
}

// validString makes a string that fits a schema.
func (v *values) validString(s *openapi3.Schema) string {
	switch s.Format {
	case "date-time":
		return "2025-11-24T16:00:00Z"
	case "date":
		return "2025-11-2" + strconv.Itoa(v.IntN(10))
	case "uuid":
		return "01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11"
	}
	longest := 12
	if s.MaxLength != nil && v.IntN(4) == 0 {
		longest = min(int(*s.MaxLength), 300)
	}
	for range 20 {
		text := v.string(max(longest, int(s.MinLength)))
		if s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(text) {
			return text
		}
	}
	if text, ok := s.Example.(string); ok {
		return text
	}
	return "Kitchen"
}

// string makes a text of up to n characters, of several scripts.
func (v *values) string(n int) string {
	alphabet := []rune([]string{"abcXYZ019", "abc-._:", "Küche ß", "日本語", "😀e\u0301", "שלום", "meta->'?"}[v.IntN(7)])
	text := make([]rune, v.IntN(n+1))
	for i := range text {
		text[i] = alphabet[v.IntN(len(alphabet))]
	}
	return string(text)
}

// odd are texts that programs stumble over.
func odd() []string {
	return []string{
		"", " ", "0", "-1", "1", "null", "true", "NaN", "Infinity", "-Infinity", "1e999", "1e308", "-1e308", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"4294967296", "4294967297", "2147483648", "0x10", "1_000", "1.5", "01", "+1", "١", "\x00", "a\x00b", "\n", "\t", "\x7f", "\u2028", "\u202e", "\ufeff", "\xff\xfe", "\xed\xa0\x80", "%", "%00", "%25", "_", "'", "\"", "\\", "'; DROP TABLE networks; --",
		"../../etc/passwd", "..", ".", "/", "//", "{}", "[]", "<script>", "${jndi}", "%s%n", "meta->>'", "meta->'dwm'->>'a", `\\?`, "FREQ=SECONDLY", "9999-99-99", "2025-02-30", "Mars/Phobos", "Local", strings.Repeat("9", 400), strings.Repeat("a", 5000), strings.Repeat("😀", 300),
	}
}

// oddText makes something else of the text of a parameter.
func (v *values) oddText(text string) string {
	switch list := odd(); v.IntN(6) {
	case 0:
		return text + list[v.IntN(len(list))]
	case 1:
		return list[v.IntN(len(list))] + text
	default:
		return list[v.IntN(len(list))]
	}
}

// escape writes a path parameter, sometimes with more escapes than needed.
func (v *values) escape(text string) string {
	if v.IntN(10) > 0 {
		return url.PathEscape(text)
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)+256, 16)[1:]))
	}
	return b.String()
}

// oddValue makes a JSON value of any kind.
func (v *values) oddValue() any {
	list := odd()
	switch v.IntN(9) {
	case 0:
		return nil
	case 1:
		return v.IntN(2) == 0
	case 2:
		return []any{-1.0, 0.0, 1.5, 1e308, -1e308, 5e-324, 4294967296.0, 9.3e18, float64(1 << 53)}[v.IntN(9)]
	case 3:
		return []any{}
	case 4:
		return map[string]any{}
	case 5:
		return []any{list[v.IntN(len(list))], nil, []any{}}
	case 6:
		return map[string]any{list[v.IntN(len(list))]: nil, "command": "reboot"}
	}
	return strings.ToValidUTF8(list[v.IntN(len(list))], "?")
}

// damage changes one place of a JSON value: another value, a missing or a further
// key, a repeated item.
func (v *values) damage(value any) any {
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		switch n := v.IntN(8); {
		case n == 0:
			return v.oddValue()
		case n == 1 || len(keys) == 0:
			list := odd()
			value[strings.ToValidUTF8(list[v.IntN(len(list))], "?")] = v.oddValue()
		case n == 2:
			delete(value, keys[v.IntN(len(keys))])
		default:
			key := keys[v.IntN(len(keys))]
			value[key] = v.damage(value[key])
		}
		return value
	case []any:
		if len(value) == 0 || v.IntN(4) == 0 {
			return v.oddValue()
		}
		if v.IntN(6) == 0 {
			return slices.Repeat(value, 1+v.IntN(400))
		}
		at := v.IntN(len(value))
		value = slices.Clone(value)
		value[at] = v.damage(value[at])
		return value
	}
	return v.oddValue()
}

// oddBytes spoils an encoded body.
func (v *values) oddBytes(body []byte) []byte {
	whole := string(body)
	at := v.IntN(len(body) + 1)
	switch v.IntN(12) {
	case 0:
		return nil
	case 1:
		return body[:at]
	case 2:
		return []byte(whole[:at] + string([]byte{byte(v.IntN(256))}) + whole[at:])
	case 3:
		return []byte(whole + whole)
	case 4:
		return []byte("\ufeff" + whole)
	case 5:
		return []byte(strings.Repeat("[", 20000))
	case 6:
		return []byte(strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000))
	case 7:
		return []byte(whole + strings.Repeat(" ", 1<<20))
	case 8:
		return []byte(strings.ReplaceAll(whole, `":"`, `":"\u0000\ud800`))
	case 9:
		return []byte(strings.ReplaceAll(whole, "1", "1e400"))
	case 10:
		return []byte(strings.Replace(whole, "{", `{"network_id":1,"network_id":{},`, 1))
	}
	return []byte("\xff\xfe{\x00}\x00")
}

// allowNulls is allowNull of all schemas of a document.
func allowNulls(doc *openapi3.T) {
	seen := map[*openapi3.Schema]bool{}
	for _, ref := range doc.Components.Schemas {
		allowNull(ref.Value, seen)
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			contents := []openapi3.Content{}
			if operation.RequestBody != nil {
				contents = append(contents, operation.RequestBody.Value.Content)
			}
			for _, response := range operation.Responses.Map() {
				contents = append(contents, response.Value.Content)
			}
			for _, content := range contents {
				for _, media := range content {
					allowNull(media.Schema.Value, seen)
				}
			}
		}
	}
}

// allowNull makes a schema without a type, and those within it, take null too, as
// OpenAPI 3.1 has it and the validator, made for 3.0, has not.
func allowNull(s *openapi3.Schema, seen map[*openapi3.Schema]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	if len(s.Type.Slice()) == 0 && len(s.OneOf)+len(s.AnyOf)+len(s.AllOf)+len(s.Enum) == 0 {
		s.Nullable = true
	}
	inner := slices.Concat(s.OneOf, s.AnyOf, s.AllOf, slices.Collect(maps.Values(s.Properties)))
	for _, ref := range append(inner, s.Items, s.AdditionalProperties.Schema) {
		if ref != nil {
			allowNull(ref.Value, seen)
		}
	}
}
