package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"sensegate/motion/fault"
)

// router finds the row of a request in two httprouter trees, asked in order: "a
// fixed segment wins", as in net/http. One tree alone refuses a fixed segment
// beside a parameter. A row goes in the first tree if it has a fixed segment
// where another row of its method has a parameter; two rows that truly clash
// panic. Paths are matched escaped, so that %2F stays inside its segment.
type router struct {
	first, rest *httprouter.Router
	methods     []string // in use, sorted
}

// newRouter builds the trees; rows[i] serves routes[i].
func newRouter(routes []Route, rows []*typed) *router {
	t := &router{first: httprouter.New(), rest: httprouter.New()}
	for i, row := range routes {
		tree := t.rest
		if fixedBesideParam(row, routes) {
			tree = t.first
		}
		pattern, names := positional(row.Path)
		tree.Handle(row.Method, pattern, func(w http.ResponseWriter, r *http.Request, ps httprouter.Params) {
			params, err := unescape(names, ps)
			if err != nil {
				Refuse(w, err)
				return
			}
			rows[i].serve(w, r, params)
		})
		if !slices.Contains(t.methods, row.Method) {
			t.methods = append(t.methods, row.Method)
		}
	}
	slices.Sort(t.methods)
	return t
}

// fixedBesideParam reports whether row has a fixed segment where another row of
// its method, alike up to there, has a parameter.
func fixedBesideParam(row Route, routes []Route) bool {
	own := segments(row.Path)
	return slices.ContainsFunc(routes, func(other Route) bool {
		if other.Method != row.Method {
			return false
		}
		theirs := segments(other.Path)
		for i := range min(len(own), len(theirs)) {
			switch {
			case !isParam(own[i]) && isParam(theirs[i]):
				return true
			case !isParam(own[i]) && own[i] != theirs[i]:
				return false
			}
		}
		return false
	})
}

// positional writes a path for httprouter with parameters named by place, as one
// tree wants one name at one place, and returns their real names.
func positional(path string) (pattern string, names []string) {
	var b strings.Builder
	for _, s := range segments(path) {
		b.WriteByte('/')
		if !isParam(s) {
			b.WriteString(s)
			continue
		}
		b.WriteString(":" + strconv.Itoa(len(names)))
		names = append(names, strings.Trim(s, "{}"))
	}
	return b.String(), names
}

// unescape reads the parameters of a match. Control characters and broken text
// are refused here, so that no operation meets them.
func unescape(names []string, ps httprouter.Params) ([]param, error) {
	if len(names) == 0 {
		return nil, nil
	}
	params := make([]param, len(names))
	for i, name := range names {
		value, err := url.PathUnescape(ps[i].Value)
		if err != nil || !utf8.ValidString(value) || strings.ContainsFunc(value, isControl) {
			return nil, fault.New(fault.Malformed, "path: %s has characters that are not allowed", name)
		}
		if value == "" {
			return nil, errNoRow
		}
		params[i] = param{name, value}
	}
	return params, nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// errNoRow is the answer for a path that no row has.
var errNoRow = fault.New(fault.NotFound, "no such address")

// serve answers a request for path, escaped and below the interface's base. 404, 405
// and OPTIONS are answered here; nothing is redirected.
func (t *router) serve(w http.ResponseWriter, r *http.Request, path string) {
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	if handle, ps := t.find(r.Method, path); handle != nil {
		handle(w, r, ps)
		return
	}
	allowed := t.allowed(path)
	switch {
	case allowed == "":
		Refuse(w, errNoRow)
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
	default:
		RefuseMethod(w, allowed)
	}
}

func (t *router) find(method, path string) (httprouter.Handle, httprouter.Params) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handle, ps, _ := t.first.Lookup(method, path); handle != nil {
		return handle, ps
	}
	handle, ps, _ := t.rest.Lookup(method, path)
	return handle, ps
}

// allowed lists the methods of both trees for a path; "" when it is unknown.
func (t *router) allowed(path string) string {
	var methods []string
	for _, m := range t.methods {
		if handle, _ := t.find(m, path); handle == nil {
			continue
		}
		methods = append(methods, m)
		if m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	if methods == nil {
		return ""
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}
