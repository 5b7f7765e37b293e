package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"sensegate/api/appliance/box"
	"sensegate/firmware-sim/sim"
)

// openHome opens the app at the demo's home.
func openHome(t *testing.T) (*browser, started) {
	t.Helper()
	b := open(t, 390, 844)
	b.tolerate("net::", "WebSocket", "404 (Not Found)")
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	return b, s
}

const banner = `(document.querySelector(".banner")?.textContent ?? "")`

// TestSigningOutEndsAllTabs: two tabs have one session; who signs out in one is out in the other.
func TestSigningOutEndsAllTabs(t *testing.T) {
	t.Parallel()
	b, s := openHome(t)
	proof := read[string](b, `sessionStorage.getItem("sensegate-proof")`)
	other := b.tab("http://"+s.HTTP, proof)
	b.do(chromedp.Navigate("http://"+s.HTTP+"/#/me"), chromedp.WaitVisible(chromedp.CSS("main.screen button")))
	read[bool](b, `([...document.querySelectorAll("main.screen button")].find((e) => e.textContent === "Sign out").click(), true)`)
	b.do(chromedp.WaitVisible(chromedp.CSS("#password")))
	other.do(chromedp.WaitVisible(chromedp.CSS("#password")))
}

// TestDemoCodeOpensOnce: the link of the demo signs in once.
func TestDemoCodeOpensOnce(t *testing.T) {
	t.Parallel()
	b, s := openHome(t)
	read[bool](b, `(sessionStorage.clear(), true)`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS("#password")))
	if hash := read[string](b, "location.hash"); hash != "" {
		t.Errorf("the code stays in the address: %s", hash)
	}
}

// TestLostNetworkComesBack: without a network the page says since when what it shows is old, and
// with one it is fresh by itself.
func TestLostNetworkComesBack(t *testing.T) {
	t.Parallel()
	b, _ := openHome(t)
	// An open websocket outlives an emulated loss: the page is made to believe that a night has
	// passed since it heard something, as on a phone that wakes up.
	b.network(network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	read[bool](b, `(globalThis.Date.now = ((real) => () => real() + 9 * 3600_000)(Date.now), document.dispatchEvent(new Event("visibilitychange")), true)`)
	b.waitFor(banner + `.includes("As of ")`)
	b.network(network.Conditions{DownloadThroughput: -1, UploadThroughput: -1})
	read[bool](b, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
	b.waitFor(banner + ` === "" && document.querySelector(".truth h1") !== null`)
	b.waitFor(`!/hour/.test(` + sentence + `)`)
}

// TestSetClockOfThePhone: the phone's clock jumps, and soon ages are those of the appliance again,
// with live motion and without.
func TestSetClockOfThePhone(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]string{"forward": "+ 86400_000", "back": "- 86400_000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := openHome(t)
			set := `(globalThis.Date.now = ((real) => () => real() ` + jump + `)(Date.now), true)`
			read[bool](b, set)
			b.waitFor(`!/day|hour/.test(` + sentence + `) && ` + banner + ` === ""`)
			b.waitFor(`[...document.querySelectorAll(".tile .said")].every((e) => !/ days? /.test(e.textContent))`)
			b.signedIn()
			b.do(chromedp.Navigate(fixed(t, nil)), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
			read[bool](b, set)
			b.waitFor(`performance.getEntriesByName(location.origin + "/web/v1/overview").length > 1`) // it was asked anew
			b.waitFor(sentence + ` === "Quiet for 14 minutes"`)
		})
	}
}

// TestWithoutJavaScript: a sentence says what is missing, and where the interface is.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(fixed(t, nil)), chromedp.WaitVisible(chromedp.CSS("noscript p")))
	if text := run(b, chromedp.Text(chromedp.CSS("noscript p"))); !strings.Contains(text, "needs JavaScript") {
		t.Errorf("%q", text)
	}
	if link := run(b, chromedp.AttributeValue(chromedp.CSS("noscript a"), "href")); link.Value != "/docs/" {
		t.Errorf("the interface is at %q", link.Value)
	}
}

