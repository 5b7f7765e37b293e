// Package webtest plays people who use the web app in a real browser, against the real
// appliance and the simulated home of the demo. It runs with CI=true; otherwise it is skipped.
package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/demo"
)

// lanName is a name of the appliance in the house; the browser is told where it is.
const lanName = "box.house.test"

// pictureFolder is SENSEGATE_PICTURES, where pictures are kept; "": nowhere.
var pictureFolder string

func TestMain(m *testing.M) {
	pictureFolder = os.Getenv("SENSEGATE_PICTURES")
	os.Unsetenv("SENSEGATE_PICTURES") // the product takes it for a wrong setting
	os.Exit(m.Run())
}

// started is the first line of the demo.
type started struct {
	HTTP  string `json:"http"`
	Page  string `json:"page"`
	Setup string `json:"setup_code"`
}

// play runs the demo until the test ends, and before that the browser.
func play(b *browser, vacant bool) started {
	b.t.Helper()
	return playOn(b, vacant, func(a *appliance.Appliance) demo.Appliance { return a })
}

// playOn is play on what stands between the demo and the appliance.
func playOn(b *browser, vacant bool, between func(*appliance.Appliance) demo.Appliance) (s started) {
	t := b.t
	t.Helper()
	read, write := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- demo.Run(ctx, demo.Config{
			Seed: 1, Speed: 1, JSON: true, Vacant: vacant, Out: write, Log: slog.New(slog.DiscardHandler), HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0",
			Open: func(ctx context.Context, stateDir, http, mqtt string) (demo.Appliance, error) {
				c := appliance.Defaults()
				c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = stateDir, http, mqtt, "", ""
				c.HTTP.Hosts = []string{lanName}
				a, err := appliance.Open(ctx, c, slog.New(slog.DiscardHandler))
				if err != nil {
					return nil, err
				}
				return between(a), nil
			},
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(b.close)
	lines := bufio.NewScanner(read)
	if !lines.Scan() {
		t.Fatalf("the demo says nothing: %v", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	return s
}

// browser is a browser with one page open.
type browser struct {
	t   *testing.T
	ctx context.Context

	close func() // ends it; may be called again

	mu        sync.Mutex
	tolerated []string // of what the page may complain
	said      []string // what the page, its policy or the browser complained of
}

// open starts a browser with a window of a size, and more options.
func open(t *testing.T, width, height int64, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	if os.Getenv("CI") != "true" && !*figures {
		t.Skip("a browser's journey: CI=true go test ./api/web/webtest")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Fatal("no chromium: install it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP "+lanName+" 127.0.0.1"), chromedp.Flag("lang", "en-GB"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	b.tolerate("401 (Unauthorized)") // who is not signed in, or shows a wrong password
	console := chromedp.Console(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for m, err := range console {
			told := strings.Contains(m.Text, "over an insecure connection") // a file over plain http
			if err == nil && !told && (m.IsException() || m.Type != "info") {
				b.complain(m.String())
			}
		}
	}()
	b.resize(width, height)
	b.close = sync.OnceFunc(func() {
		cancel()
		<-heard
	})
	t.Cleanup(func() {
		b.close()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, s := range b.said {
			t.Errorf("the page complains: %s", s)
		}
	})
	return b
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.ContainsFunc(b.tolerated, func(part string) bool { return strings.Contains(text, part) }) {
		b.said = append(b.said, text)
	}
}

// tolerate lets the page complain of what has one of the texts in it.
func (b *browser) tolerate(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tolerated = append(b.tolerated, texts...)
}

func (b *browser) resize(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// do runs actions. When one fails the test ends, and shows the page.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		run(b, action)
	}
}

func (b *browser) fail(err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	page, _ := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("body")))
	b.t.Fatalf("%v; the page is %s", err, page)
}

// read returns the value of a script's expression.
func read[T any](b *browser, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression))
}

// awaited returns what the promise of a script's expression becomes.
func awaited[T any](b *browser, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// run returns what an action gives. When it fails the test ends, and shows the page.
func run[R any](b *browser, action chromedp.Action[R]) R {
	b.t.Helper()
	return step(b, func(ctx context.Context) (R, error) { return chromedp.Run(ctx, action) })
}

// command calls a command of the browser.
func command[P, R any](b *browser, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	return step(b, func(ctx context.Context) (R, error) { return chromedp.Call(ctx, c, params) })
}

// network sets how the page reaches the network. Chromium up to 148 wants offline beside the
// conditions, later ones in them.
func (b *browser) network(conditions network.Conditions) {
	b.t.Helper()
	type params struct {
		Offline bool `json:"offline"`
		network.EmulateNetworkConditionsByRuleParams
	}
	command(b, network.Enable, network.EnableParams{})
	command(b, cdp.Command[params, network.EmulateNetworkConditionsByRuleResult]{Method: network.CommandEmulateNetworkConditionsByRule}, params{
		Offline: conditions.Offline,
		EmulateNetworkConditionsByRuleParams: network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{&conditions},
		},
	})
}

// step has two minutes. A whole test has no limit of its own: how long it takes depends on the machine.
func step[R any](b *browser, take func(context.Context) (R, error)) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	result, err := take(ctx)
	if err != nil {
		b.fail(err)
	}
	return result
}

