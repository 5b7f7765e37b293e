package webtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sensegate/api/appliance/box"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

// newBox runs the real binary, that nobody has set up, and opens no page yet. The setup code is
// that of its terminal, more are variables of its environment.
func newBox(t *testing.T, more ...string) (b *browser, p *vacant) {
	t.Helper()
	b = open(t, 390, 844)
	b.tolerate("net::", "WebSocket", "503 (Service Unavailable)", "404 (Not Found)", "422 (Unprocessable")
	p = &vacant{t: t, line: []string{box.Build(t), "serve"}, dir: t.TempDir()}
	p.Process = box.Start(t, box.Setup{Dir: p.dir, Line: p.line, Environment: p.environment(more...)})
	code, _, _ := strings.Cut(box.Administer(t, p.line[0], p.dir, "setup-code"), "\n")
	p.code = strings.TrimSpace(code)
	return b, p
}

// vacant is an appliance without an owner.
type vacant struct {
	*box.Process

	t    *testing.T
	line []string
	dir  string
	code string
}

func (p *vacant) environment(more ...string) []string {
	return append(more, "SENSEGATE_HTTP_HOSTS="+lanName)
}

// again starts the appliance anew at its addresses, after it was killed.
func (p *vacant) again() {
	p.t.Helper()
	p.Kill()
	p.Process = box.Start(p.t, box.Setup{Dir: p.dir, Line: p.line, Environment: p.environment("SENSEGATE_HTTP_LISTEN="+p.HTTP, "SENSEGATE_MQTT_LISTEN="+p.MQTT)})
}

// page returns the address of the app, at a host name.
func (p *vacant) page(host string) string {
	return "http://" + strings.Replace(p.HTTP, "127.0.0.1", host, 1)
}

// plugIn lets a simulated home ask for the appliance until the test ends. It does not wait for it.
func (p *vacant) plugIn(b *browser, index int) *sim.Sim {
	t := p.t
	t.Helper()
	home := sim.NewHome(index)
	now := time.Now()
	home.Local = time.FixedZone("night", int(time.Date(2026, time.March, 11, 1, 30, 0, 0, time.UTC).Sub(now)/time.Second)) // the residents sleep
	still := func(sim.Home, motion.Time) sim.Scene { return sim.Scene{} }
	house, err := sim.New(sim.Config{Seed: 1, Speed: 1, Log: slog.New(slog.DiscardHandler), Home: home, Scene: still, Gatekeeper: "http://" + p.HTTP + "/gatekeeper"})
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
	return house
}

// hand counts what a person does with a page.
type hand struct {
	*browser
	taps, typed int
}

// tap taps what says a text, once it can be tapped.
func (h *hand) tap(text string) {
	h.t.Helper()
	h.taps++
	h.pressShown(text)
}

// types fills in a field, which takes a tap as well.
func (h *hand) types(selector, text string) {
	h.t.Helper()
	h.taps++
	h.typed++
	h.enter(selector, text)
}

// at waits until a step of the first run is shown.
func (h *hand) at(title string) {
	h.t.Helper()
	h.waitFor(fmt.Sprintf(`document.querySelector("h1")?.textContent === %q && document.activeElement === document.querySelector("h1")`, title))
}

// shot keeps a picture of the whole page as a phone shows it, and holds it against the rules for
// every screen.
func (b *browser) shot(name string) {
	b.t.Helper()
	if n := read[int](b, `document.querySelectorAll("h1").length`); n != 1 {
		b.t.Errorf("%s: %d h1, want one", name, n)
	}
	for _, v := range b.violations() {
		b.t.Errorf("%s: %s: %s\n\t%s", name, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
	b.fitsNarrow(name)
	if pictureFolder == "" {
		return
	}
	b.resize(390, 844)
	for _, scheme := range []string{"dark", "light"} {
		b.scheme(scheme)
		tall := read[int64](b, `Math.max(844, document.documentElement.scrollHeight)`)
		b.resize(390, tall)
		if err := os.WriteFile(filepath.Join(pictureFolder, name+"-"+scheme+".png"), b.picture(), 0o644); err != nil {
			b.t.Fatal(err)
		}
		b.resize(390, 844)
	}
}

// account makes the account of somebody who has the setup code.
func (h *hand) account(name, email string) {
	h.t.Helper()
	h.at("Make your account")
	h.types("#name", name)
	h.types("#email", email)
	h.types("#password", secretWord)
	h.tap("Go on")
}

// TestFirstRun: from the QR code to the first motion, on loopback and on a name of the LAN, where a
// browser allows a page less.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", lanName} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			firstRun(t, host)
		})
	}
}

