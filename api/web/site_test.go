package web_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"sensegate/api/sampletest"
	"sensegate/api/web"
)

// app is a web app at the root.
func app(cache string) http.Handler {
	s := web.New(fstest.MapFS{
		"index.html":    {Data: []byte("<p>app")},
		"about.html":    {Data: []byte("<p>about")},
		"assets/app.js": {Data: []byte("go()")},
	}, web.Options{Cache: cache, Policy: func(content []byte) string { return "script " + string(content) }})
	s.Add("added.json", []byte("{}"))
	return s
}

func TestFilesAreServedAtTheirNames(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		status      int
		body, media string
	}{
		"/":                  {200, "<p>app", "text/html; charset=utf-8"},
		"/index.html":        {200, "<p>app", "text/html; charset=utf-8"},
		"/about":             {200, "<p>about", "text/html; charset=utf-8"},
		"/about/":            {200, "<p>about", "text/html; charset=utf-8"},
		"/assets/app.js":     {200, "go()", "text/javascript; charset=utf-8"},
		"/added.json":        {200, "{}", "application/json"},
		"/homes/7/rooms":     {404, "no such file", "application/problem+json"},
		"/assets/gone.js":    {404, "no such file", "application/problem+json"},
		"/assets/../app.zip": {404, "no such file", "application/problem+json"},
	} {
		w := sampletest.Do(app("no-cache"), http.MethodGet, path, "")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || w.Header().Get("Content-Type") != c.media {
			t.Errorf("%s: %d %s %q, want %+v", path, w.Code, w.Header().Get("Content-Type"), w.Body, c)
		}
		if c.status != 200 {
			continue
		}
		if h := w.Header(); h.Get("Content-Security-Policy") != "script "+c.body || h.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		if w := sampletest.Do(app("no-cache"), method, "/", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

func TestUnchangedFileIsNotSentAgain(t *testing.T) {
	t.Parallel()
	etag := sampletest.Do(app("no-cache"), http.MethodGet, "/about", "").Header().Get("ETag")
	for known, status := range map[string]int{etag: 304, `"other", W/` + etag: 304, `"other"`: 200, "": 200} {
		w := sampletest.Do(app("no-cache"), http.MethodGet, "/about", "", "If-None-Match", known)
		if w.Code != status || (w.Body.Len() == 0) != (status == 304) || w.Header().Get("ETag") != etag {
			t.Errorf("who has %s: %d %v, want %d", known, w.Code, w.Header(), status)
		}
	}
	if etag == sampletest.Do(app("no-cache"), http.MethodGet, "/", "").Header().Get("ETag") {
		t.Error("two files have one ETag")
	}
	if w := sampletest.Do(app("no-store"), http.MethodGet, "/about", ""); w.Header().Get("ETag") != "" {
		t.Errorf("a page for no cache: %v", w.Header())
	}
}
