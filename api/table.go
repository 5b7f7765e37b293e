package api

import (
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/klauspost/compress/gzhttp"
)

// maxBody is the largest request body, in bytes.
const maxBody = 1 << 20

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
	// the answer. A section that fits no row panics when the table is mounted.
	Texts fs.FS

	// Forms accepts flat bodies as application/x-www-form-urlencoded too, with
	// numbers and booleans parsed from text.
	Forms bool
	// DataWrapper accepts a body inside a top-level data key too.
	DataWrapper bool
}

// Document returns the OpenAPI 3.1 document, indented and the same on every
// call, so that it can be committed and compared.
func (i Interface) Document() ([]byte, error) { return newTable(i, nil).document() }

// table is a mounted interface. It is read by all requests and never changed.
type table struct {
	Interface
	env    *environment
	huma   huma.API
	router *router
	doc    []byte // the document, as served
	check  map[reflect.Type]Principal
	gzip   func(http.Handler) http.HandlerFunc

	// What huma made of the row being registered.
	last   func(huma.Context)
	lastOp *huma.Operation
}

// environment is what the tables of one server share.
type environment struct {
	limiter *limiter
	live    *liveSet
	origin  func(*http.Request) bool
	timeout time.Duration // of a request that is not live
}

// newTable checks and builds an interface. It panics when the table is wrong.
func newTable(i Interface, env *environment) *table {
	t := &table{Interface: i, env: env, check: map[reflect.Type]Principal{}}
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.CompressionLevel(1))
	if err != nil {
		panic(fmt.Sprintf("api: compression: %v", err))
	}
	t.gzip = wrap
	for _, p := range i.Principals {
		t.check[p.kind] = p
	}
	t.huma = huma.NewAPI(humaConfig(i), t)
	texts := map[string]text{}
	if i.Texts != nil {
		if texts, err = readTexts(i.Texts); err != nil {
			panic(fmt.Sprintf("api: %v", err))
		}
	}
	endpoints := make([]endpoint, len(i.Routes))
	for n, row := range i.Routes {
		heading := row.Method + " " + row.Path
		endpoints[n] = t.row(row, texts[heading])
		delete(texts, heading)
	}
	for heading := range texts {
		panic(fmt.Sprintf("api: the text of %s is of no row", heading))
	}
	t.router = newRouter(i.Routes, endpoints)
	return t
}

// Handle takes what huma made of the row being registered.
func (t *table) Handle(op *huma.Operation, handler func(huma.Context)) {
	t.last, t.lastOp = handler, op
}

// ServeHTTP makes the table huma's adapter.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), t.Base)
	if strings.TrimSuffix(path, "/") == "/openapi.json" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		exchangeOf(r.Context()).route = t.Base + "/openapi.json"
		t.gzip(http.HandlerFunc(t.serveDocument)).ServeHTTP(w, r)
		return
	}
	t.router.serve(w, r, path)
}

func (t *table) serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(t.doc) // the client may be gone
}

// row registers one row and returns what serves it.
func (t *table) row(row Route, text text) endpoint {
	principal, ok := t.check[row.operation.principal]
	switch {
	case !ok:
		panic(fmt.Sprintf("api: %s %s: the interface has no principal for %v", row.Method, row.Path, row.operation.principal))
	case row.Live != row.operation.live:
		panic(fmt.Sprintf("api: %s %s: a live row wants a handler that returns a Stream, and no other row does", row.Method, row.Path))
	case row.Summary == "":
		panic(fmt.Sprintf("api: %s %s: no summary", row.Method, row.Path))
	}
	row.operation.register(t, t.operation(row, principal, text.description))
	if err := illustrate(t.lastOp, text); err != nil {
		panic(fmt.Sprintf("api: %s %s: %v", row.Method, row.Path, err))
	}
	for _, segment := range segments(row.Path) {
		if isParam(segment) && !slices.ContainsFunc(t.lastOp.Parameters, func(p *huma.Param) bool { return "{"+p.Name+"}" == segment }) {
			panic(fmt.Sprintf("api: %s %s: the input has no field for %s", row.Method, row.Path, segment))
		}
	}
	e := &typed{table: t, route: t.Base + row.Path, check: principal.check, guarded: principal.scheme != "", op: t.lastOp, run: t.last, live: row.Live}
	if !row.Live {
		e.compressed = t.gzip(http.HandlerFunc(e.serveJSON))
	}
	return e
}
