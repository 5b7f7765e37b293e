package api

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// leastPacked is the smallest body that is worth compressing, in bytes.
const leastPacked = 1024

// packers compress answers. They may be used concurrently.
type packers struct{ writers sync.Pool }

// send writes a whole answer of JSON or text, compressed where that is worth it and
// the client takes it.
func (p *packers) send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) >= leastPacked && takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		body = p.pack(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// packed is a body that stays the same, and what it is as gzip.
type packed struct{ plain, gzip []byte }

// send answers with the body in the form that the client takes.
func (p packed) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Encoding")
	body := p.plain
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		body = p.gzip
	}
	_, _ = w.Write(body) // the client may be gone
}

// pack returns a body as gzip (RFC 1952), packed fast rather than small.
func (p *packers) pack(body []byte) []byte {
	var packed bytes.Buffer
	z, ok := p.writers.Get().(*gzip.Writer)
	if ok {
		z.Reset(&packed)
	} else {
		z, _ = gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is a valid one
	}
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	z.Reset(io.Discard) // which forgets the answer
	p.writers.Put(z)
	return packed.Bytes()
}

// takesGzip reads the header Accept-Encoding (RFC 9110 12.5.3): gzip by name, or by a
// star, with a weight that is not 0.
func takesGzip(accepted string) bool {
	star := false
	for coding := range strings.SplitSeq(accepted, ",") {
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
