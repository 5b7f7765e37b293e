package api

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// param is one unescaped path parameter.
type param struct{ name, value string }

func valueOf(params []param, name string) string {
	for _, p := range params {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// humaContext lets huma read the request and write the answer. It differs from
// huma's own adapters in four points: parameters come unescaped from the escaped
// path, a bare ?flag may stand anywhere, the status is sent with the first byte
// (so that a failure before it can still become a 500), and JSON is the only
// answer whatever Accept says.
type humaContext struct {
	op     *huma.Operation
	r      *http.Request
	w      http.ResponseWriter
	params []param
	status int
	sent   bool
}

var _ huma.Context = (*humaContext)(nil)

func (c *humaContext) Operation() *huma.Operation { return c.op }
func (c *humaContext) Context() context.Context   { return c.r.Context() }
func (c *humaContext) TLS() *tls.ConnectionState  { return c.r.TLS }
func (c *humaContext) Method() string             { return c.r.Method }
func (c *humaContext) Host() string               { return c.r.Host }
func (c *humaContext) RemoteAddr() string         { return c.r.RemoteAddr }
func (c *humaContext) URL() url.URL               { return *c.r.URL }
func (c *humaContext) Param(name string) string   { return valueOf(c.params, name) }
func (c *humaContext) Query(name string) string   { return queryValue(c.r.URL.RawQuery, name) }
func (c *humaContext) BodyReader() io.Reader      { return bodyReader{c.r.Body} }
func (c *humaContext) Status() int                { return c.status }
func (c *humaContext) SetStatus(code int)         { c.status = code }
func (c *humaContext) BodyWriter() io.Writer      { return c }

func (c *humaContext) SetHeader(name, value string)    { c.w.Header().Set(name, value) }
func (c *humaContext) AppendHeader(name, value string) { c.w.Header().Add(name, value) }

func (c *humaContext) Version() huma.ProtoVersion {
	return huma.ProtoVersion{Proto: c.r.Proto, ProtoMajor: c.r.ProtoMajor, ProtoMinor: c.r.ProtoMinor}
}

func (c *humaContext) Header(name string) string {
	if name == "Accept" {
		return ""
	}
	return c.r.Header.Get(name)
}

func (c *humaContext) EachHeader(visit func(name, value string)) {
	for name, values := range c.r.Header {
		for _, value := range values {
			visit(name, value)
		}
	}
}

func (c *humaContext) GetMultipartForm() (*multipart.Form, error) {
	return nil, errors.New("multipart bodies are not used")
}

// SetReadDeadline does nothing: the server's own read time-out holds.
func (c *humaContext) SetReadDeadline(time.Time) error { return nil }

// Write sends the body. A client that is gone is not our failure.
func (c *humaContext) Write(b []byte) (int, error) {
	c.finish()
	_, _ = c.w.Write(b)
	return len(b), nil
}

// finish sends the status when no body did.
func (c *humaContext) finish() {
	if c.sent || c.status == 0 {
		return
	}
	c.sent = true
	c.w.WriteHeader(c.status)
}

// bodyReader turns a body that broke off into what huma answers with 408.
type bodyReader struct{ io.ReadCloser }

func (b bodyReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = brokenBody{err}
	}
	return n, err
}

type brokenBody struct{ error }

func (brokenBody) Timeout() bool   { return true }
func (brokenBody) Temporary() bool { return false }

// queryValue returns the first value of a query parameter; "true" for a bare
// ?name.
func queryValue(raw, name string) string {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		key, value, hasValue := strings.Cut(pair, "=")
		if k, err := url.QueryUnescape(key); err != nil || k != name {
			continue
		}
		if !hasValue {
			return "true"
		}
		v, _ := url.QueryUnescape(value) // checked before the operation runs
		return v
	}
	return ""
}
