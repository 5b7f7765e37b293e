package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// Checked is a request body that is read as a T by [shape.Read] and not by the schema,
// because what is right depends on more than the body, and mistakes of both kinds are to be
// told at once: what is wrong with its shape is in Found.
type Checked[T any] struct {
	Value T
	Found fault.Details
}

// Schema points to the schema of T in the document, which is not enforced.
func (Checked[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{"$ref": r.Schema(reflect.TypeFor[T](), true, "").Ref}}
}

// UnmarshalJSON reads whatever is JSON.
func (c *Checked[T]) UnmarshalJSON(raw []byte) error {
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		return err
	}
	c.Value = shape.Read[T](&c.Found, "body", body)
	return nil
}

// CheckedPart is a request body that is T, or, with the query parameter key, what stands at
// that key of a T. The operation checks it; whatever is JSON arrives in Value, decoded as
// encoding/json does into any.
type CheckedPart[T any] struct{ Value any }

// Schema points to the schema of T, and says that it may be another value.
func (CheckedPart[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "The whole; with key, the value at that key",
		Extensions:  map[string]any{"anyOf": []any{r.Schema(reflect.TypeFor[T](), true, ""), &huma.Schema{}, &huma.Schema{Type: "null"}}},
	}
}

// UnmarshalJSON keeps the decoded value.
func (c *CheckedPart[T]) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &c.Value) }

// Part is an answer that is T, or a part of it that the request has asked for.
type Part[T any] struct{ Value any }

// Schema describes both forms.
func (Part[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "The whole; with key, the value at that key",
		AnyOf:       []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {}, {Type: "null"}},
	}
}

// MarshalJSON writes what there is.
func (p Part[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.Value) }
