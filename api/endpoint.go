package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sensegate/api/live"
	"sensegate/motion/fault"
)

// typed serves one row.
type typed struct {
	table     *table
	route     string
	principal Principal
	guarded   bool          // the principal asks for credentials
	input     func() *input // made when it is first asked for
	call      func(ctx context.Context, who, in any) (out any, err error)
	output    *output
	live      bool
	unpaced   bool // see Route
}

// requestKey is where the context of an operation has its *Request.
type requestKey struct{}

// RequestOf returns the request of an operation by its context; it panics for another.
func RequestOf(ctx context.Context) *Request { return ctx.Value(requestKey{}).(*Request) }

// serve runs the operation, or refuses the request.
func (e *typed) serve(w http.ResponseWriter, r *http.Request, params []param) {
	r.Pattern = e.route
	if err := e.run(w, &Request{http: r, params: params, live: e.live, own: e.table.env.OwnOrigin}); err != nil {
		Refuse(w, err)
	}
}

// run authenticates and counts the caller, reads the body, asks what the caller may do, and
// calls the handler. Nothing has been answered when it returns an error.
func (e *typed) run(w http.ResponseWriter, r *Request) error {
	if err := checkQuery(r.http.URL.RawQuery); err != nil {
		return err
	}
	known, err := e.identify(r.http.Context(), r)
	if err != nil {
		leaveUnread(w, r.http)
		return err
	}
	body, done, err := []byte(nil), func() {}, error(nil)
	if e.input().upload == nil {
		body, done, err = e.readBody(w, r.http)
	}
	if err != nil {
		return err
	}
	decoded := sync.OnceFunc(done)
	defer decoded()
	r.body = body
	who, err := e.admit(r.http.Context(), r, known)
	if err != nil {
		return err
	}
	if !e.live {
		w.Header().Set("Cache-Control", "no-store")
	}
	in, err := e.input().read(e.table, r)
	r.body = nil
	decoded()
	switch {
	case err != nil:
		return err
	case e.live:
		return e.stream(w, r, known, who, in)
	case e.input().upload != nil:
		reflect.ValueOf(in).Elem().FieldByIndex(e.input().upload).Set(reflect.ValueOf(r.upload(w)))
	}
	return e.answer(w, r, who, in)
}

// identify reads the credentials of a request and counts it.
func (e *typed) identify(ctx context.Context, r *Request) (known any, err error) {
	limits := e.table.env.Limits
	known, err = e.principal.identify(ctx, r)
	if slow := limits.Allow(r, e.guarded && err == nil); slow != nil {
		return nil, slow
	}
	if err == nil && e.table.Paced && !e.unpaced {
		err = limits.AllowChange(r.Method(), known)
	}
	return known, err
}

// readBody returns the body when it may be decoded.
func (e *typed) readBody(w http.ResponseWriter, r *http.Request) (body []byte, decoded func(), err error) {
	body, decoded, err = e.table.env.Limits.ReadBody(w, r, e.guarded)
	if err == nil && tooMany(mediaType(r.Header.Get("Content-Type")), body) {
		decoded()
		err = fault.New(fault.TooLarge, "body holds more than %d values: send fewer at a time", maxValues)
	}
	return body, decoded, err
}

// admit decides what a known caller may do. A live request has to ask for a websocket too.
func (e *typed) admit(ctx context.Context, r *Request, known any) (who any, err error) {
	who, err = e.principal.admit(ctx, r, known)
	if fault.KindOf(err) == fault.Invalid { // perhaps for want of what cannot be read
		err = cmp.Or(e.input().check(e.table, r), err)
	}
	if err == nil && e.live && !live.Requested(r.http) {
		p := NewProblem(http.StatusUpgradeRequired, "upgrade_required", "this address is a websocket")
		p.header.Set("Upgrade", "websocket")
		p.header.Set("Connection", "Upgrade")
		err = p
	}
	return who, err
}

// answer calls the handler and sends what it returns.
func (e *typed) answer(w http.ResponseWriter, r *Request, who, in any) error {
	limit := RequestTime
	if e.input().upload != nil {
		limit = uploadTime
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.http.Context(), requestKey{}, r), limit)
	defer cancel()
	out, err := e.call(ctx, who, in)
	if err != nil && e.input().upload != nil {
		leaveUnread(w, r.http)
	}
	if err == nil {
		e.output.write(w, r.http, &e.table.env.compressor, out)
	}
	return err
}

// stream calls the handler and starts the stream that it returns.
func (e *typed) stream(w http.ResponseWriter, r *Request, known, who, in any) error {
	out, err := e.call(r.http.Context(), who, in)
	if err != nil {
		return err
	}
	viewer := live.Viewer{Route: e.route, Recheck: e.recheck(r, known)}
	if named, ok := who.(Named); ok {
		viewer.Name = named.Caller()
	}
	e.table.env.Live.Start(w, r.http, out.(*live.Stream), viewer)
	return nil
}

// recheck returns a function that checks the credentials of a live request again, which known
// has shown. It keeps what an authenticator may see of the request, and nothing else.
func (e *typed) recheck(r *Request, known any) func(context.Context) error {
	method, remote := r.http.Method, r.http.RemoteAddr
	query, authorization := strings.Clone(r.http.URL.RawQuery), strings.Clone(r.http.Header.Get("Authorization"))
	params := slices.Clone(r.params)
	for i := range params {
		params[i].value = strings.Clone(params[i].value)
	}
	return func(ctx context.Context) error {
		again := &http.Request{Method: method, URL: &url.URL{RawQuery: query}, Pattern: e.route, RemoteAddr: remote, Header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}}
		if authorization != "" {
			again.Header.Set("Authorization", authorization)
		}
		req := &Request{http: again, params: params, live: e.live, known: known}
		known, err := e.principal.identify(ctx, req)
		if err == nil {
			_, err = e.principal.admit(ctx, req, known)
		}
		return err
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
