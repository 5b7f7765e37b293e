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
// code or markup (Trusted Types), but for the address of worker.js.
const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types sensegate-worker"

// App returns the web app for the path /. It is at /confirm, /reset and /invite too, which links
// in mails open: the page takes the token out of the address. Opening one changes nothing, a
// button does: mail scanners open links. missing says why there is nothing at another path.
func App(missing func(*http.Request) error) http.Handler {
	s := New(below(appFiles, "dist"), Options{
		Cache: "no-cache", Policy: func([]byte) string { return appPolicy }, Missing: missing,
	})
	for _, path := range []string{"confirm", "reset", "invite"} {
		s.files[path] = s.files[""]
	}
	return s
}
