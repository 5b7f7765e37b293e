package core

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// oneOrMany is the answer of a find: an object for one result, an array for
// several (payloads.md 4.1).
type oneOrMany[T any] struct {
	found []T // at least one
	array bool
}

// Schema describes both forms.
func (oneOrMany[T]) Schema(r huma.Registry) *huma.Schema {
	one := r.Schema(reflect.TypeFor[T](), true, "")
	return &huma.Schema{
		Description: "One result: the object; several, or with array=true: an array",
		OneOf:       []*huma.Schema{one, {Type: huma.TypeArray, Items: one}},
	}
}

// MarshalJSON writes the form that fits.
func (f oneOrMany[T]) MarshalJSON() ([]byte, error) {
	if f.array || len(f.found) != 1 {
		return json.Marshal(f.found)
	}
	return json.Marshal(f.found[0])
}

// orNull is a value that may be null; huma has no word for a null beside a named
// schema.
type orNull[T any] struct{ value *T }

// Schema describes both forms.
func (orNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// MarshalJSON writes the value, or null.
func (n orNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// points is a time series for the document: [[value, ts], …].
type points struct{}

// Schema describes the series.
func (points) Schema(huma.Registry) *huma.Schema {
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
