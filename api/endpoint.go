package api

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

// register makes a JSON row.
func register[In, Out any](t *table, op huma.Operation, fn func(context.Context, *In) (*Out, error)) {
	nums := numbers(reflect.TypeFor[In]())
	fn = guardNumbers(nums, fn)
	huma.Register(t.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := fn(ctx, in)
		if err == nil {
			return out, nil
		}
		p, internal := problemOf(err)
		if internal {
			exchangeOf(ctx).cause = err
		}
		return nil, p
	})
	bound(t.lastOp.Parameters, nums)
}

// typed serves one row.
type typed struct {
	table      *table
	route      string
	check      func(context.Context, *Request) (any, error)
	guarded    bool // check asks for credentials
	op         *huma.Operation
	run        func(huma.Context)
	live       bool
	compressed http.HandlerFunc // serveJSON behind compression
}

// serve authenticates and counts the caller, then runs the operation.
func (e *typed) serve(w http.ResponseWriter, r *http.Request, params []param) {
	x := exchangeOf(r.Context())
	x.route, x.params = e.route, params
	if err := checkQuery(r.URL.RawQuery); err != nil {
		fail(w, r, err)
		return
	}
	req := &Request{http: r, params: params, route: e.route}
	who, err := e.check(r.Context(), req)
	if slow := e.table.env.limiter.allow(req, e.guarded && err == nil); slow != nil {
		err = slow
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	x.principal = who
	if e.live {
		if err := e.table.env.upgradeable(r); err != nil {
			fail(w, r, err)
			return
		}
		x.recheck = e.recheck(req)
		e.runHuma(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), e.table.env.timeout)
	defer cancel()
	e.compressed(w, r.WithContext(ctx))
}

// recheck returns a later look at a request's credentials. It keeps what an
// authenticator may see of the request, and not its buffers.
func (e *typed) recheck(r *Request) func(context.Context) error {
	kept := *r
	kept.http = &http.Request{Method: r.http.Method, URL: r.http.URL, RemoteAddr: r.http.RemoteAddr, Header: http.Header{}}
	for _, name := range []string{"Authorization", "Connection", "Upgrade"} {
		kept.http.Header[name] = r.http.Header[name]
	}
	return func(ctx context.Context) error {
		_, err := e.check(ctx, &kept)
		return err
	}
}

// serveJSON runs an operation that is not live.
func (e *typed) serveJSON(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if e.op.RequestBody != nil {
		if err := e.table.rewriteBody(r, e.op); err != nil {
			fail(w, r, err)
			return
		}
	}
	e.runHuma(w, r)
}

func (e *typed) runHuma(w http.ResponseWriter, r *http.Request) {
	c := &humaContext{op: e.op, r: r, w: w, params: exchangeOf(r.Context()).params}
	e.run(c)
	c.finish()
}

// checkQuery refuses a query that cannot be read.
func checkQuery(raw string) error {
	if raw == "" {
		return nil
	}
	text, err := url.QueryUnescape(raw)
	if err != nil || !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
		return fault.New(fault.Malformed, "query cannot be read: check its %%-escapes")
	}
	return nil
}
