package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"sensegate/api"
	"sensegate/api/sampletest"
	"sensegate/api/server"
	"sensegate/api/web"
)

// docsServer serves the sample interface and its reference.
func docsServer(t *testing.T) *server.Server {
	t.Helper()
	i := sampletest.Interface(sampletest.NoLive())
	s := server.New(server.Defaults(), slog.New(slog.DiscardHandler))
	s.Mount(i)
	s.Handle("/docs/", web.Reference(i))
	return s
}

func TestDocsAreServedFromHere(t *testing.T) {
	t.Parallel()
	s := docsServer(t)
	for _, path := range []string{"/docs", "/docs/", "/docs/index.html", "/docs/reference.js", "/docs/reference.css"} {
		w := sampletest.Do(s, "GET", path, "", "Accept-Encoding", "gzip")
		sampletest.WantStatus(t, w, http.StatusOK)
		if w.Header().Get("Content-Security-Policy") != web.ReferencePolicy || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/docs/interfaces.json", ""), `[{"title":"Test","base":"/core"}]`)
	for _, path := range []string{"/docs/nothing", "/docs/../docs.go", "/docs/%2e%2e/docs.go", "/docs//"} {
		if w := sampletest.Do(s, "GET", path, ""); w.Code == http.StatusOK && path != "/docs//" {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	packed := sampletest.Do(s, "GET", "/docs/reference.js", "", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, plain := sampletest.ReadAll(t, z), sampletest.Do(s, "GET", "/docs/reference.js", "").Body.String(); got != plain || len(plain) < 10_000 {
		t.Errorf("%d bytes packed, %d plain", len(got), len(plain))
	}
}

// TestDocsNameTheDocumentsWithoutJavaScript: the page has a link to each document, and the title
// of an interface is text there.
func TestDocsNameTheDocumentsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	page := sampletest.Do(web.Reference(api.Interface{Title: "<b>A&B", Base: "/core"}, api.Interface{Title: "App", Base: "/api/v1"}), "GET", "/docs/", "").Body.String()
	_, without, _ := strings.Cut(page, "<noscript>")
	without, _, _ = strings.Cut(without, "</noscript>")
	for _, want := range []string{"needs JavaScript", `<a href="/core/openapi.json">&lt;b&gt;A&amp;B</a>`, `<a href="/api/v1/openapi.json">App</a>`} {
		if !strings.Contains(without, want) {
			t.Errorf("%s is not in %s", want, without)
		}
	}
}

// TestDocsAreSmall keeps the files of the reference under 16 KB, as they go over the wire.
func TestDocsAreSmall(t *testing.T) {
	t.Parallel()
	whole := int64(0)
	err := fs.WalkDir(web.ReferenceFiles, "dist-docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		whole += info.Size()
		return err
	})
	if err != nil || whole > 16_000 || whole < 1_000 {
		t.Errorf("the reference has %d bytes, want at most 16,000 (%v)", whole, err)
	}
}

// TestDocsMakeMarkupOfNoText: the policy keeps text from becoming code or markup.
func TestDocsMakeMarkupOfNoText(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"default-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'", "frame-ancestors 'none'", "form-action 'none'"} {
		if !strings.Contains(web.ReferencePolicy, want) {
			t.Errorf("the policy has no %s: %s", want, web.ReferencePolicy)
		}
	}
	if strings.Contains(web.ReferencePolicy, "unsafe") {
		t.Errorf("the policy is %s", web.ReferencePolicy)
	}
}

// fetched finds what a browser would load from another place.
var fetched = regexp.MustCompile(`(?i)(?:\bsrc\s*=\s*["']?|<link[^>]+href\s*=\s*["']?|@import\s+(?:url\()?["']?|\burl\(\s*["']?|\bimport\s*\(\s*["']|\bfrom\s*["']|\bfetch\(\s*["'])\s*(?:https?:)?//[^\s"')]+`)

func TestDocsNameNoForeignFile(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`<script src="https://cdn.example/x.js">`, `<link rel=stylesheet href='//cdn.example/x.css'>`, `@import "http://x"`, `url(https://x)`, `import("https://x")`} {
		if !fetched.MatchString(bad) {
			t.Errorf("the pattern misses %s", bad)
		}
	}
	err := fs.WalkDir(web.ReferenceFiles, "dist-docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := web.ReferenceFiles.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				return err
			}
		}
		for _, found := range fetched.FindAllString(sampletest.ReadAll(t, r), -1) {
			t.Errorf("%s loads %s", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tags are elements of HTML, and the places where a path may break.
var tags = regexp.MustCompile(`<[^>]*>`)

// wantedOnPage returns the interface's mark and the path and summary of each operation.
func wantedOnPage(t *testing.T) []string {
	t.Helper()
	wanted := []string{`aria-current="page"`}
	var document struct {
		Paths map[string]map[string]struct{ Summary string }
	}
	raw := sampletest.Do(docsServer(t), "GET", "/core/openapi.json", "").Body.Bytes()
	if err := json.Unmarshal(raw, &document); err != nil || len(document.Paths) < 10 {
		t.Fatal(len(document.Paths), err)
	}
	for path, operations := range document.Paths {
		for method, operation := range operations {
			wanted = append(wanted, strings.ToUpper(method)+" "+path+" "+operation.Summary)
		}
	}
	return wanted
}

// TestBrowserRendersDocs opens the page in a real browser, which reports each
// request to another place, and each inline script or style, as a violation of
// the page's policy.
func TestBrowserRendersDocs(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium: install it")
		}
		t.Skip("no chromium on this machine")
	}
	site := httptest.NewServer(docsServer(t))
	defer site.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=10000",
		"--dump-dom", site.URL+"/docs/")
	var console bytes.Buffer
	cmd.Stderr = &console
	page, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &console)
	}
	for _, want := range wantedOnPage(t) {
		if !strings.Contains(tags.ReplaceAllString(string(page), ""), want) && !strings.Contains(string(page), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	for line := range strings.Lines(console.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the page complains: %s", line)
		}
	}
}
