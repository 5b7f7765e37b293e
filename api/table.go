package api

import (
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"sensegate/api/live"
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
	env    *Environment
	router *router
	doc    func() (precompressed, error) // the document, made when it is first asked for
	check  map[reflect.Type]Principal
}

// The bounds of one request (payloads.md 1). What is written after RequestTime is cut off;
// it does not hold for websockets.
const (
	MaxBody          = 1 << 20  // bytes of a body
	MaxAnonymousBody = 16 << 10 // bytes of a body where no credentials are asked for
	RequestTime      = 30 * time.Second
)

// Environment is what the interfaces of one server share.
type Environment struct {
	Limits     Limits
	Live       *live.Set
	OwnOrigin  func(*http.Request) bool // whether the Origin of a request is the appliance's own
	compressor compressor
}

// Limits bound what the callers of a server may take. All methods may be called
// concurrently.
type Limits interface {
	// Allow counts a request, for its token when its credentials are valid, else for its
	// address. The error is a fault, Throttled.
	Allow(r *Request, authenticated bool) error
	// AllowChange counts a request of a caller who is [Named] and changes something.
	AllowChange(method string, caller any) error
	// ReadBody returns the body of a request when it may be decoded. A caller who shows
	// credentials may send MaxBody, others MaxAnonymousBody. decoded has to be called once
	// after that, also when there is no body. The errors are faults: TooLarge, Malformed for
	// a body that breaks off, and Unavailable.
	ReadBody(w http.ResponseWriter, r *http.Request, authenticated bool) (body []byte, decoded func(), err error)
}

// Handler returns what serves an interface below its base, and its document at
// <base>/openapi.json, which is made when it is first asked for. It sets the Pattern of a
// request to the base and path of its row, and panics when the table is wrong. The inputs of rows
// are looked at when they are first asked for, as few of the rows are in most homes; the document
// looks at all of them.
func (env *Environment) Handler(i Interface) http.Handler { return newTable(i, env) }

// newTable checks and builds an interface.
func newTable(i Interface, env *Environment) *table {
	t := &table{
		Interface: i, env: env, check: map[reflect.Type]Principal{},
	}
	t.doc = sync.OnceValues(func() (precompressed, error) {
		plain, err := i.Document()
		return precompressed{plain, env.compressor.gzip(plain)}, err
	})
	for _, p := range i.Principals {
		t.check[p.kind] = p
	}
	rows := make([]*typed, len(i.Routes))
	for n, row := range i.Routes {
		rows[n] = t.row(row)
	}
	t.router = newRouter(i.Routes, rows)
	return t
}

// ServeHTTP answers with the document, or what the row of the path says.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), t.Base)
	if strings.TrimSuffix(path, "/") == "/openapi.json" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		r.Pattern = t.Base + "/openapi.json"
		if slow := t.env.Limits.Allow(NewRequest(r), false); slow != nil {
			Refuse(w, slow)
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
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	doc.send(w, r)
}

// row checks one row and returns what serves it.
func (t *table) row(row Route) *typed {
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
	return &typed{
		table: t, route: t.Base + row.Path, principal: principal, guarded: principal.scheme != "", live: row.Live, unpaced: row.Unpaced,
		input: sync.OnceValue(func() *input { return newInput(row, newSchemas()) }), call: op.call, output: newOutput(row),
	}
}
