package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"
)

// Principal says how a caller of one Go type shows who they are. Make it with
// [Authenticate] or [Anyone].
type Principal struct {
	kind   reflect.Type
	scheme string // name of the security scheme in the document; "" = no credentials
	note   string
	check  func(context.Context, *Request) (any, error)
}

// Authenticate makes the callers of type P: check reads the credentials of a
// request and returns who it is, or a [fault.Error] of kind Unauthorized or
// Forbidden. scheme names the credentials in the document (a word), note
// explains them. check is called concurrently, once a request.
func Authenticate[P any](scheme, note string, check func(context.Context, *Request) (P, error)) Principal {
	return Principal{
		kind: reflect.TypeFor[P](), scheme: scheme, note: note,
		check: func(ctx context.Context, r *Request) (any, error) { return check(ctx, r) },
	}
}

// Anyone makes callers of type P without asking for credentials.
func Anyone[P any](who P) Principal {
	return Principal{
		kind:  reflect.TypeFor[P](),
		check: func(context.Context, *Request) (any, error) { return who, nil },
	}
}

// Request is what an authenticator may see of a request.
type Request struct {
	http   *http.Request
	params []param
	route  string
}

// Method returns the HTTP method.
func (r *Request) Method() string { return r.http.Method }

// Route returns the path template of the row, with the interface's base.
func (r *Request) Route() string { return r.route }

// Path returns a path parameter, unescaped; "" when the row has none of that name.
func (r *Request) Path(name string) string { return valueOf(r.params, name) }

// Query returns the first query parameter of that name; a bare ?name is "true".
func (r *Request) Query(name string) string {
	value, _ := queryValue(r.http.URL.RawQuery, name)
	return value
}

// Field returns a top-level field of the request's body as text: of a JSON object,
// also inside a sole top-level data key, or of a form. "" when it is absent, null, or
// the body cannot be read. The body is left to be read again.
func (r *Request) Field(name string) string {
	body := r.peekBody()
	if media, _, _ := mime.ParseMediaType(r.http.Header.Get("Content-Type")); media == formType {
		values, _ := url.ParseQuery(string(body))
		return values.Get(name)
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

// peekBody returns the body of the request, up to the largest one allowed, and puts it
// back.
func (r *Request) peekBody() []byte {
	if r.http.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.http.Body, maxBody+1)) // whoever reads on meets the error again
	r.http.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.http.Body), r.http.Body}
	return body
}

// Live reports whether the request asks for a websocket.
func (r *Request) Live() bool { return websocket.IsWebSocketUpgrade(r.http) }

// Remote returns the address of the other end of the connection.
func (r *Request) Remote() netip.Addr { return remoteAddr(r.http) }

// Local reports whether the request was made on the appliance itself. One that a proxy
// passed on was not.
func (r *Request) Local() bool { return onAppliance(r.http) }

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

func remoteAddr(r *http.Request) netip.Addr { return addrOf(r.RemoteAddr) }

// addrOf returns the address of host:port, the zero Addr when it has none.
func addrOf(text string) netip.Addr {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}
