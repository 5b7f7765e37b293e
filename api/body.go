package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

const formType = "application/x-www-form-urlencoded"

// readBody returns the body of a request as JSON, whatever the interface accepts for
// it: forms, a data wrapper.
func (t *table) readBody(r *http.Request, schema *huma.Schema) ([]byte, error) {
	media, _, _ := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), jsonType))
	body, err := io.ReadAll(r.Body)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over) || len(body) > maxBody:
		return nil, fault.New(fault.TooLarge, "body is larger than %d bytes", maxBody)
	case err != nil:
		return nil, fault.New(fault.Malformed, "body broke off")
	case len(body) == 0:
		return nil, nil
	}
	schema = t.follow(schema)
	switch {
	case t.Forms && media == formType:
		return formToJSON(body, schema)
	case media != jsonType && !strings.HasSuffix(media, "+json"):
		return nil, fault.New(fault.Unsupported, "send the body as application/json")
	case t.DataWrapper:
		return unwrapData(body, schema), nil
	}
	return body, nil
}

// follow returns the schema that a reference points to.
func (t *table) follow(schema *huma.Schema) *huma.Schema {
	ref := schema.Ref
	if unenforced, ok := schema.Extensions["$ref"].(string); ok { // of a Checked body
		ref = unenforced
	}
	if ref != "" {
		return t.schemas.SchemaFromRef(ref)
	}
	return schema
}

// formToJSON reads a flat form by the types of the schema. JSON under the name of a
// form, as curl -d sends it, would be one key without a value: it is refused. No form
// is mistaken for it, for forms write brackets as %5B and %7B.
func formToJSON(form []byte, schema *huma.Schema) ([]byte, error) {
	if start := bytes.TrimSpace(form); len(start) > 0 && (start[0] == '{' || start[0] == '[') && json.Valid(form) {
		return nil, fault.New(fault.Unsupported, "body is JSON, and said to be a form: send it as application/json")
	}
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return nil, fault.New(fault.Malformed, "body is not a valid form")
	}
	object := map[string]any{}
	for name, texts := range values {
		property := schema.Properties[name]
		if property != nil && property.Type == huma.TypeArray {
			object[name] = texts
			continue
		}
		object[name] = formValue(texts[0], property)
	}
	return json.Marshal(object)
}

// formValue reads one text as its property's type; one that does not fit stays
// text and is refused by the validation.
func formValue(text string, property *huma.Schema) any {
	if property == nil {
		return text
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
