package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"sensegate/motion/fault"
)

// typed serves one row.
type typed struct {
	table     *table
	route     string
	principal Principal
	guarded   bool // the principal asks for credentials
	input     *input
	call      func(ctx context.Context, who, in any) (out any, err error)
	output    *output
	live      bool
}

// serve authenticates and counts the caller, reads the body, asks what the caller may
// do, and runs the operation.
func (e *typed) serve(w http.ResponseWriter, r *http.Request, params []param) {
	x := exchangeOf(r.Context())
	x.route, x.params, x.query = e.route, params, r.URL.RawQuery
	if err := checkQuery(r.URL.RawQuery); err != nil {
		fail(w, r, err)
		return
	}
	req := &Request{http: r, params: params, route: e.route, live: e.live}
	known, err := e.principal.identify(r.Context(), req)
	if slow := e.table.env.limiter.allow(req, e.guarded && err == nil); slow != nil {
		err = slow
	}
	if err == nil && e.table.Paced {
		err = e.table.env.limiter.allowChange(r.Method, known)
	}
	if err != nil {
		leaveUnread(w, r)
		fail(w, r, err)
		return
	}
	body, done, err := e.readBody(w, r)
	if err != nil {
		fail(w, r, err)
		return
	}
	x.decoded = sync.OnceFunc(done)
	defer x.decoded()
	req.body = body
	if x.principal, err = e.principal.admit(r.Context(), req, known); err != nil {
		if fault.KindOf(err) == fault.Invalid { // perhaps for want of what cannot be read
			err = cmp.Or(e.input.check(e.table, req), err)
		}
		fail(w, r, err)
		return
	}
	if e.live {
		if err := upgradeable(r); err != nil {
			fail(w, r, err)
			return
		}
		x.recheck = e.recheck(req)
		e.run(w, r, req)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), e.table.env.timeout)
	defer cancel()
	e.run(w, r.WithContext(ctx), req)
}

// readBody returns the body when it may be decoded. A caller who shows credentials may
// send more than one who does not.
func (e *typed) readBody(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	in, limit := e.table.env.others, maxAnonymousBody
	if e.guarded {
		in, limit = e.table.env.known, maxBody
	}
	body, done, err = in.read(w, r, limit)
	if err == nil && tooMany(mediaType(r.Header.Get("Content-Type")), body) {
		done()
		err = fault.New(fault.TooLarge, "body holds more than %d values: send fewer at a time", maxValues)
	}
	return body, done, err
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
		req := &Request{http: again, params: params, route: e.route, live: e.live}
		known, err := e.principal.identify(ctx, req)
		if err == nil {
			_, err = e.principal.admit(ctx, req, known)
		}
		return err
	}
}

// run reads the input, calls the handler and answers.
func (e *typed) run(w http.ResponseWriter, r *http.Request, req *Request) {
	x := exchangeOf(r.Context())
	in, err := e.input.read(e.table, req)
	req.body = nil
	x.decoded()
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
		return fault.New(fault.Malformed, "query cannot be read: want UTF-8 with right %%-escapes and without control characters")
	}
	return nil
}
