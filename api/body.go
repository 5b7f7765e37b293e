package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

const formType = "application/x-www-form-urlencoded"

// rewriteBody turns what an interface accepts besides plain JSON (forms, a data
// wrapper) into plain JSON, before it is validated.
func (t *table) rewriteBody(r *http.Request, op *huma.Operation) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := t.Forms && media == formType
	if !form && !t.DataWrapper {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over) || len(body) > maxBody:
		return fault.New(fault.TooLarge, "body is larger than %d bytes", maxBody)
	case err != nil:
		return fault.New(fault.Malformed, "body broke off")
	}
	schema := t.bodySchema(op)
	if form {
		r.Header.Set("Content-Type", "application/json")
		body, err = formToJSON(body, schema)
	} else {
		body = unwrapData(body, schema)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// bodySchema returns the schema of an operation's body, with a reference followed.
func (t *table) bodySchema(op *huma.Operation) *huma.Schema {
	media := op.RequestBody.Content["application/json"]
	if media == nil || media.Schema == nil {
		return &huma.Schema{}
	}
	ref := media.Schema.Ref
	if unenforced, ok := media.Schema.Extensions["$ref"].(string); ok { // of a Checked body
		ref = unenforced
	}
	if ref != "" {
		return t.huma.OpenAPI().Components.Schemas.SchemaFromRef(ref)
	}
	return media.Schema
}

// formToJSON reads a flat form by the types of the schema.
func formToJSON(form []byte, schema *huma.Schema) ([]byte, error) {
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
