package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"sensegate/motion/fault"
)

// typed serves one row.
type typed struct {
	table   *table
	route   string
	check   func(context.Context, *Request) (any, error)
	guarded bool // check asks for credentials
	input   *input
	call    func(ctx context.Context, who, in any) (out any, err error)
	output  *output
	live    bool
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
		e.run(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), e.table.env.timeout)
	defer cancel()
	e.run(w, r.WithContext(ctx))
}

// recheck returns a later look at a live request's credentials. It keeps the few words
// that an authenticator may see of the request, and makes one of them for each look.
func (e *typed) recheck(r *Request) func(context.Context) error {
	method, address, remote := r.http.Method, r.http.URL, r.http.RemoteAddr
	authorization, params := strings.Clone(r.http.Header.Get("Authorization")), r.params
	return func(ctx context.Context) error {
		again := &http.Request{Method: method, URL: address, RemoteAddr: remote, Header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}}
		if authorization != "" {
			again.Header.Set("Authorization", authorization)
		}
		_, err := e.check(ctx, &Request{http: again, params: params, route: e.route})
		return err
	}
}

// run reads the input, calls the handler and answers.
func (e *typed) run(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	in, err := e.input.read(e.table, r, x.params)
	if err != nil {
		fail(w, r, err)
		return
	}
	out, err := e.call(r.Context(), x.principal, in)
	switch {
	case err != nil:
		fail(w, r, err)
	case e.live:
		e.table.env.live.start(w, r, out.(*Stream))
	default:
		e.output.write(w, r, &e.table.env.packers, out)
	}
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
