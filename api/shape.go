package api

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"reflect"
	"strings"

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
// [Pieces] or [Encoded] of Series.
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

// Encoded is a response body that is JSON already, for answers that are written
// from storage without decoding them. T is what it says, for the document.
type Encoded[T any] []byte

// Schema describes the body as its T.
func (Encoded[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// MarshalJSON returns the bytes as they are.
func (e Encoded[T]) MarshalJSON() ([]byte, error) { return e, nil }

func (e Encoded[T]) encoded() []byte { return e }

// Pieces is a response body that is JSON already, made while it is sent, so that a long answer takes
// the memory of a piece. A piece may be overwritten when the next one is made; each but the last has
// leastCompressed bytes or more. What can fail comes before the first one. T is what the body says,
// for the document.
type Pieces[T any] func(yield func(piece []byte) bool)

// Schema describes the body as its T.
func (Pieces[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func (p Pieces[T]) pieces() iter.Seq[[]byte] { return iter.Seq[[]byte](p) }

// PNG is an answer that is a PNG image.
type PNG []byte

// Schema describes the image.
func (PNG) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A PNG image"}
}

func (PNG) mediaType() string { return "image/png" }

func (p PNG) encoded() []byte { return p }

// written is an answer that is written while it is made. An error after the first byte breaks the
// connection off, so that half a file does not look whole. The context ends with the request.
type written func(context.Context, io.Writer) error

// ZIP is an answer that is a ZIP file, written while it is made, whole or broken off.
type ZIP written

func (z ZIP) written() written { return written(z) }

// Schema describes the file.
func (ZIP) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A ZIP file"}
}

func (ZIP) mediaType() string { return "application/zip" }

// File is an answer that is a file of bytes, written while it is made, whole or broken off.
type File written

func (f File) written() written { return written(f) }

// Schema describes the file.
func (File) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A file"}
}

func (File) mediaType() string { return "application/octet-stream" }

// Unsupported is the header of an answer with settings: which of them have no effect in this
// network.
type Unsupported struct {
	Names string `header:"X-Unsupported-Settings" doc:"Comma-separated: settings of this answer that are kept and sent to the devices, and that have no effect on what the appliance senses itself in this network (from raw channel state, or figures of nodes); left out when there are none, as where a guardian senses" example:"pet_mode, mesh_auto_disable"`
}

// UnsupportedSettings returns the header that lists these settings.
func UnsupportedSettings(names []string) Unsupported { return Unsupported{strings.Join(names, ", ")} }
