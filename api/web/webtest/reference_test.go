package webtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sensegate/api"
	"sensegate/api/web"
)

// opened waits until the reference of an interface is shown.
func (b *browser) opened(address, at string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"/docs/"+at), chromedp.WaitVisible(chromedp.CSS(".operation")))
}

// inside is what is shown of the operation that is open.
const inside = `document.querySelector(".inside:not([hidden])").innerText`

// operationsOf are the operations of a document, as the page shows them, and those that it shows.
const operationsOf = `(async () => {
	const base = new URLSearchParams(location.search).get("at"), doc = await (await fetch(base + "/openapi.json")).json();
	const text = (e) => e.textContent.replace(/\s+/g, " ").trim();
	return {
		want: Object.entries(doc.paths).flatMap(([path, all]) => Object.entries(all).map(([method, o]) =>
			method.toUpperCase() + " " + path + " " + o.summary + ("101" in o.responses ? "websocket" : ""))).sort(),
		got: [...document.querySelectorAll(".operation h3")].map(text).sort(),
		tags: doc.tags.map((t) => t.name), headings: [...document.querySelectorAll("section h2")].map(text),
		empty: [...document.querySelectorAll(".inside")].every((e) => e.childNodes.length === 0),
	};
})()`

// TestReferenceShowsEveryOperation: of each interface of the appliance; what is in an operation is
// made when it is opened, and nothing of it breaks the page's policy.
func TestReferenceShowsEveryOperation(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	address := "http://" + play(b, false).HTTP
	for _, base := range []string{"/core", "/api/v1", "/web/v1"} {
		b.opened(address, "?at="+base)
		type found struct {
			Want, Got, Tags, Headings []string
			Empty                     bool
		}
		f := awaited[found](b, operationsOf)
		if !slices.Equal(f.Want, f.Got) || len(f.Got) < 20 || !slices.Equal(f.Tags, f.Headings) || !f.Empty {
			t.Errorf("%s: the document has %v of %v, the page shows %v of %v; nothing inside: %v", base, f.Want, f.Tags, f.Got, f.Headings, f.Empty)
		}
		read[bool](b, `document.querySelectorAll("h3 button").forEach((e) => e.click()) === undefined`)
		b.waitFor(`[...document.querySelectorAll(".inside")].every((e) => !e.hidden && e.innerText.includes("Answers"))`)
		for range 2 { // schemas, and what is in them
			read[bool](b, `document.querySelectorAll("details:not([open])").forEach((e) => (e.open = true)) === undefined`)
			b.waitFor(`[...document.querySelectorAll("details")].some((e) => e.childNodes.length > 1)`)
		}
		b.fitsNarrow(base + " with everything open")
	}
}

// TestReferenceIsForEverybody: by keyboard, for screen readers, narrow, in light and dark.
func TestReferenceIsForEverybody(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	address := "http://" + play(b, false).HTTP
	for name, at := range map[string]string{
		"a list":      "?at=/core",
		"a form":      "?at=/core#/Network%20meta/post-network-network-id-meta",
		"a body":      "?at=/api/v1#/post/find",
		"a websocket": "?at=/core#/get/network/{network_id}/motion/live",
	} {
		b.opened(address, at)
		if strings.Contains(at, "#") {
			b.waitFor(`document.activeElement.getAttribute("aria-expanded") === "true"`)
			b.waitFor(inside + `.includes("Answers")`)
		}
		if name == "a form" {
			b.do(chromedp.Click(chromedp.CSS(".inside button[type=button]")), chromedp.WaitVisible(chromedp.CSS(".inside textarea")))
			read[bool](b, `document.querySelectorAll("details:not([open])").forEach((e) => (e.open = true)) === undefined`)
		}
		b.isAccessible(name)
		b.fitsNarrow(name)
		b.pictures("reference-" + strings.ReplaceAll(name, " ", "-"))
	}
}

