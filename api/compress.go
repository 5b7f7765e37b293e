package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// leastCompressed is the smallest body that is worth compressing, in bytes.
const leastCompressed = 1024

// compressor compresses answers. All methods may be called concurrently.
type compressor struct{ writers sync.Pool }

// send writes a whole answer of JSON or text, compressed where that is worth it and
// the client takes it.
func (c *compressor) send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) >= leastCompressed && TakesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = c.gzip(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// precompressed is a body that stays the same, and what it is as gzip.
type precompressed struct{ plain, gzip []byte }

// send answers with the body in the form that the client takes.
func (p precompressed) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Encoding")
	body := p.plain
	if TakesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = p.gzip
	}
	_, _ = w.Write(body) // the client may be gone
}

// gzip returns a body as gzip (RFC 1952), compressed fast rather than small.
func (c *compressor) gzip(body []byte) []byte {
	var compressed bytes.Buffer
	z, ok := c.writers.Get().(*gzip.Writer)
	if ok {
		z.Reset(&compressed)
	} else {
		z, _ = gzip.NewWriterLevel(&compressed, gzip.BestSpeed) // the level is a valid one
	}
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	z.Reset(io.Discard) // which forgets the answer
	c.writers.Put(z)
	return compressed.Bytes()
}

// TakesGzip reports whether the client takes gzip: its header Accept-Encoding (RFC 9110
// 12.5.3) has it by name, or a star, with a weight that is not 0.
func TakesGzip(r *http.Request) bool {
	star := false
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		_, q, found := strings.Cut(weight, "=")
		value, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		takes := !found || err == nil && value > 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip":
			return takes
		case "*":
			star = takes
		}
	}
	return star
}
