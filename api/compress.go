package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"iter"
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
	c.sendPieces(w, r, status, func(yield func([]byte) bool) { yield(body) })
}

// sendPieces is send of an answer that is made while it is sent.
func (c *compressor) sendPieces(w http.ResponseWriter, r *http.Request, status int, pieces iter.Seq[[]byte]) {
	w.Header().Add("Vary", "Accept-Encoding")
	var to io.Writer
	finish := func() {}
	for piece := range pieces {
		if to == nil {
			to = w
			if len(piece) >= leastCompressed && TakesGzip(r) {
				w.Header().Set("Content-Encoding", "gzip")
				blocks := bufio.NewWriter(w)
				z := c.writer(blocks)
				to, finish = z, func() { c.close(z); _ = blocks.Flush() }
			}
			w.WriteHeader(status)
		}
		if _, err := to.Write(piece); err != nil {
			break // the client is gone
		}
	}
	finish()
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
	z := c.writer(&compressed)
	_, _ = z.Write(body) // a buffer takes everything
	c.close(z)
	return compressed.Bytes()
}

// writer returns a writer that compresses fast rather than small; close takes it back.
func (c *compressor) writer(to io.Writer) *gzip.Writer {
	z, ok := c.writers.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(to, gzip.BestSpeed) // the level is a valid one
		return z
	}
	z.Reset(to)
	return z
}

// close writes the end.
func (c *compressor) close(z *gzip.Writer) {
	_ = z.Close()       // a client may be gone
	z.Reset(io.Discard) // which forgets the answer
	c.writers.Put(z)
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
