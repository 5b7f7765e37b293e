package app

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
)

// Expand asks for records instead of their ids, in the three spellings of existing
// clients: expand=user, expand[]=user and expand=["user"] (payloads.md 5.3). A name that
// the operation does not know is ignored.
type Expand struct {
	Names     []string `query:"expand" maxItems:"16" doc:"Fields to answer whole instead of as an id: names, or one JSON array of names"`
	Bracketed []string `query:"expand[]" maxItems:"16" doc:"The same as expand"`
}

// has reports whether a field is to be answered whole.
func (e Expand) has(name string) bool {
	return slices.Contains(namesIn(e.Names), name) || slices.Contains(namesIn(e.Bracketed), name)
}

// namesIn reads the names of a list whose items are names, several with commas, or
// JSON arrays of names.
func namesIn(list []string) (names []string) {
	for _, item := range list {
		var array []string
		if json.Unmarshal([]byte(item), &array) == nil {
			names = append(names, array...)
			continue
		}
		names = append(names, strings.Split(item, ",")...)
	}
	return names
}

// ExpandBody is Expand in a body.
type ExpandBody struct {
	Names     nameList `json:"expand,omitempty" doc:"Fields to answer whole instead of as an id: a name or names"`
	Bracketed nameList `json:"expand[],omitempty" doc:"The same as expand"`
}

func (e ExpandBody) has(name string) bool {
	return Expand{Names: e.Names, Bracketed: e.Bracketed}.has(name)
}

// nameList is a name or a list of names.
type nameList []string

// Schema describes both forms.
func (nameList) Schema(huma.Registry) *huma.Schema {
	most := 16
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString}, {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, MaxItems: &most},
	}}
}

// UnmarshalJSON reads either form.
func (l *nameList) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = nameList{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

// expandable is a field of an answer that is an id, or the record when that was asked
// for.
type expandable[T any] struct {
	ID    int64
	Whole *T
}

// Schema describes both forms.
func (expandable[T]) Schema(r huma.Registry) *huma.Schema {
	lowest := 1.0
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Format: "int64", Minimum: &lowest}, r.Schema(reflect.TypeFor[T](), true, ""),
	}}
}

// MarshalJSON writes the form that fits.
func (e expandable[T]) MarshalJSON() ([]byte, error) {
	if e.Whole != nil {
		return json.Marshal(e.Whole)
	}
	return json.Marshal(e.ID)
}

// list is the answer of an operation that lists records (payloads.md 6 no. 1).
type list[T any] struct {
	Body struct {
		Data []T `json:"data" nullable:"false"`
	}
}

// listed makes an answer of the records that a call has returned.
func listed[T any](records []T, err error) (*list[T], error) {
	var out list[T]
	out.Body.Data = append([]T{}, records...)
	return &out, err
}

// BodyNetwork is network_id in a body, for operations of a member: their home has been
// found by it already.
type BodyNetwork struct {
	NetworkID *api.Lenient[uint32] `json:"network_id,omitempty" doc:"App Cloud network id; default: the caller's only network" example:"17"`
}

// orNull returns a value for an answer in which an empty one is null.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
