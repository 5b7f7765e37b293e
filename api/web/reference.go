package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"sensegate/api"
)

// referenceFiles is the API reference as .ci/web bundles it of the folder reference.
//
//go:embed dist-docs
var referenceFiles embed.FS

// referencePolicy lets the page load from here and nowhere else, and turns no text into code or
// markup (Trusted Types). The page shows a picture that an operation answers as data.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Reference returns the API reference for the path /docs/: a page that shows the documents
// of interfaces.
func Reference(interfaces ...api.Interface) http.Handler {
	type entry struct {
		Title string `json:"title"`
		Base  string `json:"base"`
	}
	list := []entry{}
	var links strings.Builder
	for _, i := range interfaces {
		list = append(list, entry{i.Title, i.Base})
		fmt.Fprintf(&links, `<li><a href="%s/openapi.json">%s</a></li>`, html.EscapeString(i.Base), html.EscapeString(i.Title))
	}
	shown, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("web: list of interfaces: %v", err))
	}
	s := New(below(referenceFiles, "dist-docs"), Options{
		Below: "/docs", Cache: "no-cache", Policy: func([]byte) string { return referencePolicy },
	})
	s.Add("interfaces.json", shown)
	s.Add("index.html", referencePage(links.String()))
	return s
}

// referencePage returns the page with links to the documents, for readers without JavaScript.
func referencePage(links string) []byte {
	packed, err := referenceFiles.ReadFile("dist-docs/index.html.gz")
	if err != nil {
		panic(fmt.Sprintf("web: %v", err)) // it is embedded
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Sprintf("web: %v", err))
	}
	page, err := io.ReadAll(plain)
	if err != nil {
		panic(fmt.Sprintf("web: %v", err))
	}
	return bytes.Replace(page, []byte("<!-- documents -->"), []byte(links), 1)
}

// below returns the files of a folder that is embedded.
func below(files embed.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(fmt.Sprintf("web: %v", err)) // the name is a constant
	}
	return sub
}
