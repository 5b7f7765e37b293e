package web

import (
	"embed"
	"net/http"
)

// appFiles is the web app as .ci/web bundles it; lib/SOURCE.md says what it contains.
//
//go:embed dist
var appFiles embed.FS

// appPolicy lets the page run and load what is here and nothing else, and turns no text into
// code or markup (Trusted Types).
const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// App returns the web app for the path /. missing says why there is nothing at another path.
func App(missing func(*http.Request) error) http.Handler {
	return New(below(appFiles, "dist"), Options{
		Cache: "no-cache", Policy: func([]byte) string { return appPolicy }, Missing: missing,
	})
}
