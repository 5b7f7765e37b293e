package api

import (
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Interface is one documented interface: a table of rows below a base path.
type Interface struct {
	Base        string // such as /core, without a trailing slash
	Title       string
	Version     string // of the interface, for its document
	Description string // Markdown
	Routes      []Route
	Principals  []Principal // one for each type that a row takes as its caller

	// Texts holds Markdown files with descriptions and examples of rows, nil for
	// none. A section is headed by its row, "## GET /networks/{id}"; its fenced
	// blocks "json request" and "json response" are the examples of the body and of
	// the answer. A section that fits no row is an error of the document.
	Texts fs.FS

	// Forms accepts flat bodies as application/x-www-form-urlencoded too, with
	// numbers and booleans parsed from text.
	Forms bool
	// DataWrapper accepts a body inside a top-level data key too.
	DataWrapper bool
	// Paced holds what a caller who has a name (Named) changes to a slower rate than what
	// they read.
	Paced bool
}

// table is a mounted interface. It is read by all requests and never changed.
type table struct {
	Interface
	env     *environment
	schemas huma.Registry // of bodies
	router  *router
	doc     func() (packed, error) // the document, made when it is first asked for
	check   map[reflect.Type]Principal
}

// environment is what the tables of one server share.
type environment struct {
	limiter *limiter
	known   *intake // of bodies from callers with credentials
	others  *intake // of bodies from callers without
	live    *liveSet
	timeout time.Duration // of a request that is not live
	packers packers
}

// newTable checks and builds an interface. It panics when the table is wrong.
func newTable(i Interface, env *environment) *table {
	t := &table{
		Interface: i, env: env, schemas: newSchemas(), check: map[reflect.Type]Principal{},
	}
	t.doc = sync.OnceValues(func() (packed, error) {
		plain, err := i.Document()
		return packed{plain, env.packers.pack(plain)}, err
	})
	for _, p := range i.Principals {
		t.check[p.kind] = p
	}
	endpoints := make([]endpoint, len(i.Routes))
	for n, row := range i.Routes {
		endpoints[n] = t.row(row)
	}
	t.router = newRouter(i.Routes, endpoints)
	return t
}

// ServeHTTP answers with the document, or what the row of the path says.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), t.Base)
	if strings.TrimSuffix(path, "/") == "/openapi.json" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		exchangeOf(r.Context()).route = t.Base + "/openapi.json"
		if slow := t.env.limiter.allowAnyone(r); slow != nil {
			fail(w, r, slow)
			return
		}
		t.serveDocument(w, r)
		return
	}
	t.router.serve(w, r, path)
}

func (t *table) serveDocument(w http.ResponseWriter, r *http.Request) {
	doc, err := t.doc()
	if err != nil {
		fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	doc.send(w, r)
}

// row checks one row and returns what serves it.
func (t *table) row(row Route) endpoint {
	op := row.operation
	principal, ok := t.check[op.principal]
	switch {
	case !ok:
		panic(fmt.Sprintf("api: %s %s: the interface has no principal for %v", row.Method, row.Path, op.principal))
	case row.Live != op.live():
		panic(fmt.Sprintf("api: %s %s: a live row wants a handler that returns a Stream, and no other row does", row.Method, row.Path))
	case row.Summary == "":
		panic(fmt.Sprintf("api: %s %s: no summary", row.Method, row.Path))
	}
	e := &typed{
		table: t, route: t.Base + row.Path, principal: principal, guarded: principal.scheme != "", live: row.Live,
		input: newInput(row, t.schemas), call: op.call, output: newOutput(row),
	}
	for _, segment := range segments(row.Path) {
		if isParam(segment) && !slices.ContainsFunc(e.input.params, func(p parameter) bool { return "{"+p.name+"}" == segment }) {
			panic(fmt.Sprintf("api: %s %s: the input has no field for %s", row.Method, row.Path, segment))
		}
	}
	return e
}
