package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
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
	for _, path := range []string{"/docs", "/docs/", "/docs/docs.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/LICENSE.txt"} {
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
	packed := sampletest.Do(s, "GET", "/docs/swagger-ui.css", "", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, plain := sampletest.ReadAll(t, z), sampletest.Do(s, "GET", "/docs/swagger-ui.css", "").Body.String(); got != plain || len(plain) < 100_000 {
		t.Errorf("%d bytes packed, %d plain", len(got), len(plain))
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
	err := fs.WalkDir(web.ReferenceFiles, "reference", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".md") {
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
	for _, want := range []string{"Find by meta", "/network/{id}/live", `aria-current="page"`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	for line := range strings.Lines(console.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the page complains: %s", line)
		}
	}
}