// TestReferenceFindsAndLinks: the search keeps what fits, and the links of swagger-ui, and those by
// method and path, open an operation.
func TestReferenceFindsAndLinks(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 844)
	address := "http://" + play(b, false).HTTP
	const paths = `[...document.querySelectorAll(".operation:not([hidden]) .path")].map((e) => e.textContent).join(" ")`
	b.opened(address, "?at=/core")
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "GET Sleep"))
	b.waitFor(paths + ` === "/insights/v2/{network_id}/sleep"`)
	b.waitFor(`document.querySelector("search [role=status]").textContent === "1 operation found"`)
	read[bool](b, `(location.hash = "#/Node") !== ""`) // a tag
	b.waitFor(`document.activeElement.textContent === "Node"`)
	for _, link := range []string{
		"#/Insights%20v2/get-insights-v2-network-id-sleep", "#/Insights_v2/get-insights-v2-network-id-sleep",
		"#/get/insights/v2/{network_id}/sleep", "#/GET/core/insights/v2/{network_id}/sleep",
	} {
		b.opened(address, "?at=/core"+link)
		b.waitFor(`document.activeElement.getAttribute("aria-expanded") === "true" && document.activeElement.textContent.includes("/insights/v2/{network_id}/sleep")`)
		b.waitFor(inside + `.includes("May be called by: core key")`)
		if n := read[int](b, `document.querySelectorAll("[aria-expanded=true]").length`); n != 1 {
			t.Errorf("%s opens %d operations", link, n)
		}
	}
	b.do(chromedp.KeyEvent("\r"))
	b.waitFor(`document.activeElement.getAttribute("aria-expanded") === "false"`)
	b.do(chromedp.KeyEvent("\r"))
	b.waitFor(`document.activeElement.getAttribute("aria-expanded") === "true" && location.hash === "#/Insights%20v2/get-insights-v2-network-id-sleep"`)
}

// TestReferenceSendsRequests: with the credentials of the page alone, which are kept nowhere.
func TestReferenceSendsRequests(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 844)
	b.tolerate("status of 401", "status of 422")
	address := "http://" + play(b, false).HTTP
	const status = `document.querySelector(".inside:not([hidden]) form [role=status]").textContent`
	send := func(at, secret, want string) {
		t.Helper()
		b.opened(address, at)
		b.do(chromedp.SendKeys(chromedp.CSS("#secret-session"), secret), chromedp.Click(chromedp.CSS(".inside button[type=button]")),
			chromedp.Click(chromedp.CSS(".inside button.main")))
		b.waitFor(status + `.startsWith("Answered ` + want + `") && / in \d+ ms, \d+ bytes/.test(` + status + `)`)
	}
	send("?at=/api/v1#/get/version", "x", "200 OK")
	b.waitFor(`document.querySelector(".inside .body").textContent.startsWith("{")`)
	if headers := read[string](b, `document.querySelector(".inside form details pre").textContent`); !strings.Contains(headers, "content-type: application/json") {
		t.Errorf("headers %s", headers)
	}
	send("?at=/api/v1#/get/networks", "a secret", "401 Unauthorized")
	if curl := read[string](b, `document.querySelector(".inside .curl").textContent`); curl != "curl '"+address+"/api/v1/networks' \\\n  -H \"Authorization: Bearer $TOKEN\"" {
		t.Errorf("the command is %s", curl)
	}
	read[bool](b, `document.querySelector(".inside form").scrollIntoView() === undefined`)
	b.pictures("reference-refused")
	send("?at=/api/v1#/post/sessions", "x", "4") // the account of the example is none
	if curl := read[string](b, `document.querySelector(".inside .curl").textContent`); !strings.Contains(curl, "curl -X POST '") || !strings.Contains(curl, `--data-raw '{`) {
		t.Errorf("the command is %s", curl)
	}
	if kept := read[bool](b, `localStorage.length + sessionStorage.length > 0 || document.cookie !== "" || location.href.includes("secret")`); kept {
		t.Error("the page keeps something")
	}
}

// strange is a document with what could harm a page, and what no document of ours has.
const strange = `{"openapi": "3.1.0", "info": {"title": "<i>T</i>", "version": "1", "description": "| a | b |\n|---|---|\n| <img src=x onerror=alert(1)> | **x** |\n\n1. one\n2. [bad](javascript:alert(1)) [good](/docs/)"},
 "components": {"schemas": {"Tree": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 5}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}},
  "securitySchemes": {"own": {"type": "apiKey", "in": "header", "name": "X-Key"}, "token": {"type": "http", "scheme": "bearer"}}},
 "paths": {"/a/{b}": {"parameters": [{"name": "b", "in": "path", "required": true, "schema": {"type": "string", "examples": ["it's/ $1"]}}],
  "put": {"operationId": "<b>", "security": [{"own": []}], "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}, "responses": {"204": {"description": "</script><script>alert(1)</script>"}}},
  "delete": {"operationId": "d", "security": [{"token": []}], "responses": {"204": {"description": "Gone"}}}}}}`

