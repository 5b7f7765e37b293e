package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

func humaConfig(i Interface) huma.Config {
	schemes := map[string]*huma.SecurityScheme{}
	for _, p := range i.Principals {
		if p.scheme != "" {
			schemes[p.scheme] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: p.note}
		}
	}
	c := huma.DefaultConfig(i.Title, i.Version)
	c.Info.Description = i.Description
	c.Components.SecuritySchemes = schemes
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaNamer())
	c.Servers = []*huma.Server{{URL: i.Base}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat, pngType: pngFormat}
	c.Transformers = []huma.Transformer{func(_ huma.Context, _ string, v any) (any, error) {
		if m, ok := v.(*huma.ErrorModel); ok {
			return problemOfModel(m), nil
		}
		return v, nil
	}}
	for _, row := range i.Routes {
		if row.Tag != "" && !slices.ContainsFunc(c.Tags, func(t *huma.Tag) bool { return t.Name == row.Tag }) {
			c.Tags = append(c.Tags, &huma.Tag{Name: row.Tag})
		}
	}
	return c
}

// schemaNamer names schemas after their Go types; of two types of one name in
// different packages the later one gets the name of its package before it.
func schemaNamer() func(reflect.Type, string) string {
	first := map[string]reflect.Type{}
	return func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name := huma.DefaultSchemaNamer(t, hint)
		if other, taken := first[name]; taken && other != t && t.Name() != "" && t.PkgPath() != other.PkgPath() {
			pkg := path.Base(t.PkgPath())
			return strings.ToUpper(pkg[:1]) + pkg[1:] + name
		}
		first[name] = t
		return name
	}
}

// jsonFormat encodes whole answers before the first byte is sent, so that a
// value that JSON cannot say becomes a 500 and not half an answer.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if raw, ok := v.(interface{ encoded() []byte }); ok {
			_, err := w.Write(raw.encoded())
			return err
		}
		if shape, ok := v.(interface{ plain() any }); ok {
			v = shape.plain()
		}
		var body bytes.Buffer
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(fmt.Errorf("encode answer: %w", err))
		}
		_, err := w.Write(body.Bytes())
		return err
	},
	Unmarshal: json.Unmarshal,
}

// document encodes the OpenAPI document.
func (t *table) document() ([]byte, error) {
	compact, err := json.Marshal(t.huma.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("encode document of %s: %w", t.Base, err)
	}
	var doc bytes.Buffer
	if err := json.Indent(&doc, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent document of %s: %w", t.Base, err)
	}
	doc.WriteByte('\n')
	return doc.Bytes(), nil
}

// operation describes a row for the document.
func (t *table) operation(row Route, principal Principal, description string) huma.Operation {
	problem := t.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	op := huma.Operation{
		OperationID:   operationID(row),
		Method:        row.Method,
		Path:          row.Path,
		Summary:       row.Summary,
		Description:   strings.TrimSpace(description + "\n\nMay be called by: " + row.Who + "."),
		DefaultStatus: row.Status,
		MaxBodyBytes:  maxBody + 1, // huma refuses a body of exactly its limit
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem",
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
		}},
	}
	if row.Tag != "" {
		op.Tags = []string{row.Tag}
	}
	if principal.scheme != "" {
		op.Security = []map[string][]string{{principal.scheme: {}}}
	}
	return op
}

// illustrate puts the examples of a row in the document.
func illustrate(op *huma.Operation, text text) error {
	if text.request != nil {
		if op.RequestBody == nil {
			return errors.New("an example of a body that the row does not have")
		}
		op.RequestBody.Content["application/json"].Example = text.request
	}
	if text.response != nil {
		answer := op.Responses[strconv.Itoa(op.DefaultStatus)]
		if answer == nil || answer.Content["application/json"] == nil {
			return errors.New("an example of an answer that the row does not have")
		}
		answer.Content["application/json"].Example = text.response
	}
	return nil
}

// operationID names a row in the document, such as get-networks-id.
func operationID(row Route) string {
	name := strings.Map(func(r rune) rune {
		if r == '{' || r == '}' {
			return -1
		}
		if r == '/' || r == '_' {
			return '-'
		}
		return r
	}, row.Path)
	return strings.ToLower(row.Method) + name
}
