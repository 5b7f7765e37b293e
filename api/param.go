package api

import (
	"context"
	"math"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

// Opt is a query or header parameter that may be absent. T is a number, a
// string, a bool, or a type that implements encoding.TextUnmarshaler.
type Opt[T any] struct {
	Value T
	Set   bool // whether the request has it
}

// Or returns the value, or other when it is absent.
func (o Opt[T]) Or(other T) T {
	if o.Set {
		return o.Value
	}
	return other
}

// Schema describes the parameter as its T.
func (Opt[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver is where huma puts the parsed value.
func (o *Opt[T]) Receiver() reflect.Value { return reflect.ValueOf(o).Elem().Field(0) }

// OnParamSet notes whether the request has the parameter.
func (o *Opt[T]) OnParamSet(set bool, _ any) { o.Set = set }

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

// parameter is a numeric parameter of an input struct.
type parameter struct {
	in, name string
	index    []int // of the number itself
	kind     reflect.Type
}

// numbers lists the numeric parameters of an input struct.
func numbers(in reflect.Type) []parameter {
	var list []parameter
	for _, f := range reflect.VisibleFields(in) {
		p := parameter{index: f.Index, kind: f.Type}
		for _, place := range []string{"path", "query", "header"} {
			if tag := f.Tag.Get(place); tag != "" {
				p.in = place
				p.name, _, _ = strings.Cut(tag, ",")
			}
		}
		if w, ok := reflect.New(f.Type).Interface().(huma.ParamWrapper); ok {
			p.kind = w.Receiver().Type()
			p.index = append(append([]int{}, f.Index...), 0)
		}
		if k := p.kind.Kind(); p.in != "" && k >= reflect.Int && k <= reflect.Float64 {
			list = append(list, p)
		}
	}
	return list
}

// bound gives each integer parameter the range of its Go type: huma cuts larger
// numbers silently, so that one id could stand for another.
func bound(params []*huma.Param, nums []parameter) {
	for _, n := range nums {
		for _, p := range params {
			if p.In != n.in || p.Name != n.name {
				continue
			}
			lowest, highest := limits(n.kind)
			if p.Schema.Minimum == nil && p.Schema.ExclusiveMinimum == nil {
				p.Schema.Minimum = lowest
			}
			if p.Schema.Maximum == nil && p.Schema.ExclusiveMaximum == nil {
				p.Schema.Maximum = highest
			}
			p.Schema.PrecomputeMessages()
		}
	}
}

// limits returns the range of an integer type of up to 32 bits; a wider one
// cannot be cut, as numbers are read with 64.
func limits(t reflect.Type) (lowest, highest *float64) {
	if t.Kind() >= reflect.Float32 || t.Bits() > 32 {
		return nil, nil
	}
	low, high := 0.0, math.Ldexp(1, t.Bits())-1
	if t.Kind() <= reflect.Int64 {
		low, high = -math.Ldexp(1, t.Bits()-1), math.Ldexp(1, t.Bits()-1)-1
	}
	return &low, &high
}

// finite refuses NaN and the infinities, which huma reads as numbers.
func finite(in reflect.Value, nums []parameter) error {
	var details []fault.Detail
	for _, n := range nums {
		if n.kind.Kind() < reflect.Float32 {
			continue
		}
		if f := in.FieldByIndex(n.index).Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			details = append(details, fault.Detail{Location: n.in + "." + n.name, Message: "expected a finite number"})
		}
	}
	if details == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: "request is not valid", Details: details}
}

// guardNumbers wraps an operation with the checks that huma lacks.
func guardNumbers[In, Out any](nums []parameter, fn func(context.Context, *In) (*Out, error)) func(context.Context, *In) (*Out, error) {
	return func(ctx context.Context, in *In) (*Out, error) {
		if err := finite(reflect.ValueOf(in).Elem(), nums); err != nil {
			return nil, err
		}
		return fn(ctx, in)
	}
}
