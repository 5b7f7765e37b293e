package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// newDocument starts the document of an interface; the rows are still to be added.
func newDocument(i Interface) *huma.OpenAPI {
	schemes := map[string]*huma.SecurityScheme{}
	for _, p := range i.Principals {
		if p.scheme != "" {
			schemes[p.scheme] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: p.note}
		}
	}
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info:    &huma.Info{Title: i.Title, Version: i.Version, Description: i.Description},
		Servers: []*huma.Server{{URL: i.Base}},
		Components: &huma.Components{
			Schemas:         huma.NewMapRegistry("#/components/schemas/", schemaNamer()),
			SecuritySchemes: schemes,
		},
	}
	for _, row := range i.Routes {
		if row.Tag != "" && !slices.ContainsFunc(d.Tags, func(t *huma.Tag) bool { return t.Name == row.Tag }) {
			d.Tags = append(d.Tags, &huma.Tag{Name: row.Tag})
		}
	}
	return d
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

// encodeDocument returns a document as JSON, indented.
func encodeDocument(d *huma.OpenAPI) ([]byte, error) {
	compact, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var doc bytes.Buffer
	if err := json.Indent(&doc, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent document: %w", err)
	}
	doc.WriteByte('\n')
	return doc.Bytes(), nil
}

// describe starts the description of a row; what it takes and answers is still to be
// added.
func (t *table) describe(row Route, principal Principal, description string) *huma.Operation {
	problem := t.schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	op := &huma.Operation{
		OperationID:   operationID(row),
		Method:        row.Method,
		Path:          row.Path,
		Summary:       row.Summary,
		Description:   strings.TrimSpace(description + "\n\nMay be called by: " + row.Who + "."),
		DefaultStatus: row.Status,
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem",
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
		}},
	}
	if row.Live {
		op.DefaultStatus = http.StatusSwitchingProtocols
		op.Description += " Websocket: text frames of JSON, one object each. Credentials also as the query parameter token."
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
		op.RequestBody.Content[jsonType].Example = text.request
	}
	if text.response != nil {
		answer := op.Responses[strconv.Itoa(op.DefaultStatus)]
		if answer == nil || answer.Content[jsonType] == nil {
			return errors.New("an example of an answer that the row does not have")
		}
		answer.Content[jsonType].Example = text.response
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
