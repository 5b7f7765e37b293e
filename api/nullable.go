package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Nullable is a field of a body that is left out, which changes nothing, or null, which
// clears what is stored, or has a value.
type Nullable[T any] struct {
	Set   bool // the body has the field
	Value T    // the zero value: null
	Null  bool
}

// Schema describes the value and null.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	if len(s.OneOf) > 0 {
		s.OneOf = append(s.OneOf, &huma.Schema{Type: "null", Enum: []any{nil}}) // huma does not know the type
		return s
	}
	s.Nullable = true
	return s
}

// UnmarshalJSON reads both forms.
func (n *Nullable[T]) UnmarshalJSON(raw []byte) error {
	n.Set = true
	if n.Null = bytes.Equal(raw, []byte("null")); n.Null {
		return nil
	}
	err := json.Unmarshal(raw, &n.Value)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && !strings.Contains(other.Value, " ") {
		return nil // a kind of value that the schema refuses; an error would end the decoding of the rest
	}
	return err
}
