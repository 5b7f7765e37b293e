package webtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"sensegate/api/web"
	"sensegate/motion/fault"
)

// answer says what the played appliance answers in the place of what testdata/answers.json has for
// a path: other fields, or a refusal.
type answer struct {
	change map[string]any // of the fields
	status int            // of a refusal
	code   string         // of a refusal
	detail string         // of a refusal; "": why it is refused
}

// answers are answers by path, or by method and path, which go first.
type answers map[string]answer

// of returns what a map by path, or by method and path, has for a request.
func of[T any](all map[string]T, r *http.Request) (found T, known bool) {
	if found, known = all[r.Method+" "+r.URL.Path]; !known {
		found, known = all[r.URL.Path]
	}
	return found, known
}

// fixed serves the app with answers that are always the same: those of testdata/answers.json, but
// for the ones in other. It is no appliance: what the product answers is tested against the product.
func fixed(t *testing.T, other answers) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var usual map[string]json.RawMessage
	if err := json.Unmarshal(raw, &usual); err != nil {
		t.Fatal(err)
	}
	app := web.App(func(*http.Request) error { return fault.New(fault.NotFound, "no such file") })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := of(usual, r)
		a, otherwise := of(other, r)
		switch {
		case r.URL.Path == "/web/v1/live-tickets": // nothing is told live
			answer{status: 503}.send(t, w, nil)
		case otherwise || known:
			a.send(t, w, body)
		case strings.HasPrefix(r.URL.Path, "/web/v1/") || strings.HasPrefix(r.URL.Path, "/api/v1/"):
			t.Errorf("%s %s is asked for, and testdata/answers.json has no answer", r.Method, r.URL)
			answer{status: 500}.send(t, w, nil)
		default:
			app.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (a answer) send(t *testing.T, w http.ResponseWriter, body json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	if a.status != 0 {
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": a.status, "code": a.code, "detail": cmp.Or(a.detail, "why it is refused")})
		return
	}
	if a.change != nil {
		fields := map[string]any{}
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Error(err)
		}
		maps.Copy(fields, a.change)
		body, _ = json.Marshal(fields) // it was JSON
	}
	_, _ = w.Write(body)
}

// fixedNow is the time in testdata/answers.json, s.
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
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// scheme makes the page light or dark, without animations.
func (b *browser) scheme(name string) {
	b.t.Helper()
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}