// waitFor waits until an expression is true.
func (b *browser) waitFor(expression string) {
	b.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(time.Minute); !read[bool](b, expression); <-again.C {
		if time.Now().After(end) {
			b.fail(fmt.Errorf("it is never true that %s", expression))
		}
	}
}

// pictures keeps what is shown as NAME.png in the folder SENSEGATE_PICTURES, if that is set, in
// light and dark, on a phone and on a desk.
func (b *browser) pictures(name string) {
	b.t.Helper()
	if pictureFolder == "" {
		return
	}
	for size, width := range map[string]int64{"phone": 390, "desk": 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.resize(width, 844)
			b.scheme(scheme)
			if err := os.WriteFile(filepath.Join(pictureFolder, name+"-"+size+"-"+scheme+".png"), b.picture(), 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

const sentence = `document.querySelector("h1").textContent`

func TestLinkOfTheDemoOpensALivingHome(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false) // somebody walks in its first seconds: the browser is there
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	if hash := read[string](b, "location.hash"); hash != "" {
		t.Errorf("the code stays in the address: %s", hash)
	}
	if rooms := read[int](b, `document.querySelectorAll(".tile").length`); rooms != 6 {
		t.Errorf("%d rooms, want the six of the demo", rooms)
	}
	b.waitFor(`/^Motion in \w/.test(` + sentence + `) && document.querySelector(".tile.motion .said")?.textContent === "motion"`)
	b.pictures("home")
	if o := read[bool](b, `document.cookie === "" && sessionStorage.length === 1`); !o {
		t.Error("a script sees the cookie, or the proof is elsewhere")
	}
	b.resize(320, 700)
	if wide := read[bool](b, "document.documentElement.scrollWidth > 320"); wide {
		t.Error("at 320 px the page scrolls sideways")
	}
	b.pressMoving(`button[aria-pressed=false]`)
	b.do(chromedp.WaitVisible(chromedp.CSS(`button[aria-pressed=true]:nth-of-type(2)`)))
	b.do(chromedp.Click(chromedp.CSS(`.ways .more summary`)), chromedp.Click(chromedp.CSS(`.ways .more a[href="#/me"]`)))
	b.speak("de")
	b.do(chromedp.Click(chromedp.CSS(`.ways a[href="#/"]`)), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.waitFor(`document.documentElement.lang === "de" && document.querySelector(".people h2").textContent === "Wer da ist"`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	read[string](b, `location.hash = "#/me"`)
	b.do(chromedp.Click(chromedp.CSS("main.screen .who button")), chromedp.WaitVisible(chromedp.CSS("#password")))
	b.pictures("signin")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#password")))
}

func TestSigningInByAPasswordOnALANName(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 800)
	s := play(b, true)
	call := func(path, token, body string, answer any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.HTTP+"/api/v1"+path, strings.NewReader(body))
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
		if err != nil || got.StatusCode >= 300 || got.StatusCode != http.StatusNoContent && json.Unmarshal(raw, answer) != nil {
			t.Fatalf("%s: %d %s %v", path, got.StatusCode, raw, err)
		}
	}
	const credentials = `"email":"mum@example.com","password":"correct horse battery"`
	var tokens struct{ Token string }
	var house struct{ ID int }
	call("/users", "", `{"first_name":"Mum",`+credentials+`,"setup_code":"`+s.Setup+`"}`, &struct{}{})
	call("/sessions?multi=true", "", `{`+credentials+`}`, &tokens)
	at := strings.Replace("http://"+s.HTTP, "127.0.0.1", lanName, 1)
	signIn := func(password string) {
		t.Helper()
		b.do(chromedp.SetValue(chromedp.CSS("#email"), "mum@example.com"), chromedp.SetValue(chromedp.CSS("#password"), password), chromedp.Click(chromedp.CSS("form button.main")))
	}
	b.do(chromedp.Navigate(at), chromedp.WaitVisible(chromedp.CSS("#password")))
	b.waitFor(`document.querySelector(".note")?.textContent.includes("setup code")`)
	signIn("wrong")
	b.waitFor(`document.querySelector(".wrong").textContent.includes("not right")`)
	call("/find", tokens.Token, `{"guardian_id":"a41f00c2d97b4e5580136c2e"}`, &house)
	call("/network_memberships", tokens.Token, fmt.Sprintf(`{"role":"owner","network_id":%d,"setup_code":%q}`, house.ID, s.Setup), &struct{}{})
	signIn("correct horse battery")
	b.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	if read[bool](b, "isSecureContext") {
		t.Error("the name is as good as 127.0.0.1, which hides what plain http lacks")
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	proof := read[string](b, `localStorage.getItem("sensegate-proof")`)
	read[bool](b, `localStorage.clear() === undefined`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#password"))) // the cookie alone opens nothing
	read[bool](b, `localStorage.setItem("sensegate-proof", "`+proof+`") === undefined`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	call("/logout?all=true", tokens.Token, "", nil)
	b.do(chromedp.WaitVisible(chromedp.CSS("#password"))) // a session that was ended elsewhere
}
