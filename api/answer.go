package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

const jsonType = "application/json"

// Answer is what an operation returns that answers with a T and no header of its own.
type Answer[T any] struct{ Body T }

// Answered makes an answer of what a call has returned.
func Answered[T any](body T, err error) (*Answer[T], error) { return &Answer[T]{body}, err }

// AnswerList is an Answer with a list, which the operation never leaves nil.
type AnswerList[T any] struct {
	Body []T `nullable:"false"`
}

// AnsweredList makes an answer of a list that a call has returned.
func AnsweredList[T any](list []T, err error) (*AnswerList[T], error) {
	return &AnswerList[T]{list}, err
}

// output makes an answer of what a row's handler returns.
type output struct {
	kind    reflect.Type
	status  int
	headers []headerField // strings
	body    []int         // the field Body; nil = none
	media   string
}

// headerField is a field of an answer that becomes a header.
type headerField struct {
	name  string
	index []int
}

// newOutput looks at the struct that a row's handler returns.
func newOutput(row Route) *output {
	kind := row.operation.out
	o := &output{kind: kind, status: row.Status, media: jsonType}
	if body, ok := kind.FieldByName("Body"); ok {
		o.body = body.Index
		if m, ok := reflect.Zero(body.Type).Interface().(interface{ mediaType() string }); ok {
			o.media = m.mediaType()
		}
	}
	for _, f := range fields(kind) {
		if name := f.Tag.Get("header"); name != "" {
			o.headers = append(o.headers, headerField{name, f.Index})
		}
	}
	switch {
	case o.status != 0:
	case row.Live:
		o.status = http.StatusSwitchingProtocols
	case o.body != nil:
		o.status = http.StatusOK
	default:
		o.status = http.StatusNoContent
	}
	return o
}

// describe adds the answer to the row's part of the document, and its example.
func (o *output) describe(op *huma.Operation, schemas huma.Registry, example json.RawMessage) error {
	answer := &huma.Response{Description: http.StatusText(o.status), Headers: map[string]*huma.Param{}}
	if o.body != nil {
		schema := huma.SchemaFromField(schemas, o.kind.FieldByIndex(o.body), nameOf(o.kind, "Body", op.OperationID+"Response"))
		answer.Content = map[string]*huma.MediaType{o.media: {Schema: schema}}
	}
	for _, h := range o.headers {
		answer.Headers[h.name] = &huma.Header{Schema: huma.SchemaFromField(schemas, o.kind.FieldByIndex(h.index), "")}
	}
	op.Responses[strconv.Itoa(o.status)] = answer
	if example == nil {
		return nil
	}
	if answer.Content[jsonType] == nil {
		return errors.New("an example of an answer that the row does not have")
	}
	answer.Content[jsonType].Example = example
	return nil
}

// write sends what the handler has returned: a pointer to its struct, or a nil one.
func (o *output) write(w http.ResponseWriter, r *http.Request, c *compressor, out any) {
	value := reflect.ValueOf(out).Elem()
	if !value.IsValid() {
		w.WriteHeader(o.status)
		return
	}
	for _, h := range o.headers {
		if text := value.FieldByIndex(h.index).String(); text != "" {
			w.Header().Set(h.name, text)
		}
	}
	if o.body == nil {
		w.WriteHeader(o.status)
		return
	}
	whole := value.FieldByIndex(o.body).Interface()
	if file, ok := whole.(interface{ written() written }); ok {
		w.Header().Set("Content-Type", o.media)
		file.written().send(w, r)
		return
	}
	if long, ok := whole.(interface{ pieces() iter.Seq[[]byte] }); ok {
		w.Header().Set("Content-Type", o.media)
		c.sendPieces(w, r, o.status, long.pieces())
		return
	}
	body := encode(whole)
	w.Header().Set("Content-Type", o.media)
	if o.media != jsonType { // is compressed already
		w.WriteHeader(o.status)
		_, _ = w.Write(body) // the client may be gone
		return
	}
	c.send(w, r, o.status, body)
}

// encode returns a whole body before the first byte is sent, so that a value that
// JSON cannot say becomes a 500 and not half an answer.
func encode(v any) []byte {
	if raw, ok := v.(interface{ encoded() []byte }); ok {
		return raw.encoded()
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
	return body.Bytes()
}
