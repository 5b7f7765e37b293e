package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

// Checker is an input that knows of mistakes which no schema can tell. They are told
// together with those of the schema, so the input may hold what the schema forbids.
type Checker interface{ Mistakes() []fault.Detail }

// input makes of a request what a row's handler takes.
type input struct {
	kind   reflect.Type
	params []parameter

	body     []int // the field Body; nil = none
	raw      []int // the field RawBody; nil = none
	upload   []int // the field Upload, instead of both; nil = none
	required bool  // the body
	schema   *huma.Schema
	schemas  huma.Registry // that the schema points into
}

// newInput looks at the struct that a row's handler takes. It panics when that has no field
// for a parameter of the row's path.
func newInput(row Route, schemas huma.Registry) *input {
	kind := row.operation.in
	in := &input{kind: kind, params: parameters(kind, schemas), upload: uploadIn(kind), schemas: schemas}
	for _, segment := range segments(row.Path) {
		if isParam(segment) && !slices.ContainsFunc(in.params, func(p parameter) bool { return "{"+p.name+"}" == segment }) {
			panic(fmt.Sprintf("api: %s %s: the input has no field for %s", row.Method, row.Path, segment))
		}
	}
	if raw, ok := kind.FieldByName("RawBody"); ok {
		in.raw = raw.Index
	}
	if body, ok := kind.FieldByName("Body"); ok {
		in.body = body.Index
		in.required = body.Type.Kind() != reflect.Pointer
		in.schema = huma.SchemaFromField(schemas, body, nameOf(kind, "Body", operationID(row)+"Request"))
	}
	return in
}

// describe adds the input to the row's part of the document.
func (in *input) describe(op *huma.Operation) {
	for i := range in.params {
		op.Parameters = append(op.Parameters, in.params[i].describe())
	}
	if in.upload != nil {
		op.RequestBody = describeUpload()
	}
	if in.body != nil {
		op.RequestBody = &huma.RequestBody{Required: in.required, Content: map[string]*huma.MediaType{jsonType: {Schema: in.schema}}}
	}
}

// nameOf is how the schema of a field is named when its type has no name.
func nameOf(parent reflect.Type, field, other string) string {
	if parent.Name() != "" {
		return parent.Name() + field
	}
	return other
}

// read returns a pointer to a new struct, filled from the request. What is wrong
// with the parameters, the body and both together is told at once.
func (in *input) read(t *table, r *Request) (any, error) {
	value := reflect.New(in.kind)
	found := &mistakes{kind: fault.Invalid, schemas: in.schemas}
	for i := range in.params {
		p := &in.params[i]
		p.read(value.Elem().FieldByIndex(p.index), r.http, r.params, found)
	}
	if in.body != nil {
		if err := in.readBody(t, r, value.Elem(), found); err != nil {
			return nil, err
		}
	}
	if c, ok := value.Interface().(Checker); ok {
		found.details = append(found.details, c.Mistakes()...)
	}
	return value.Interface(), found.err()
}

// readBody decodes the body into its field. Its mistakes are noted; an error is one
// that leaves nothing else to say.
func (in *input) readBody(t *table, r *Request, value reflect.Value, found *mistakes) error {
	body, err := t.readBody(r, in)
	switch {
	case err != nil:
		return err
	case len(body) == 0 && in.required:
		return fault.New(fault.Malformed, "request body is required")
	case len(body) == 0:
		return nil
	}
	if in.raw != nil {
		value.FieldByIndex(in.raw).SetBytes(body)
	}
	var plain any
	if err := json.Unmarshal(body, &plain); err != nil {
		return malformed(unreadable(err))
	}
	valid := found.validate(in.schema, "body", plain)
	err = json.Unmarshal(body, value.FieldByIndex(in.body).Addr().Interface())
	if err != nil && valid {
		found.add("body", unreadable(err), nil)
	}
	return nil
}

// check returns why the body of a request cannot be read at all; nil when it can, or when the
// row takes none.
func (in *input) check(t *table, r *Request) error {
	if in.body == nil {
		return nil
	}
	body, err := t.readBody(r, in)
	if err == nil && len(body) > 0 && !json.Valid(body) {
		err = malformed("not valid JSON")
	}
	return err
}

// malformed is the answer to a body that is not JSON.
func malformed(message string) error {
	return &fault.Error{Kind: fault.Malformed, Message: "body is not valid JSON", Details: []fault.Detail{{Location: "body", Message: message}}}
}

// unreadable is what a caller is told of an error of encoding/json.
func unreadable(err error) string {
	if strings.HasPrefix(err.Error(), "json: ") { // speaks of Go types
		return "a value does not fit its field"
	}
	return err.Error()
}

// mistakes collects what is wrong with an input.
type mistakes struct {
	schemas huma.Registry
	kind    fault.Kind
	details fault.Details
}

func (m *mistakes) add(place, message string, value any) {
	m.details.Add(place, value, "%s", message)
}

// validate notes where a value does not fit a schema, and reports whether it does.
func (m *mistakes) validate(s *huma.Schema, place string, value any) bool {
	var result huma.ValidateResult
	at := huma.NewPathBuffer([]byte{}, 0)
	at.Push(place)
	huma.Validate(m.schemas, s, at, huma.ModeWriteToServer, value, &result)
	for _, err := range result.Errors {
		d, ok := err.(*huma.ErrorDetail)
		switch {
		case !ok:
			m.add(place, err.Error(), nil)
		case d.Location == "body": // the whole body is the caller's already
			m.add(d.Location, d.Message, nil)
		default:
			m.add(d.Location, d.Message, d.Value)
		}
	}
	return len(result.Errors) == 0
}

// err returns the mistakes in order of their places; nil when there are none.
func (m *mistakes) err() error {
	if len(m.details) == 0 {
		return nil
	}
	m.details.Sort()
	return &fault.Error{Kind: m.kind, Message: "request is not valid", Details: m.details}
}
