package api

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

// Opt is a query parameter that may be absent. T is a number, a string, a bool, or
// a type that implements encoding.TextUnmarshaler.
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

// present notes that the request has the parameter, and returns where its value goes.
func (o *Opt[T]) present() reflect.Value {
	o.Set = true
	return reflect.ValueOf(&o.Value).Elem()
}

// optional is an [Opt].
type optional interface{ present() reflect.Value }

// parameter is a field of an input struct that is read from the path or the query.
type parameter struct {
	in, name string // in is path or query
	index    []int
	required bool
	list     bool   // a []string, of all parameters of the name
	absent   string // what is read when there is none
	schema   *huma.Schema
}

// parameters lists the parameters of an input struct.
func parameters(in reflect.Type, schemas huma.Registry) (list []parameter) {
	for _, f := range fields(in) {
		p := parameter{index: f.Index, absent: f.Tag.Get("default"), required: f.Tag.Get("required") == "true"}
		if p.in, p.name = "path", f.Tag.Get("path"); p.name != "" {
			p.required = true
		} else if p.in, p.name = "query", f.Tag.Get("query"); p.name == "" {
			continue
		}
		kind := f.Type
		if o, ok := reflect.New(f.Type).Interface().(optional); ok {
			kind = o.present().Type()
		}
		p.schema = huma.SchemaFromField(schemas, f, "")
		p.list = kind == reflect.TypeFor[[]string]()
		bound(p.schema, kind)
		list = append(list, p)
	}
	return list
}

// fields lists the exported fields of a struct and of the structs embedded in it, each
// with its whole index. Unlike [reflect.VisibleFields] it has a field Key of an
// embedded struct Key.
func fields(t reflect.Type) (list []reflect.StructField) {
	for f := range t.Fields() {
		switch {
		case !f.IsExported():
		case f.Anonymous:
			for _, inner := range fields(f.Type) {
				inner.Index = append(slices.Clone(f.Index), inner.Index...)
				list = append(list, inner)
			}
		default:
			list = append(list, f)
		}
	}
	return list
}

// bound gives an integer parameter of up to 32 bits the range of its Go type, so that
// no number is cut and one id cannot stand for another. A wider one cannot be cut.
func bound(s *huma.Schema, kind reflect.Type) {
	if kind.Kind() < reflect.Int || kind.Kind() > reflect.Uint64 {
		return
	}
	lowest, highest := limits(kind)
	if s.Minimum == nil && s.ExclusiveMinimum == nil {
		s.Minimum = lowest
	}
	if s.Maximum == nil && s.ExclusiveMaximum == nil {
		s.Maximum = highest
	}
	s.PrecomputeMessages()
}

// limits returns the range of an integer type of up to 32 bits.
func limits(t reflect.Type) (lowest, highest *float64) {
	if t.Bits() > 32 {
		return nil, nil
	}
	low, high := 0.0, math.Ldexp(1, t.Bits())-1
	if t.Kind() <= reflect.Int64 {
		low, high = -math.Ldexp(1, t.Bits()-1), math.Ldexp(1, t.Bits()-1)-1
	}
	return &low, &high
}

// describe returns the parameter for the document.
func (p *parameter) describe() *huma.Param {
	d := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.required, Schema: p.schema}
	if p.in == "query" {
		d.Explode = &p.list
	}
	return d
}

// read sets a parameter's field of an input and notes the mistakes. A number or a switch in
// the query that cannot be read is malformed; a value that is not allowed is invalid.
func (p *parameter) read(field reflect.Value, r *http.Request, path []param, found *mistakes) {
	place := p.in + "." + p.name
	given, isThere := p.text(r, path)
	text := cmp.Or(given, p.absent)
	switch {
	case text == "" && p.required:
		found.add(place, "required "+p.in+" parameter is missing", "")
		return
	case text == "":
		if o, ok := field.Addr().Interface().(*Opt[string]); ok {
			o.Set = isThere // and empty
		}
		return
	case p.list:
		list := r.URL.Query()[p.name]
		field.Set(reflect.ValueOf(list))
		found.validate(p.schema, place, list)
		return
	}
	if o, ok := field.Addr().Interface().(optional); ok {
		field = o.present()
	}
	value, err := parse(field, text)
	if err != nil {
		if !errors.As(err, new(notAllowed)) && p.in == "query" {
			found.kind = fault.Malformed
		}
		found.add(place, err.Error(), text)
		return
	}
	found.validate(p.schema, place, value)
}

func (p *parameter) text(r *http.Request, path []param) (text string, isThere bool) {
	if p.in == "path" {
		return valueOf(path, p.name), true
	}
	return queryValue(r.URL.RawQuery, p.name)
}

// parse sets a field from text, and returns the value that its schema is about.
func parse(field reflect.Value, text string) (any, error) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
		return text, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("invalid integer")
		}
		field.SetInt(v)
		return v, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, errors.New("invalid integer")
		}
		field.SetUint(v)
		return v, nil
	case reflect.Float32, reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return nil, errors.New("invalid float")
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, notAllowed{errors.New("expected a finite number")}
		}
		field.SetFloat(v)
		return v, nil
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("invalid boolean")
		}
		field.SetBool(v)
		return v, nil
	}
	return text, unmarshalText(field, text)
}

// notAllowed is why a parameter that can be read is no value of its type: a date that there
// is not, a number without end.
type notAllowed struct{ error }

func unmarshalText(field reflect.Value, text string) error {
	into, ok := field.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		panic(fmt.Sprintf("api: a parameter cannot be a %v", field.Type()))
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return notAllowed{fmt.Errorf("invalid value: %w", err)}
	}
	return nil
}

// param is one unescaped path parameter.
type param struct{ name, value string }

func valueOf(params []param, name string) string {
	for _, p := range params {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// queryValue returns the first value of a query parameter, "true" for a bare ?name, and
// whether there is one.
func queryValue(raw, name string) (value string, isThere bool) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		key, value, hasValue := strings.Cut(pair, "=")
		if k, err := url.QueryUnescape(key); err != nil || k != name {
			continue
		}
		if !hasValue {
			return "true", true
		}
		v, _ := url.QueryUnescape(value) // checked before the operation runs
		return v, true
	}
	return "", false
}