// TestNeighbourServiceLearnsNothing: a service on another port of the same host is sent the cookie,
// and can do nothing with it; its page reads none of the app's storage and none of its answers.
func TestNeighbourServiceLearnsNothing(t *testing.T) {
	t.Parallel()
	b, s := openHome(t)
	proof := read[string](b, `sessionStorage.getItem("sensegate-proof")`)
	read[bool](b, `(localStorage.setItem("sensegate-proof", "`+proof+`"), true)`)
	var got atomic.Value
	neighbour := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			got.Store(r.Header.Get("Cookie"))
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>neighbour</title><h1>neighbour</h1>")
	}))
	t.Cleanup(neighbour.Close)
	b.tolerate("CORS", "403", "Failed to load resource")
	b.do(chromedp.Navigate(neighbour.URL), chromedp.WaitVisible(chromedp.CSS("h1")))
	cookie, _ := got.Load().(string)
	if cookie == "" {
		t.Fatal("the browser sends the cookie to one port alone: this test tries nothing")
	}
	for name, header := range map[string]http.Header{
		"the cookie alone":          {"Cookie": {cookie}},
		"the cookie, a wrong proof": {"Cookie": {cookie}, "X-Sensegate": {strings.Repeat("A", len(proof))}},
		"the proof alone":           {"X-Sensegate": {proof}},
	} {
		for _, path := range []string{"/web/v1/overview", "/api/v1/users/self"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTP+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = header
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s opens %s: %d", name, path, answer.StatusCode)
			}
		}
	}
	if found := read[string](b, `String(localStorage.getItem("sensegate-proof")) + sessionStorage.getItem("sensegate-proof") + document.cookie`); found != "nullnull" {
		t.Errorf("the neighbour's page reads %q", found)
	}
	for name, ask := range map[string]string{
		"an answer": `fetch("http://` + s.HTTP + `/web/v1/overview", {credentials: "include"})`,
		"a write":   `fetch("http://` + s.HTTP + `/web/v1/session", {method: "DELETE", credentials: "include", headers: {"X-Sensegate": "` + proof + `"}})`,
		"a websocket": `new Promise((yes, no) => { const w = new WebSocket("ws://` + s.HTTP + `/api/v1/motions", ["sensegate.v1", "ticket.none"]);
			w.onopen = () => yes("open"); w.onerror = () => no("refused"); })`,
	} {
		if outcome := awaited[string](b, ask+`.then(() => "done", () => "refused")`); outcome != "refused" {
			t.Errorf("the neighbour's page: %s: %s", name, outcome)
		}
	}
	b.do(chromedp.Navigate("http://"+s.HTTP), chromedp.WaitVisible(chromedp.CSS(".truth h1"))) // the session goes on
}

// newHousehold runs the real binary with a simulated home, and opens the app as its owner.
func newHousehold(t *testing.T) (b *browser, line []string, dir string, p *box.Process) {
	t.Helper()
	b, line, dir = open(t, 390, 844), []string{box.Build(t), "serve"}, t.TempDir()
	b.tolerate("net::", "WebSocket", "503 (Service Unavailable)", "404 (Not Found)")
	p = box.Start(t, box.Setup{Dir: dir, Line: line})
	house, err := sim.New(sim.Config{Seed: 1, Speed: 1, Log: slog.New(slog.DiscardHandler), Home: sim.NewHome(0), Gatekeeper: "http://" + p.HTTP + "/gatekeeper"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- house.Run(ctx) }()
	t.Cleanup(func() {
		b.close()
		stop()
		<-ended // its appliance may be gone before it
	})
	select {
	case <-house.Ready():
	case <-time.After(box.Patience):
		t.Fatal("the simulated home does not begin")
	}
	code, _, _ := strings.Cut(box.Administer(t, line[0], dir, "setup-code"), "\n")
	const credentials = `"email":"mum@example.com","password":"correct horse battery"`
	var tokens struct{ Token string }
	var home struct{ ID int }
	post(t, p, "/users", "", `{"first_name":"Mum",`+credentials+`,"setup_code":"`+code+`"}`, &struct{}{})
	post(t, p, "/sessions?multi=true", "", `{`+credentials+`}`, &tokens)
	post(t, p, "/find", tokens.Token, `{"guardian_id":"a41f00c2d97b4e5580136c2e"}`, &home)
	post(t, p, "/network_memberships", tokens.Token, fmt.Sprintf(`{"role":"owner","network_id":%d,"setup_code":%q}`, home.ID, code), &struct{}{})
	b.do(chromedp.Navigate("http://"+p.HTTP), chromedp.WaitVisible(chromedp.CSS("#password")),
		chromedp.SetValue(chromedp.CSS("#email"), "mum@example.com"), chromedp.SetValue(chromedp.CSS("#password"), "correct horse battery"),
		chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	return b, line, dir, p
}

// post calls an operation of the App interface.
func post(t *testing.T, p *box.Process, path, token, body string, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.HTTP+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 || json.Unmarshal(raw, answer) != nil {
		t.Fatalf("%s: %d %s %v", path, got.StatusCode, raw, err)
	}
}

// TestPageOutlivesTheAppliance: the appliance is killed under the page, started again, and started
// with too little room on its disk. The page says what is wrong, and is fresh again by itself.
func TestPageOutlivesTheAppliance(t *testing.T) {
	t.Parallel()
	b, line, dir, p := newHousehold(t)
	again := func(more ...string) {
		t.Helper()
		p = box.Start(t, box.Setup{Dir: dir, Line: line, Environment: append(more, "SENSEGATE_HTTP_LISTEN="+p.HTTP, "SENSEGATE_MQTT_LISTEN="+p.MQTT)})
	}
	const switches = `[...document.querySelectorAll(".scene button")]`
	p.Kill()
	b.waitFor(banner + `.includes("As of ")`)
	again()
	b.waitFor(banner + ` === ""`)
	p.Stop()
	again("SENSEGATE_STORE_MIN_FREE=1000000GiB")
	b.waitFor(banner + `.includes("too little room") && ` + switches + `.every((e) => e.disabled)`)
	p.Stop()
	again()
	b.waitFor(banner + ` === "" && ` + switches + `.every((e) => !e.disabled)`)
}
