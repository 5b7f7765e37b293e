package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	got, err := testInterface(noLive()).Document()
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current; look at the change and run go test ./api -update", path)
	}
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	w := do(s, "GET", "/core/openapi.json", "")
	wantStatus(t, w, http.StatusOK)
	again, err := testInterface(noLive()).Document()
	if err != nil || !bytes.Equal(w.Body.Bytes(), again) {
		t.Error("the document is not the same each time")
	}
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	if strings.Contains(w.Body.String(), "$schema") {
		t.Error("answers link to schemas")
	}
	guarded, open := doc.Paths.Find("/whoami").Get, doc.Paths.Find("/device").Put
	if guarded.Security == nil || len(*guarded.Security) != 1 || !strings.Contains(guarded.Description, "core key") {
		t.Errorf("who may call is not in the document: %+v", guarded)
	}
	if open.Security != nil {
		t.Errorf("an operation for anyone asks for %v", open.Security)
	}
	if live := doc.Paths.Find("/network/{id}/live").Get; live.Responses.Value("101") == nil {
		t.Error("the websocket has no answer 101")
	}
}

func docsServer(t *testing.T) *Server {
	s, _ := testServer(t, noLive())
	s.Docs()
	return s
}

func TestDocsAreServedFromHere(t *testing.T) {
	t.Parallel()
	s := docsServer(t)
	for _, path := range []string{"/docs", "/docs/", "/docs/docs.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/LICENSE.txt"} {
		w := do(s, "GET", path, "", "Accept-Encoding", "gzip")
		wantStatus(t, w, http.StatusOK)
		if w.Header().Get("Content-Security-Policy") != docsPolicy || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	wantJSON(t, do(s, "GET", "/docs/interfaces.json", ""), `[{"title":"Test","base":"/core"}]`)
	for _, path := range []string{"/docs/nothing", "/docs/../docs.go", "/docs/%2e%2e/docs.go", "/docs//"} {
		if w := do(s, "GET", path, ""); w.Code == http.StatusOK && path != "/docs//" {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	packed := do(s, "GET", "/docs/swagger-ui.css", "", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, plain := readAll(t, z), do(s, "GET", "/docs/swagger-ui.css", "").Body.String(); got != plain || len(plain) < 100_000 {
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
	err := fs.WalkDir(docsFiles, "docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".md") {
			return err
		}
		f, err := docsFiles.Open(path)
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
		for _, found := range fetched.FindAllString(readAll(t, r), -1) {
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
	server := httptest.NewServer(docsServer(t))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=10000",
		"--dump-dom", server.URL+"/docs/")
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
