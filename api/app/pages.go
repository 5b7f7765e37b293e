package app

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
)

// pageFiles are the pages that links in mails open. Each is one file: its style and
// its script stand in it.
//
//go:embed page/*.html
var pageFiles embed.FS

// Pages returns the pages that links in mails open, by path: /confirm confirms an
// address, /reset sets a new password, /invite joins a network. They call this interface
// and nothing else. Opening one changes nothing, its button does: mail scanners open links.
func Pages() map[string]http.Handler {
	return map[string]http.Handler{"/confirm": page("confirm"), "/reset": page("reset"), "/invite": page("invite")}
}

// page serves an embedded page. Its policy lets it run its own script, known by its
// digest, and call its own address.
func page(name string) http.Handler {
	raw, err := pageFiles.ReadFile("page/" + name + ".html")
	if err != nil {
		panic(fmt.Sprintf("app: %v", err)) // the name is a constant
	}
	policy := "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"script-src '" + digest(raw, "script") + "'; style-src '" + digest(raw, "style") + "'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(raw) // the client may be gone
	})
}

// digest returns the source expression of the one element of a page, as in Content
// Security Policy Level 3 section 2.3.1.
func digest(page []byte, element string) string {
	_, rest, _ := bytes.Cut(page, []byte("<"+element+">"))
	content, _, _ := bytes.Cut(rest, []byte("</"+element+">"))
	sum := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
