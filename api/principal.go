package api

import (
	"context"
	"encoding/json"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"sensegate/api/live"
)

// Principal says how a caller of one Go type shows who they are. Make it with
// [Authenticate] or [Authorize].
type Principal struct {
	kind   reflect.Type
	scheme string // name of the security scheme in the document; "" = no credentials
	note   string

	identify func(context.Context, *Request) (any, error)      // before the body is read
	admit    func(context.Context, *Request, any) (any, error) // afterwards; takes what identify has returned
}

// Authenticate makes the callers of type P: check reads the credentials of a
// request and returns who it is, or a [fault.Error] of kind Unauthorized or
// Forbidden. scheme names the credentials in the document (a word), note
// explains them. check is called concurrently, once a request.
func Authenticate[P any](scheme, note string, check func(context.Context, *Request) (P, error)) Principal {
	return Principal{
		kind: reflect.TypeFor[P](), scheme: scheme, note: note,
		identify: func(ctx context.Context, r *Request) (any, error) { return check(ctx, r) },
		admit:    func(_ context.Context, _ *Request, who any) (any, error) { return who, nil },
	}
}

// Authorize makes the callers of type P out of those of type U: identify reads their
// credentials, as in [Authenticate], and admit decides what they open, which may depend
// on the body ([Request.Field]). No body is read of a caller whom identify refuses.
func Authorize[U, P any](scheme, note string, identify func(context.Context, *Request) (U, error),
	admit func(context.Context, *Request, U) (P, error)) Principal {
	p := Authenticate(scheme, note, identify)
	p.kind = reflect.TypeFor[P]()
	p.admit = func(ctx context.Context, r *Request, who any) (any, error) { return admit(ctx, r, who.(U)) }
	return p
}

// Named is a caller who has a name, by which the live connections of one user are
// counted: the same for all that the user's credentials make of them.
type Named interface{ Caller() string }

// Request is what an authenticator may see of a request.
type Request struct {
	http   *http.Request
	params []param
	live   bool   // of a row that is a websocket
	body   []byte // nil until it has been read
	known  any    // who opened the websocket whose credentials are checked again; nil: it is a first look

	own func(*http.Request) bool // whether an Origin is the appliance's own
}

// NewRequest returns a request to a handler that is no operation.
func NewRequest(r *http.Request) *Request { return &Request{http: r} }

// Method returns the HTTP method.
func (r *Request) Method() string { return r.http.Method }

// Route returns the path template of the row, with the interface's base.
func (r *Request) Route() string { return r.http.Pattern }

// Path returns a path parameter, unescaped; "" when the row has none of that name.
func (r *Request) Path(name string) string { return valueOf(r.params, name) }

// Query returns the first query parameter of that name; a bare ?name is "true".
func (r *Request) Query(name string) string {
	value, _ := queryValue(r.http.URL.RawQuery, name)
	return value
}

// Field returns a top-level field of the request's body as text: of a JSON object,
// also inside a sole top-level data key, or of a form. "" when it is absent, null, or
// the body cannot be read, or has not been: see [Authorize].
func (r *Request) Field(name string) string {
	body := r.body
	if media, _, _ := mime.ParseMediaType(r.http.Header.Get("Content-Type")); media == formType {
		values, _ := url.ParseQuery(string(body))
		if text := values.Get(name); !slices.Contains(unsetWords, text) {
			return text
		}
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(unwrapData(body, &huma.Schema{}), &object) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(object[name], &text) == nil {
		return text
	}
	if number := string(object[name]); number != "null" {
		return number
	}
	return ""
}

// Live reports whether the request asks for a websocket, of a row that is one: what its
// headers say of another row does not count.
func (r *Request) Live() bool { return r.live && live.Requested(r.http) }

// Remote returns the address of the other end of the connection, the zero Addr when it has
// none.
func (r *Request) Remote() netip.Addr {
	host, _, err := net.SplitHostPort(r.http.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// Local reports whether the request was made on the appliance itself. One that a proxy
// passed on was not.
func (r *Request) Local() bool { return !r.Passed() && r.Remote().IsLoopback() }

// Passed reports whether a proxy has passed the request on, as far as it says so.
func (r *Request) Passed() bool {
	for _, passed := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.http.Header.Get(passed) != "" {
			return true
		}
	}
	return false
}

// Inside reports whether the request came from a private address or from the appliance itself, and not
// through a proxy.
func (r *Request) Inside() bool {
	from := r.Remote()
	return !r.Passed() && (from.IsLoopback() || from.IsPrivate() || from.IsLinkLocalUnicast())
}

// Token returns the credential: the Authorization header with or without the
// word Bearer; for a websocket, where a browser cannot set headers, also the
// query parameter token. "" when there is none.
func (r *Request) Token() string {
	header := strings.TrimSpace(r.http.Header.Get("Authorization"))
	if scheme, token, ok := strings.Cut(header, " "); ok {
		if !strings.EqualFold(scheme, "bearer") {
			return ""
		}
		return strings.TrimSpace(token)
	}
	if header == "" && r.Live() {
		return r.Query("token")
	}
	return header
}

// ProofHeader carries what a page of the web app keeps of its session.
const ProofHeader = "X-Sensegate"

// maxCookies bounds the cookies of one name that are looked at.
const maxCookies = 4

// Halves returns what a page of the web app shows of its session: the cookies with that name,
// or with the prefix that browsers keep to TLS, and [ProofHeader], "" when it is not there. There
// can be several cookies, because a neighbour of the host's name can set one for both.
func (r *Request) Halves(name string) (cookies []string, proof string) {
	for _, c := range r.http.Cookies() {
		if c.Name == name && r.http.TLS == nil || c.Name == HostPrefix+name && r.http.TLS != nil {
			cookies = append(cookies, c.Value)
		}
	}
	return cookies[:min(len(cookies), maxCookies)], r.Proof()
}

// Proof returns [ProofHeader].
func (r *Request) Proof() string { return r.http.Header.Get(ProofHeader) }

// SameOrigin reports whether nothing in the request says that a page of another origin sent it:
// another scheme, host or port. Over plain HTTP some browsers say nothing about that.
func (r *Request) SameOrigin() bool {
	if site := r.http.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	return r.http.Header.Get("Origin") == "" || r.own(r.http)
}

// HostPrefix begins the names of cookies that a browser takes and sends over TLS alone, for
// one host (RFC 6265bis 4.1.3.2).
const HostPrefix = "__Host-"

// Secure reports whether the request came over TLS: to the appliance itself, or to a proxy before
// it, as that says.
func (r *Request) Secure() (itself, proxy bool) {
	return r.http.TLS != nil, r.http.Header.Get("X-Forwarded-Proto") == "https"
}

// Browser returns how the browser names itself.
func (r *Request) Browser() string { return r.http.Header.Get("User-Agent") }

// Ticket returns the ticket of a websocket that a page of the web app opens, "" without one:
// it stands beside the name of the subprotocol, because a page cannot set a header there.
func (r *Request) Ticket() string {
	if !r.Live() {
		return ""
	}
	for _, offered := range websocket.Subprotocols(r.http) {
		if ticket, ok := strings.CutPrefix(offered, ticketProtocol); ok {
			return ticket
		}
	}
	return ""
}

const ticketProtocol = "ticket."

// Known returns who opened the websocket whose credentials are checked again, as the first
// look found out, and whether this is such a second look.
func (r *Request) Known() (who any, again bool) { return r.known, r.known != nil }