func firstRun(t *testing.T, host string) {
	b, p := newBox(t)
	h := &hand{browser: b}
	began := time.Now()
	b.do(chromedp.Navigate(p.page(host)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	if at := read[string](b, "location.pathname + location.search + location.hash"); at != "/#/setup" {
		t.Errorf("the code stays in the address: %s", at)
	}
	h.at("Make your account")
	b.shot("2-account")
	h.account("Robin", "robin@example.com")
	h.at("Waiting for the gateway")
	b.shot("3-waiting")
	house := p.plugIn(b, 0)
	h.at("One home was found")
	b.waitFor(`/3 of 3 devices online/.test(document.body.innerText)`)
	b.shot("3-home")
	h.tap("This is the home")
	h.at("Plug in the devices")
	b.waitFor(`document.querySelectorAll(".su-device").length >= 12`)
	b.shot("4-devices")
	if said := read[string](b, `document.querySelector(".su-part:last-of-type").innerText`); strings.Contains(said, "No room yet") || strings.Contains(said, "As many links") || strings.Contains(said, "Name and room") {
		t.Errorf("of devices that are fine step 4 says %q", said)
	}
	h.tap("Go on")
	h.at("Which room is each device in?")
	b.waitFor(`document.querySelectorAll(".fr-devices select").length >= 12 && document.querySelector("[aria-busy=true]") === null`)
	b.shot("5-rooms")
	h.rooms(map[string]string{"GWA1000133": "Living room", "EXA1000134": "Hallway", "EXA1000135": "Office"})
	h.tap("Go on")
	h.walk(house)
	h.at("Who lives here?")
	b.shot("7-whose")
	h.tap("My home")
	b.waitFor(`document.querySelector(".fr-alive") !== null && !document.querySelector("[aria-busy=true]")`)
	b.waitFor(`/^(Quiet|Motion)/.test(` + sentence + `)`)
	b.shot("8-alive")
	house.Visit(sim.Walk{Who: sim.Visitor, Location: "Kitchen", From: 0, To: 60, Vigour: 1})
	b.waitFor(sentence + `.startsWith("Motion in Kitchen")`)
	b.shot("8-motion")
	b.do(chromedp.Reload())
	b.waitFor(`document.querySelector(".fr-alive") !== null && /^(Quiet|Motion)/.test(` + sentence + `)`)
	took := time.Since(began)
	if h.taps > 25 || h.typed > 6 || took > 90*time.Second {
		t.Errorf("the first run took %d taps, %d typed fields and %s, want at most 25, 6 and 90 s", h.taps, h.typed, took)
	}
	t.Logf("%d taps, %d typed fields, %s", h.taps, h.typed, took)
	h.tap("Open the home")
	b.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.waitFor(`document.querySelector(".fr-note") === null && document.querySelectorAll(".tile").length >= 5`)
	b.goToLink("setup")
	h.at("Nothing is left to set up")
}

// rooms chooses the rooms of devices, by their names.
func (h *hand) rooms(of map[string]string) {
	h.t.Helper()
	for device, room := range of {
		h.taps += 2
		read[bool](h.browser, fmt.Sprintf(`(() => {
			const label = [...document.querySelectorAll(".fr-devices label")].find((l) => l.textContent === %q);
			const choice = document.getElementById(label.htmlFor);
			choice.value = %q;
			return choice.dispatchEvent(new Event("change", {bubbles: true}));
		})()`, device, room))
	}
}

// walk walks through the kitchen while the walk test looks, and skips the other rooms.
func (h *hand) walk(house *sim.Sim) {
	h.t.Helper()
	h.at("Walk through each room")
	h.waitFor(`document.querySelectorAll(".su-rooms label").length === 6`)
	h.shot("6-walk")
	for _, room := range []string{"Bathroom", "Bedroom", "Hallway"} {
		h.taps++
		read[bool](h.browser, `[...document.querySelectorAll(".su-rooms label")].find((l) => l.textContent.trim() === "`+room+`").click() === undefined`)
	}
	h.tap("Start in Kitchen")
	h.waitFor(`document.querySelector(".su-now.su-walking") !== null`)
	h.shot("6-walking")
	house.Visit(sim.Walk{Who: sim.Visitor, Location: "Kitchen", From: 0, To: 20, Vigour: 1})
	h.waitFor(`document.querySelector(".su-now.su-seen") !== null`)
	h.shot("6-seen")
	h.tap("End the test")
	h.waitFor(`document.querySelector(".su-results .su-seen") !== null`)
	h.shows("Start in Living room") // what was not seen yet
	h.shot("6-done")
	h.tap("Go on")
}

// TestFirstRunBadCodes: a wrong code is told before anything else is asked for, and five of them make
// everybody wait.
func TestFirstRunBadCodes(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	h := &hand{browser: b}
	b.tolerate("429 (Too Many")
	b.do(chromedp.Navigate(p.page(lanName)+"/#setup=7K2M-Q9XA-04TZ"), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.at("Make your account")
	b.shows("This setup code is not right")
	b.do(chromedp.WaitVisible(chromedp.CSS("#code")))
	b.shot("1-wrong-link")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.page(lanName)), chromedp.WaitVisible(chromedp.CSS("h1")))
	read[bool](b, `sessionStorage.clear() === undefined`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#password")))
	b.shot("0-unclaimed")
	h.tap("Set it up")
	h.at("Enter the setup code")
	b.shot("1-code")
	h.types("#code", p.code)
	h.tap("Go on")
	h.at("Make your account")
	h.types("#name", "Robin")
	h.tap("Enter another code")
	h.at("Enter the setup code")
	h.types("#code", "7K2M-Q9XA-04TZ")
	h.tap("Go on")
	b.shows("This setup code is not right")
	b.shot("1-wrong")
	for range 3 {
		b.waitFor(`document.querySelector("button.main").disabled === false`)
		h.tap("Go on")
	}
	b.waitFor(`document.querySelector("button.main").disabled === false`)
	h.tap("Go on")
	b.waitFor(`/Too many attempts. Try again in \d+ s/.test(document.body.innerText)`)
	b.shot("1-throttled")
	h.at("Enter the setup code")
}

// TestFirstRunGoesOn: after a restart of the box, a reload and on another phone, the setup goes on
// where it was.
func TestFirstRunGoesOn(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	other := open(t, 390, 844)
	other.tolerate("net::", "WebSocket", "404 (Not Found)")
	t.Cleanup(other.close)
	h, second := &hand{browser: b}, &hand{browser: other}
	p.plugIn(b, 0)
	b.do(chromedp.Navigate(p.page(lanName)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.account("Robin", "robin@example.com")
	h.at("One home was found")
	b.do(chromedp.Reload())
	h.at("One home was found")
	h.tap("This is the home")
	h.at("Plug in the devices")
	p.again()
	b.waitFor(`document.querySelector(".su-window button:not([disabled])") !== null`)
	b.do(chromedp.Reload())
	h.at("Plug in the devices")

	other.do(chromedp.Navigate(p.page(lanName)))
	other.signIn("robin@example.com")
	other.shows("This home is not set up yet. Next: Devices.")
	other.shot("unfinished")
	read[bool](other, `document.querySelector(".fr-note a").click() === undefined`)
	second.at("Plug in the devices")
	second.tap("Go on")
	second.at("Which room is each device in?")
	h.at("Which room is each device in?") // the first phone follows
	h.tap("Back")
	second.at("Plug in the devices")
	second.tap("Go on")
	second.at("Which room is each device in?")
	other.waitFor(`document.querySelectorAll(".fr-devices select").length >= 12`)
	second.rooms(map[string]string{"GWA1000133": "Garage"})
	second.tap("Go on")
	other.shows("No link leads through: Garage.")
	other.shot("5-unserved")
	second.tap("Go on anyway")
	second.at("Walk through each room")
}

// TestFirstRunOfTwo: the code works for one of two installers; the other is told, and so is one
// who comes too late for a home.
func TestFirstRunOfTwo(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	late := open(t, 390, 844)
	late.tolerate("404 (Not Found)", "422 (Unprocessable", "409 (Conflict")
	t.Cleanup(late.close)
	first, second := &hand{browser: b}, &hand{browser: late}
	p.plugIn(b, 0)
	p.plugIn(b, 1)
	for _, page := range []*browser{b, late} {
		page.do(chromedp.Navigate(p.page(lanName)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	}
	first.account("Robin", "robin@example.com")
	second.account("Kim", "kim@example.com")
	late.shows("This setup code is not right, or somebody has used it.")
	first.at("Which home is it?")
	b.waitFor(`document.querySelectorAll(".fr-choice label").length === 2`)
	b.shot("3-which")

	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte(secretWord+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	box.Administer(t, p.line[0], p.dir, "user", "create", "-password-file", secret, "kim@example.com")
	late.pressShown("I have an account")
	late.enter("#email", "kim@example.com")
	late.enter("#password", secretWord)
	late.pressShown("Go on")
	second.at("Which home is it?")
	// What the second sees is of before, until their own claim has an answer.
	read[bool](late, `(() => {
		const real = window.fetch;
		let open;
		const gate = new Promise((done) => (open = done));
		window.fetch = (path, options) => path === "/web/v1/setup" ? gate.then(() => real(path, options)) : path === "/web/v1/setup/claim" ? real(path, options).finally(open) : real(path, options);
		return true;
	})()`)
	for _, page := range []*browser{b, late} {
		page.waitFor(`document.querySelectorAll(".fr-choice label").length === 2`)
		read[bool](page, `[...document.querySelectorAll(".fr-choice label")].find((l) => l.textContent.includes("GWA1000143")).click() === undefined`)
	}
	first.tap("This is the home")
	first.at("Plug in the devices")
	late.pressShown("This is the home")
	late.shows("Somebody has taken this home a moment ago.")
	late.shows("One home was found")
	late.shot("3-taken")
}

// TestFirstRunWithoutAGateway: nothing comes, and after a minute the page says what to check; a
// clock that is far off is told.
func TestFirstRunWithoutAGateway(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	h := &hand{browser: b}
	b.beforePages(`{ // a minute passes ten times as fast, and the phone's clock is a day ahead
		const wait = globalThis.setTimeout, real = Date.now;
		globalThis.setTimeout = (fn, ms, ...rest) => wait(fn, ms === 60_000 ? 6_000 : ms, ...rest);
		Date.now = () => real() + 86_400_000;
	}`)
	b.do(chromedp.Navigate(p.page(lanName)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	command(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/Toronto"})
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.account("Robin", "robin@example.com")
	h.at("Waiting for the gateway")
	b.shows("Nothing heard yet. Please check:")
	b.shows(p.page(lanName) + "/gatekeeper")
	b.shot("3-nothing")
	p.plugIn(b, 0)
	h.at("One home was found")
	b.shows("The clock of the box is wrong, or that of this phone")
	if zone := read[string](b, `document.querySelector("#zone").value`); zone != "America/Toronto" {
		t.Errorf("the proposed zone is %s, want the browser's", zone)
	}
	b.shot("3-clock")
}

// status asks an operation of the app as the page's session, and returns the status.
func (b *browser) status(method, path string) int {
	b.t.Helper()
	return awaited[int](b, fmt.Sprintf(
		`fetch(%q, {method: %q, headers: {"X-Sensegate": localStorage.getItem("sensegate-proof")}}).then((a) => a.status)`, path, method))
}

// TestHandOver: the installer hands the home to somebody whose phone is in another time zone, stays
// for some days without seeing motion, and is sent away by the new owner.
func TestHandOver(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	mum := open(t, 390, 844)
	mum.tolerate("net::", "WebSocket", "404 (Not Found)")
	t.Cleanup(mum.close)
	h, o := &hand{browser: b}, &hand{browser: mum}
	p.plugIn(b, 0)
	b.do(chromedp.Navigate(p.page(lanName)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.account("Robin", "robin@example.com")
	h.at("One home was found")
	home := 1
	h.tap("This is the home")
	h.at("Plug in the devices")
	h.tap("Go on")
	h.at("Which room is each device in?")
	h.tap("Go on")
	h.at("Walk through each room")
	b.waitFor(`document.querySelector(".su-walk") !== null`)
	h.tap("Go on without")
	h.at("Who lives here?")
	h.tap("3 days")
	h.tap("Show the code")
	b.do(chromedp.WaitVisible(chromedp.CSS("svg.qr")))
	b.shot("7-code")
	link := read[string](b, `document.querySelector(".copy input").value`)
	if !strings.HasSuffix(link, "&as=owner") {
		t.Errorf("the link is %s", link)
	}

	command(mum, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Pacific/Auckland"})
	mum.do(chromedp.Navigate(p.page(lanName)+"/"+link[strings.Index(link, "#"):]), chromedp.WaitVisible(chromedp.CSS("#name")))
	if left := read[string](mum, "location.hash"); left != "" {
		t.Errorf("the code stays in the address: %s", left)
	}
	o.at("Take a home over")
	mum.shot("join-owner")
	o.types("#name", "Mum")
	o.types("#email", "mum@example.com")
	o.types("#password", secretWord)
	o.tap("Take it over")
	o.at("Home is yours now")
	mum.shows("Times are those of the home")
	mum.shot("join-owner-done")
	o.tap("Go on")
	mum.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))

	h.at("The home is handed over")
	b.shows("You can look after its devices until")
	b.shot("7-handed")
	for _, path := range []string{"/web/v1/overview", "/web/v1/moments", "/web/v1/rooms/history", "/web/v1/notices"} {
		if got := b.status(http.MethodGet, fmt.Sprintf("%s?network_id=%d&from=0", path, home)); got != http.StatusNotFound {
			t.Errorf("the installer asks for %s: %d, want 404", path, got)
		}
	}
	b.goToLink("installs")
	h.at("Homes I look after")
	b.shot("installs")
	h.tap("Devices Home")
	b.do(chromedp.WaitVisible(chromedp.CSS(".su-device")))
	b.shot("installer-devices")
	if ways := read[string](b, `[...document.querySelectorAll(".ways a")].map((a) => a.textContent.trim()).join()`); ways != "Homes I look after,Setup,Me" {
		t.Errorf("the installer's ways are %s", ways)
	}

	mum.goToLink("people")
	mum.shows("Robin")
	mum.shows("until ")
	mum.shot("people-installers")
	o.tap("End Robin")
	mum.do(chromedp.WaitVisible(chromedp.CSS("dialog")))
	mum.shot("people-end")
	mum.waitFor(`document.querySelector("dialog").open`)
	read[bool](mum, `document.querySelector("dialog button.main").click() === undefined`)
	b.shows("You belong to no home yet")

	// Another one, by a code.
	o.tap("14 days")
	o.tap("Invite an installer")
	mum.do(chromedp.WaitVisible(chromedp.CSS("svg.qr")))
	mum.shot("people-invite-installer")
	link = read[string](mum, `document.querySelector(".copy input").value`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.page(lanName)+"/"+link[strings.Index(link, "#"):]))
	h.at("Look after a home")
	b.shot("join-installer")
	h.tap("I have an account")
	h.types("#email", "robin@example.com")
	h.types("#password", secretWord)
	h.tap("Begin")
	h.at("You look after Home")
	b.shot("join-installer-done")
	h.tap("Go on")
	h.at("Homes I look after")
}
