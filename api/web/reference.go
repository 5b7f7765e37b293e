package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"

	"sensegate/api"
)

// referenceFiles is the API reference as a page; see reference/SOURCE.md.
//
//go:embed reference
var referenceFiles embed.FS

// referencePolicy lets the page load from here and nowhere else.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Reference returns the API reference for the path /docs/: a page that shows the documents
// of interfaces.
func Reference(interfaces ...api.Interface) http.Handler {
	type entry struct {
		Title string `json:"title"`
		Base  string `json:"base"`
	}
	list := []entry{}
	for _, i := range interfaces {
		list = append(list, entry{i.Title, i.Base})
	}
	shown, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("web: list of interfaces: %v", err))
	}
	s := New(below(referenceFiles, "reference"), Options{
		Below: "/docs", Cache: "no-cache", Policy: func([]byte) string { return referencePolicy },
	})
	s.Add("interfaces.json", shown)
	return s
}

// below returns the files of a folder that is embedded.
func below(files embed.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(fmt.Sprintf("web: %v", err)) // the name is a constant
	}
	return sub
}
