package web_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
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

// TestBundlesAreOfTheirSources: dist is bundled of what is in src and lib, dist-docs of what is in
// reference, lib and the file of colours.
func TestBundlesAreOfTheirSources(t *testing.T) {
	t.Parallel()
	for dist, sources := range map[string][]string{
		"dist": {"src", "lib"}, "dist-docs": {"reference", "lib", "src/css/tokens.css"},
	} {
		var want strings.Builder
		for _, source := range sources {
			err := fs.WalkDir(os.DirFS("."), source, func(name string, entry fs.DirEntry, err error) error {
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
		got, err := os.ReadFile(dist + ".sum")
		if err != nil || string(got) != want.String() {
			t.Errorf("%s is of other sources (%v): run make web", dist, err)
		}
	}
}

// importStatement is an import of a bundled script that is followed before it runs.
var importStatement = regexp.MustCompile(`(?:from|import)\s*"\./([\w-]+\.js)"`)

// packedSize returns how many bytes of a file of dist go over the wire.
func packedSize(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat("dist/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// firstScripts returns the scripts without which nothing is shown: app.js and what it imports.
func firstScripts(t *testing.T) (names []string) {
	t.Helper()
	for names = []string{"app.js"}; ; {
		found := len(names)
		for _, name := range names {
			for _, m := range importStatement.FindAllStringSubmatch(sampletest.Do(theApp(), http.MethodGet, "/"+name, "").Body.String(), -1) {
				if !slices.Contains(names, m[1]) {
					names = append(names, m[1])
				}
			}
		}
		if len(names) == found {
			return names
		}
	}
}

// TestAppIsSmall keeps the scripts of the first view, with the English words, under 30 KB, each
// file under 40 KB and the whole under 150 KB, as they go over the wire.
func TestAppIsSmall(t *testing.T) {
	t.Parallel()
	first, whole := int64(0), int64(0)
	for _, name := range firstScripts(t) {
		first += packedSize(t, name)
	}
	entries, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, packed := strings.CutSuffix(entry.Name(), ".gz")
		if !packed {
			t.Fatalf("%s: want a compressed file", entry.Name())
		}
		size := packedSize(t, name)
		if whole += size; size > 40_000 {
			t.Errorf("%s has %d bytes, want at most 40,000", name, size)
		}
	}
	if first > 30_000 || whole > 150_000 {
		t.Errorf("the first scripts have %d bytes, want at most 30,000; all files %d, want at most 150,000", first, whole)
	}
}

// TestFirstScriptsAreAskedForAtOnce: index.html names each script that app.js waits for.
func TestFirstScriptsAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	page := sampletest.Do(theApp(), http.MethodGet, "/", "").Body.String()
	for _, name := range firstScripts(t) {
		if want := `<link rel="modulepreload" href="` + name + `">`; name != "app.js" && !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
}

// TestLibrariesHaveTheirLicences: lib/SOURCE.md has the version and the licence of each package in
// lib, whose licence is there.
func TestLibrariesHaveTheirLicences(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("lib/SOURCE.md")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fs.Glob(os.DirFS("lib"), "*/package.json")
	scoped, scopedErr := fs.Glob(os.DirFS("lib"), "@*/*/package.json")
	if found = append(found, scoped...); err != nil || scopedErr != nil || len(found) == 0 {
		t.Fatal(found, err, scopedErr)
	}
	for _, name := range found {
		raw, err := os.ReadFile("lib/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Name, Version, License string }
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if row := fmt.Sprintf("| %s | %s | %s |", p.Name, p.Version, p.License); !strings.Contains(string(source), row) {
			t.Errorf("SOURCE.md has no row %s", row)
		}
		if text, err := os.ReadFile("lib/" + path.Dir(name) + "/LICENSE"); err != nil || len(text) < 500 {
			t.Errorf("%s: its licence has %d bytes, %v", p.Name, len(text), err)
		}
	}
}

func TestAppIsServedUnderAStrictPolicy(t *testing.T) {
	t.Parallel()
	for path, media := range map[string]string{
		"/": "text/html; charset=utf-8", "/reset": "text/html; charset=utf-8", "/confirm": "text/html; charset=utf-8", "/invite?token=t": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/app.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml",
		"/worker.js": "text/javascript; charset=utf-8", "/manifest.json": "application/json",
	} {
		w := sampletest.Do(theApp(), http.MethodGet, path, "")
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "require-trusted-types-for 'script'; trusted-types sensegate-worker") || !strings.Contains(policy, "frame-ancestors 'none'") {
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
