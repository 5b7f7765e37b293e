package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

const formType = "application/x-www-form-urlencoded"

// readBody returns the body of a request as JSON, whatever the interface accepts for
// it: forms, a data wrapper.
func (t *table) readBody(r *Request, in *input) ([]byte, error) {
	media := mediaType(r.http.Header.Get("Content-Type"))
	body := r.body
	schema := in.follow()
	switch {
	case !utf8.Valid(body) && media != formType:
		return nil, malformed("not valid UTF-8")
	case t.Forms && media == formType:
		return formToJSON(body, schema)
	case len(body) == 0:
		return nil, nil
	case media != jsonType && !strings.HasSuffix(media, "+json"):
		return nil, fault.New(fault.Unsupported, "send the body as application/json")
	case t.DataWrapper:
		return unwrapData(body, schema), nil
	}
	return body, nil
}

// maxValues bounds the values of a body, and so the work and the memory that any body
// costs: 64 KiB of JSON, the most that is kept of one, cannot hold more.
const maxValues = 32 << 10

// tooMany reports whether a body holds more than maxValues values, or fields when it is
// a form. What it counts in JSON may stand in a text too, so a second look leaves texts
// out.
func tooMany(media string, body []byte) bool {
	if media == formType {
		return bytes.Count(body, []byte("&")) >= maxValues
	}
	values := bytes.Count(body, []byte(",")) + bytes.Count(body, []byte("[")) + bytes.Count(body, []byte("{"))
	if values < maxValues {
		return false
	}
	values = 0
	inText := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			inText = !inText
		case inText && c == '\\':
			i++ // the next byte ends no text
		case !inText && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	return values >= maxValues
}

// mediaType returns the media type of a header Content-Type without its parameters, which
// some clients repeat or garble; JSON when there is none.
func mediaType(header string) string {
	media, _, _ := strings.Cut(cmp.Or(header, jsonType), ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// follow returns the schema of the body, or the one that it refers to.
func (in *input) follow() *huma.Schema {
	ref := in.schema.Ref
	if unenforced, ok := in.schema.Extensions["$ref"].(string); ok { // of a Checked body
		ref = unenforced
	}
	if ref != "" {
		return in.schemas.SchemaFromRef(ref)
	}
	return in.schema
}

// formToJSON reads a flat form by the types of the schema; an empty one names nothing.
// JSON under the name of a form, as curl -d sends it, would be one key without a value: it
// is refused. No form is mistaken for it, for forms write brackets as %5B and %7B.
func formToJSON(form []byte, schema *huma.Schema) ([]byte, error) {
	if start := bytes.TrimSpace(form); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return nil, fault.New(fault.Unsupported, "body is JSON, and said to be a form: send it as application/json")
	}
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return nil, fault.New(fault.Malformed, "body is not a valid form")
	}
	if text, err := url.QueryUnescape(string(form)); err != nil || !utf8.ValidString(text) {
		return nil, fault.New(fault.Malformed, "body is not a valid form: its text is not UTF-8")
	}
	object := map[string]any{}
	for name, texts := range values {
		property := schema.Properties[name]
		if takesList(property, len(texts)) {
			object[name] = texts
			continue
		}
		object[name] = formValue(texts[0], property)
	}
	return json.Marshal(object)
}

// takesList reports whether n texts of a name in a form are a list: where the property is
// one, or may be one and there are several.
func takesList(property *huma.Schema, n int) bool {
	isList := func(s *huma.Schema) bool { return s.Type == huma.TypeArray }
	return property != nil && (isList(property) || n > 1 && slices.ContainsFunc(property.OneOf, isList))
}

// formValue reads one text as its property's type; one that does not fit stays
// text and is refused by the validation.
func formValue(text string, property *huma.Schema) any {
	if property == nil {
		return text
	}
	if isNumber(property) && slices.Contains(unsetWords, text) {
		return nil
	}
	switch property.Type {
	case huma.TypeInteger, huma.TypeNumber:
		if json.Valid([]byte(text)) && text != "true" && text != "false" && text != "null" {
			return json.RawMessage(text)
		}
	case huma.TypeBoolean:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

// unsetWords are what programs send in a form for a number that they do not have
// (payloads.md 6 no. 19).
var unsetWords = []string{"", "None", "null", "undefined"}

// isNumber reports whether a property is a number, perhaps as text.
func isNumber(property *huma.Schema) bool {
	if len(property.OneOf) > 0 {
		property = property.OneOf[0]
	}
	return property.Type == huma.TypeInteger || property.Type == huma.TypeNumber
}

// unwrapData returns what stands inside a sole top-level data key; any other
// body as it is.
func unwrapData(body []byte, schema *huma.Schema) []byte {
	var wrapper map[string]json.RawMessage
	if free := len(schema.Properties) == 0 && schema.Type == huma.TypeObject; free || schema.Properties["data"] != nil || json.Unmarshal(body, &wrapper) != nil || len(wrapper) != 1 {
		return body
	}
	if data, ok := wrapper["data"]; ok {
		return data
	}
	return body
}
