package api

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"sensegate/motion/fault"
)

// docsFiles is the API reference as a page; see docs/SOURCE.md.
//
//go:embed docs
var docsFiles embed.FS

// docsPolicy lets the page load from here and nowhere else.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Docs serves the API reference at /docs: a page that shows the documents of the
// interfaces mounted so far, from embedded files only.
func (s *Server) Docs() {
	type entry struct {
		Title string `json:"title"`
		Base  string `json:"base"`
	}
	list := []entry{}
	for _, t := range s.tables {
		list = append(list, entry{t.Title, t.Base})
	}
	interfaces, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("api: list of interfaces: %v", err))
	}
	s.add(mount{path: "/docs/", handler: readOnly(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", docsPolicy)
		w.Header().Set("Cache-Control", "no-cache")
		switch name := strings.Trim(strings.TrimPrefix(r.URL.Path, "/docs"), "/"); name {
		case "":
			serveAsset(w, r, "index.html")
		case "interfaces.json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(interfaces) // the client may be gone
		default:
			serveAsset(w, r, name)
		}
	})})
}

// serveAsset sends an embedded file; large ones are stored compressed.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if plain, err := fs.ReadFile(docsFiles, "docs/"+name); err == nil {
		_, _ = w.Write(plain) // the client may be gone
		return
	}
	packed, err := docsFiles.Open("docs/" + name + ".gz")
	if err != nil {
		w.Header().Del("Content-Type")
		fail(w, r, fault.New(fault.NotFound, "no such file"))
		return
	}
	defer packed.Close()
	w.Header().Add("Vary", "Accept-Encoding")
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.Copy(w, packed) // the client may be gone
		return
	}
	plain, err := gzip.NewReader(packed)
	if err != nil {
		fail(w, r, fmt.Errorf("read embedded %s: %w", name, err))
		return
	}
	_, _ = io.Copy(w, plain) // the client may be gone
}
