package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"sensegate/api/live"
)

// Route is one row of an interface's table. Make it with [Get], [Post], [Put],
// [Patch], [Delete] or [Live].
type Route struct {
	Method  string
	Path    string // below the interface's base, parameters in braces: /networks/{id}
	Who     string // who may call, as the description of the interface says it
	Summary string
	Tag     string // heading in the document, given by Group
	Live    bool   // a websocket
	Unpaced bool   // stores nothing, whatever its method: it does not count as a change
	Status  int    // of the answer when all is well; 0: 200, or 204 without a body

	operation Operation
}

// Operation is a typed handler together with the kind of caller it takes, ready
// for a row. Make it with [Guarded].
type Operation struct{ *handler }

// handler stands beside the rows, which are copied into their table one by one.
type handler struct {
	who       string
	principal reflect.Type // what the handler takes as its caller
	in, out   reflect.Type // the structs that it takes and returns
	call      func(ctx context.Context, who, in any) (out any, err error)
}

// live reports whether the operation streams.
func (o Operation) live() bool { return o.out == reflect.TypeFor[live.Stream]() }

// Get is a row that reads. A HEAD request for it is answered too.
func Get(path string, op Operation, summary string) Route {
	return newRoute(http.MethodGet, path, op, summary)
}

// Post is a row that creates or acts.
func Post(path string, op Operation, summary string) Route {
	return newRoute(http.MethodPost, path, op, summary)
}

// Put is a row that replaces.
func Put(path string, op Operation, summary string) Route {
	return newRoute(http.MethodPut, path, op, summary)
}

// Patch is a row that changes.
func Patch(path string, op Operation, summary string) Route {
	return newRoute(http.MethodPatch, path, op, summary)
}

// Delete is a row that removes.
func Delete(path string, op Operation, summary string) Route {
	return newRoute(http.MethodDelete, path, op, summary)
}

// Live is a row that streams over a websocket: its handler returns a [live.Stream].
func Live(path string, op Operation, summary string) Route {
	r := newRoute(http.MethodGet, path, op, summary)
	r.Live = true
	return r
}

// Answering returns the row with another status than 200 when all is well.
func (r Route) Answering(status int) Route {
	r.Status = status
	return r
}

// Group puts rows under one heading of the document.
func Group(tag string, rows ...Route) []Route {
	for i := range rows {
		rows[i].Tag = tag
	}
	return rows
}

// newRoute is called by each row of the tables, where its code would stand 200 times.
//
//go:noinline
func newRoute(method, path string, op Operation, summary string) Route {
	return Route{Method: method, Path: path, Who: op.who, Summary: summary, operation: op}
}

// Guarded wraps an operation: the caller is authenticated as a P before the
// input is read, and the input is validated before fn runs. who is the row's
// word in the who column. A row whose fn takes a P that the interface has no
// [Principal] for panics when the table is mounted.
//
// In points to a struct: fields tagged path or query (use [Opt] for a parameter that may be
// absent), an optional field Body, with RawBody []byte for the body as it came, or Upload
// *[Upload]; In may be a [Checker]. Out points to a struct with an optional Body and strings tagged header, such as
// [Answer]; without Body the answer is 204. An Out of *[live.Stream] makes a live operation.
// An error is a [fault.Error], or it is logged and answered as 500 without its cause.
//
// In and Out stand for the pointers, not for the structs: all pointers share the code that
// the compiler makes of this function, structs would each have a copy.
func Guarded[P, In, Out any](who string, fn func(ctx context.Context, who P, in In) (Out, error)) Operation {
	return Operation{&handler{
		who: who, principal: reflect.TypeFor[P](), in: pointed(reflect.TypeFor[In]()), out: pointed(reflect.TypeFor[Out]()),
		call: func(ctx context.Context, who, in any) (any, error) { return fn(ctx, who.(P), in.(In)) },
	}}
}

// pointed returns the struct that an operation takes or returns a pointer to.
func pointed(pointer reflect.Type) reflect.Type {
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("api: an operation takes and returns pointers to structs, not %v", pointer))
	}
	return pointer.Elem()
}

// segments splits a table path; parameters keep their braces.
func segments(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

func isParam(segment string) bool { return strings.HasPrefix(segment, "{") }
