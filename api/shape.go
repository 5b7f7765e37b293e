package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// OneOrMany is an answer that is an object for one result and an array for
// several. It is never empty: for no result there is 404.
type OneOrMany[T any] struct {
	Found []T
	Array bool // an array for one result too
}

// Schema describes both forms.
func (OneOrMany[T]) Schema(r huma.Registry) *huma.Schema {
	one := r.Schema(reflect.TypeFor[T](), true, "")
	return &huma.Schema{
		Description: "One result: the object; several, or with array=true: an array",
		OneOf:       []*huma.Schema{one, {Type: huma.TypeArray, Items: one}},
	}
}

// MarshalJSON writes the form that fits.
func (f OneOrMany[T]) MarshalJSON() ([]byte, error) { return json.Marshal(f.plain()) }

// plain returns what is to be encoded, so that an answer is encoded once.
func (f OneOrMany[T]) plain() any {
	if f.Array || len(f.Found) != 1 {
		return f.Found
	}
	return &f.Found[0]
}

// OneOf is a value of one of two forms: A, or B where A is nil.
type OneOf[A, B any] struct {
	A *A
	B *B
}

// Schema describes both forms.
func (OneOf[A, B]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[A](), true, ""), r.Schema(reflect.TypeFor[B](), true, ""),
	}}
}

// MarshalJSON writes the form that it is.
func (o OneOf[A, B]) MarshalJSON() ([]byte, error) {
	if o.A != nil {
		return json.Marshal(o.A)
	}
	return json.Marshal(o.B)
}

// OrNull is a field of an answer that may be null; huma has no word for a null
// beside a named schema.
type OrNull[T any] struct{ Value *T }

// Schema describes both forms.
func (OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// MarshalJSON writes the value, or null.
func (n OrNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// Series is a time series for the document: [[value, ts], …]. Answers carry it as
// [Encoded] of Series.
type Series struct{}

// Schema describes the series.
func (Series) Schema(huma.Registry) *huma.Schema {
	two := 2
	return &huma.Schema{
		Type:        huma.TypeArray,
		Description: "Points in order of time",
		Examples:    []any{[]any{[]any{91.67, 1763996400}, []any{0, 1764000000}, []any{nil, 1764003600}}},
		Items: &huma.Schema{
			Type: huma.TypeArray, MinItems: &two, MaxItems: &two,
			Description: "[value, ts]: the value, null where there is no data, and the start of its bucket, seconds since the epoch",
			Items:       &huma.Schema{Type: huma.TypeNumber, Nullable: true},
		},
	}
}
