package web

import (
	"bytes"
	"embed"
	"encoding/base64"
	"net/http"
)

// pageFiles are the pages that links in mails open. Each is one file: its style and
// its script stand in it.
//
//go:embed page/*.html
var pageFiles embed.FS

// Pages returns the pages that links in mails open, by path: /confirm confirms an
// address, /reset sets a new password, /invite joins a network. They call the App interface
// and nothing else. Opening one changes nothing, its button does: mail scanners open links.
func Pages() map[string]http.Handler {
	s := New(below(pageFiles, "page"), Options{Cache: noStore, Policy: inlinePolicy})
	return map[string]http.Handler{"/confirm": s, "/reset": s, "/invite": s}
}

// inlinePolicy lets a page run its own script, known by its digest, and call its own
// address.
func inlinePolicy(page []byte) string {
	return "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"script-src '" + source(page, "script") + "'; style-src '" + source(page, "style") + "'"
}

// source returns the source expression of the one element of a page, as in Content
// Security Policy Level 3 section 2.3.1.
func source(page []byte, element string) string {
	_, rest, _ := bytes.Cut(page, []byte("<"+element+">"))
	content, _, _ := bytes.Cut(rest, []byte("</"+element+">"))
	return "sha256-" + base64.StdEncoding.EncodeToString(digest(content))
}
