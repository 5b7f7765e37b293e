package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Document returns the OpenAPI 3.1 document, indented and the same on every
// call, so that it can be committed and compared. A text of no row, or an example of
// what a row does not have, is an error.
func (i Interface) Document() ([]byte, error) {
	document := newDocument(i)
	texts := map[string]text{}
	if i.Texts != nil {
		var err error
		if texts, err = readTexts(i.Texts); err != nil {
			return nil, err
		}
	}
	for _, row := range i.Routes {
		heading := row.Method + " " + row.Path
		op, err := i.describe(row, texts[heading], document.Components.Schemas)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", heading, err)
		}
		document.AddOperation(op)
		delete(texts, heading)
	}
	for heading := range texts {
		return nil, fmt.Errorf("the text of %s is of no row", heading)
	}
	return encodeDocument(document)
}

// newDocument starts the document of an interface; the rows are still to be added.
func newDocument(i Interface) *huma.OpenAPI {
	schemes := map[string]*huma.SecurityScheme{}
	for _, p := range i.Principals {
		if p.scheme != "" {
			schemes[p.scheme] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: p.note}
			schemes[inQuery(p.scheme)] = &huma.SecurityScheme{Type: "apiKey", In: "query", Name: "token", Description: "The same, for websockets of browsers, which cannot send the header"}
		}
	}
	d := &huma.OpenAPI{
		OpenAPI:    "3.1.0",
		Info:       &huma.Info{Title: i.Title, Version: i.Version, Description: i.Description},
		Servers:    []*huma.Server{{URL: i.Base}},
		Components: &huma.Components{Schemas: newSchemas(), SecuritySchemes: schemes},
	}
	d.Components.Responses = refusals(d.Components.Schemas)
	for _, row := range i.Routes {
		if row.Tag != "" && !slices.ContainsFunc(d.Tags, func(t *huma.Tag) bool { return t.Name == row.Tag }) {
			d.Tags = append(d.Tags, &huma.Tag{Name: row.Tag})
		}
	}
	return d
}

func newSchemas() huma.Registry { return huma.NewMapRegistry("#/components/schemas/", schemaNamer()) }

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

// encodeDocument returns a document as JSON, indented.
func encodeDocument(d *huma.OpenAPI) ([]byte, error) {
	compact, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	compact = bytes.ReplaceAll(compact, []byte(`"format":"int32"`), []byte(`"format":"int64"`)) // ids are unsigned
	var doc bytes.Buffer
	if err := json.Indent(&doc, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent document: %w", err)
	}
	doc.WriteByte('\n')
	return doc.Bytes(), nil
}

// describe returns a row's part of the document.
func (i Interface) describe(row Route, text text, schemas huma.Registry) (*huma.Operation, error) {
	problem := schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	op := &huma.Operation{
		OperationID: operationID(row),
		Method:      row.Method,
		Path:        row.Path,
		Summary:     row.Summary,
		Description: strings.TrimSpace(text.description + "\n\nMay be called by: " + row.Who + "."),
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem",
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
		}},
	}
	if row.Live {
		op.Description += " Websocket: text frames of JSON, one object each. Credentials also as the query parameter token."
	}
	if row.Tag != "" {
		op.Tags = []string{row.Tag}
	}
	for _, p := range i.Principals {
		if p.kind == row.operation.principal && p.scheme != "" {
			op.Security = []map[string][]string{{p.scheme: {}}}
			if row.Live {
				op.Security = append(op.Security, map[string][]string{inQuery(p.scheme): {}})
			}
		}
	}
	newInput(row, schemas).describe(op)
	describeRefusals(row, op)
	if text.request != nil {
		if op.RequestBody == nil {
			return nil, errors.New("an example of a body that the row does not have")
		}
		op.RequestBody.Content[jsonType].Example = text.request
	}
	return op, newOutput(row).describe(op, schemas, text.response)
}

// inQuery names the security scheme of credentials in the query.
func inQuery(scheme string) string { return scheme + "Query" }

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
