package webtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sensegate/api/web"
	"sensegate/motion/fault"
)

// answer is what the played appliance answers: a file of testdata, or a refusal.
type answer struct {
	file   string         // of testdata
	change map[string]any // of the file's fields
	status int            // 0: 200
	code   string         // of a refusal
}

// answers are what the played appliance answers, by path, "PATH?QUERY" before "PATH".
type answers map[string]answer

// fixed serves the app with answers that are always the same. It is no appliance: what the product
// answers is tested against the product.
func fixed(t *testing.T, of answers) string {
	t.Helper()
	app := web.App(func(*http.Request) error { return fault.New(fault.NotFound, "no such file") })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, known := of[r.URL.RequestURI()]
		if !known {
			a, known = of[r.URL.Path]
		}
		switch {
		case known:
			a.send(t, w)
		case strings.HasPrefix(r.URL.Path, "/web/v1/") || strings.HasPrefix(r.URL.Path, "/api/v1/"):
			t.Errorf("%s %s is asked for, and there is no answer", r.Method, r.URL)
			answer{status: 500}.send(t, w)
		default:
			app.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (a answer) send(t *testing.T, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.status != 0 {
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": a.status, "code": a.code, "detail": "why it is refused"})
		return
	}
	raw, err := os.ReadFile("testdata/" + a.file)
	if err != nil {
		t.Error(err)
		return
	}
	if a.change != nil {
		fields := map[string]any{}
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Error(err)
		}
		for field, value := range a.change {
			fields[field] = value
		}
		raw, _ = json.Marshal(fields) // it was JSON
	}
	_, _ = w.Write(raw)
}

// fixedNow is the time in testdata, s.
const fixedNow = "1764000000"

// stopClock makes fixedNow the time of each page that is opened from now on.
func (b *browser) stopClock() {
	b.beforePages(`{
		const at = ` + fixedNow + `000, Real = Date;
		globalThis.Date = class extends Real {
			constructor(...given) { given.length ? super(...given) : super(at); }
			static now() { return at; }
		};
	}`)
}

// signedIn makes each page that is opened from now on show a proof.
func (b *browser) signedIn() {
	b.beforePages(`location.protocol === "http:" && sessionStorage.setItem("sensegate-proof", "a proof")`)
}

// beforePages runs a script before those of each page that is opened from now on.
func (b *browser) beforePages(script string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.fail(err)
	}
}

// scheme makes the page light or dark, without animations.
func (b *browser) scheme(name string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.fail(err)
	}
}
