package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Values is a list of figures for the document, null where one is not known.
// Answers carry it inside what they encode themselves (see [Encoded]).
type Values struct{}

// Schema describes the list.
func (Values) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber, Nullable: true}}
}

// Either is an answer of one of two forms for the document, carried as [Encoded]
// of Either.
type Either[A, B any] struct{}

// Schema describes both forms: one that holds an empty list can be of either.
func (Either[A, B]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[A](), true, ""), r.Schema(reflect.TypeFor[B](), true, ""),
	}}
}
