// Package web serves the pages of the appliance: the web app, which links in mails open too, and
// the reference of the interfaces. All are embedded files, served by one handler, [Site].
//
// The pages call the documented interfaces and nothing else. The package must not know an
// operation, or what a page says.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"sensegate/api"
	"sensegate/motion/fault"
)

// noStore is the Cache-Control of pages that stand in no cache.
const noStore = "no-store"

// Site serves files to GET and HEAD, each at its name. A page, NAME.html, is at NAME as well,
// and index.html at the path of the site. A file NAME.gz is served at NAME, compressed or not
// as the client takes it. Assemble it with New and Add, then it is only read.
type Site struct {
	Options
	files map[string]*file
}

// Options say how files are served.
type Options struct {
	Below   string                      // path of the site without a trailing slash: /docs
	Policy  func(content []byte) string // content security policy of a file
	Cache   string                      // Cache-Control; files have an ETag unless it is no-store
	Missing func(*http.Request) error   // why there is nothing at a path; nil: no such file
}

// file is what is known of a file before it is asked for.
type file struct {
	open         func() (io.ReadCloser, error)
	gzip         bool   // it is stored compressed
	media        string // "": the server looks at the content
	policy, etag string
}

// mediaTypes are those of embedded files. Package mime would read the table of the machine, which
// differs, and keep it: 0.4 MB.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// New returns a site of all files of a file system. It panics when one cannot be read.
func New(files fs.FS, o Options) *Site {
	s := &Site{Options: o, files: map[string]*file{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		s.add(name, content, func() (io.ReadCloser, error) { return files.Open(name) })
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("web: %v", err))
	}
	return s
}

// Add adds a file that is in no file system.
func (s *Site) Add(name string, content []byte) {
	s.add(name, content, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
}

func (s *Site) add(name string, content []byte, open func() (io.ReadCloser, error)) {
	f := &file{open: open, policy: s.Policy(content)}
	name, f.gzip = strings.CutSuffix(name, ".gz")
	f.media = mediaTypes[path.Ext(name)]
	if s.Cache != noStore {
		f.etag = `"` + base64.RawURLEncoding.EncodeToString(digest(content)[:12]) + `"`
	}
	s.files[name] = f
	if page, ok := strings.CutSuffix(name, ".html"); ok {
		s.files[strings.TrimSuffix(page, "index")] = f
	}
}

// ServeHTTP answers with the file at the path of the request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api.ReadOnly(s.serve).ServeHTTP(w, r)
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, s.Below), "/")
	f := s.files[name]
	if f == nil {
		err := error(fault.New(fault.NotFound, "no such file"))
		if s.Missing != nil {
			err = s.Missing(r)
		}
		api.Refuse(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", f.policy)
	h.Set("Cache-Control", s.Cache)
	if f.gzip {
		h.Add("Vary", "Accept-Encoding")
	}
	if f.etag != "" {
		h.Set("ETag", f.etag)
		if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if err := f.send(w, r); err != nil {
		api.Refuse(w, fmt.Errorf("read embedded %s: %w", name, err))
	}
}

// send writes the content. An error comes before the first byte.
func (f *file) send(w http.ResponseWriter, r *http.Request) error {
	stored, err := f.open()
	if err != nil {
		return err
	}
	defer stored.Close()
	var content io.Reader = stored
	if f.gzip && api.TakesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
	} else if f.gzip {
		if content, err = gzip.NewReader(stored); err != nil {
			return err
		}
	}
	if f.media != "" {
		w.Header().Set("Content-Type", f.media)
	}
	_, _ = io.Copy(w, content) // the client may be gone
	return nil
}

func digest(content []byte) []byte {
	sum := sha256.Sum256(content)
	return sum[:]
}
