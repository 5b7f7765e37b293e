package web_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"sensegate/api/sampletest"
	"sensegate/api/web"
	"sensegate/motion/fault"
)

// theApp is the web app as it is embedded.
func theApp() http.Handler {
	return web.App(func(*http.Request) error { return fault.New(fault.NotFound, "nothing here") })
}

// TestAppIsOfItsSources: dist is bundled of what is in src and lib.
func TestAppIsOfItsSources(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	for _, folder := range []string{"src", "lib"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(content), name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("dist.sum")
	if err != nil || string(got) != want.String() {
		t.Errorf("dist is of other sources (%v): run make web", err)
	}
}

// TestAppIsSmall keeps what the first view loads under 30 KB and the whole under 150 KB, as
// they go over the wire.
func TestAppIsSmall(t *testing.T) {
	t.Parallel()
	first, whole := int64(0), int64(0)
	entries, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !strings.HasSuffix(entry.Name(), ".gz") {
			t.Fatalf("%s: %v, want a compressed file", entry.Name(), err)
		}
		if whole += info.Size(); entry.Name() == "app.js.gz" {
			first = info.Size()
		}
	}
	if first == 0 || first > 30_000 || whole > 150_000 {
		t.Errorf("app.js has %d bytes, want at most 30,000; all %d, want at most 150,000", first, whole)
	}
}

func TestAppIsServedUnderAStrictPolicy(t *testing.T) {
	t.Parallel()
	for path, media := range map[string]string{
		"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/app.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml",
	} {
		w := sampletest.Do(theApp(), http.MethodGet, path, "")
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "require-trusted-types-for 'script'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	if w := sampletest.Do(theApp(), http.MethodGet, "/nowhere", ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "nothing here") {
		t.Errorf("another path: %d %s", w.Code, w.Body)
	}
}

// TestAppNamesNoForeignAddress: namespaces of XML aside, no file of the app has an address.
func TestAppNamesNoForeignAddress(t *testing.T) {
	t.Parallel()
	address := regexp.MustCompile(`https?://[\w.-]+`)
	entries, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := "/" + strings.TrimSuffix(entry.Name(), ".gz")
		for _, found := range address.FindAllString(sampletest.Do(theApp(), http.MethodGet, name, "").Body.String(), -1) {
			if found != "http://www.w3.org" {
				t.Errorf("%s names %s", name, found)
			}
		}
	}
}