// TestReferenceBearsStrangeDocuments: no text becomes markup or a script, a schema may be a part of
// itself, and a secret goes into the header that the document names, without a cookie.
func TestReferenceBearsStrangeDocuments(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 844)
	asked := make(chan *http.Request, 1)
	mux := http.NewServeMux()
	mux.Handle("/docs/", web.Reference(api.Interface{Title: "<b>", Base: "/x"}))
	mux.HandleFunc("/x/openapi.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strange)) })
	mux.HandleFunc("/x/a/", func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.WriteHeader(http.StatusNoContent)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	b.opened(s.URL, "#/put/a/{b}")
	b.waitFor(`document.querySelector("td").textContent === "<img src=x onerror=alert(1)>" && document.querySelectorAll("ol li").length === 2`)
	if links := read[[]string](b, `[...document.querySelectorAll("ol a")].map((a) => a.getAttribute("href"))`); !slices.Equal(links, []string{"/docs/"}) {
		t.Errorf("links to %v", links)
	}
	b.isAccessible("a table")
	for range 3 {
		n := read[int](b, `document.querySelectorAll(".shape details").length`)
		read[bool](b, `document.querySelectorAll(".shape details:not([open])").forEach((e) => (e.open = true)) === undefined`)
		b.waitFor(`document.querySelectorAll(".shape details").length === ` + string(rune('1'+n)))
	}
	read[string](b, `document.cookie = "session=1"`)
	send := func(field, secret string) *http.Request {
		t.Helper()
		b.do(chromedp.SendKeys(chromedp.CSS(field), secret), chromedp.Click(chromedp.CSS(".inside:not([hidden]) button[type=button]")),
			chromedp.Click(chromedp.CSS(".inside:not([hidden]) button.main")))
		b.waitFor(`document.querySelector(".inside:not([hidden]) form [role=status]").textContent.startsWith("Answered 204")`)
		return <-asked
	}
	r := send("#secret-own", "k")
	if r.Header.Get("X-Key") != "k" || r.URL.Path != "/x/a/it's/ $1" || r.Method != http.MethodPut || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	want := `'` + s.URL + `/x/a/it'\''s%2F%20%241' \` + "\n" + `  -H "X-Key: $TOKEN"`
	if curl := read[string](b, `document.querySelector(".curl").textContent`); !strings.Contains(curl, want) {
		t.Errorf("the command is %s, want %s in it", curl, want)
	}
	b.opened(s.URL, "#/delete/a/{b}")
	if r := send("#secret-token", "Bearer t"); r.Method != http.MethodDelete || r.Header.Get("Authorization") != "Bearer t" || r.Header.Get("Cookie") != "" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
}

// TestReferenceSaysWhatIsMissing: a document that does not come, and JavaScript.
func TestReferenceSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("status of 503")
	raw, err := os.ReadFile(filepath.Join("..", "..", "core", "openapi.json"))
	if err != nil || !json.Valid(raw) {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/docs/", web.Reference(api.Interface{Title: "Core", Base: "/core"}))
	mux.HandleFunc("/core/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-ready:
			_, _ = w.Write(raw)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	b.do(chromedp.Navigate(s.URL+"/docs/"), chromedp.WaitVisible(chromedp.CSS("main button")))
	b.waitFor(`document.querySelector("[role=alert]").textContent.includes("answers 503")`)
	b.isAccessible("no document")
	close(ready)
	b.do(chromedp.Click(chromedp.CSS("main button")), chromedp.WaitVisible(chromedp.CSS(".operation")))
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/docs/"), chromedp.WaitVisible(chromedp.CSS("noscript p")))
	if link := run(b, chromedp.AttributeValue(chromedp.CSS("noscript a"), "href")); link.Value != "/core/openapi.json" {
		t.Errorf("the document is at %q", link.Value)
	}
}
