package webtest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const secretWord = "correct horse battery"

// person is somebody who calls the appliance without a browser.
type person struct {
	t     *testing.T
	at    string
	token string
}

// call calls an operation of App Cloud.
func (p person) call(method, path, body string, answer any) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.at+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", p.token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 || answer != nil && json.Unmarshal(raw, answer) != nil {
		p.t.Fatalf("%s: %d %s %v", path, got.StatusCode, raw, err)
	}
}

// own makes Jo, who owns the home of a demo that nobody has claimed.
func own(t *testing.T, s started) person {
	t.Helper()
	jo := person{t: t, at: "http://" + s.HTTP}
	const credentials = `"email":"jo@example.com","password":"` + secretWord + `"`
	jo.call(http.MethodPost, "/users", `{"first_name":"Jo",`+credentials+`,"setup_code":"`+s.Setup+`"}`, nil)
	var tokens struct{ Token string }
	jo.call(http.MethodPost, "/sessions?multi=true", `{`+credentials+`}`, &tokens)
	jo.token = tokens.Token
	var house struct{ ID int }
	jo.call(http.MethodPost, "/find", `{"guardian_id":"a41f00c2d97b4e5580136c2e"}`, &house)
	jo.call(http.MethodPost, "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d,"setup_code":%q}`, house.ID, s.Setup), nil)
	return jo
}

func (b *browser) signIn(email string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("#password")), chromedp.SetValue(chromedp.CSS("#email"), email),
		chromedp.SetValue(chromedp.CSS("#password"), secretWord), chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
}

// goToLink opens a screen of the app that is shown.
func (b *browser) goToLink(screen string) {
	b.t.Helper()
	read[bool](b, `(location.hash = "#/`+screen+`") !== ""`)
}

// pressShown clicks the first button of which the whole text is said.
func (b *browser) pressShown(text string) {
	b.t.Helper()
	b.waitFor(`[...document.querySelectorAll("button, summary")].some(b => b.textContent.trim() === "` + text + `" && b.offsetParent !== null && !b.disabled)`)
	read[bool](b, `[...document.querySelectorAll("button, summary")].find(b => b.textContent.trim() === "`+text+`" && b.offsetParent !== null && !b.disabled).click() === undefined`)
}

// enter fills a field in as a person does.
func (b *browser) enter(selector, text string) {
	b.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	read[bool](b, `(f => { f.value = `+string(quoted)+`; return f.dispatchEvent(new Event("input", {bubbles: true})); })(document.querySelector("`+selector+`"))`)
}

// shows waits until the page says something.
func (b *browser) shows(text string) {
	b.t.Helper()
	b.waitFor(`document.body.innerText.includes(` + fmt.Sprintf("%q", text) + `)`)
}

// narrowThere fails the test when the page scrolls sideways at 320 px.
func (b *browser) narrowThere(what string) {
	b.t.Helper()
	b.resize(320, 700)
	if wide := read[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		b.t.Errorf("%s: at 320 px the page is %d px wide", what, wide)
	}
}

func TestOwnerInvitesByACode(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 900)
	guest := open(t, 390, 844)
	guest.tolerate("409 (Conflict)", "404 (Not Found)") // an address that has an account; a home that is left
	s := play(b, true)
	t.Cleanup(guest.close)
	own(t, s)
	at := strings.Replace("http://"+s.HTTP, "127.0.0.1", lanName, 1)
	b.do(chromedp.Navigate(at))
	b.signIn("jo@example.com")
	b.goToLink("people")
	b.shows("Only you belong to this home.")
	b.pressShown("Invite with a code")
	b.do(chromedp.WaitVisible(chromedp.CSS("svg.qr")))
	link := read[string](b, `document.querySelector(".copy input").value`)
	code := read[string](b, `document.querySelector(".code").textContent`)
	if !strings.HasSuffix(link, "/#join="+code) || len(code) != 9 {
		t.Fatalf("link %s, code %s", link, code)
	}
	b.pressShown("Copy")
	b.waitFor(`/Copied|Marked/.test(document.querySelector(".copy small").textContent)`)
	b.pictures("people-invite")
	b.narrowThere("people with a code")
	b.resize(1280, 900)

	guest.do(chromedp.Navigate(at+"/#join="+code), chromedp.WaitVisible(chromedp.CSS("#name")))
	if left := read[string](guest, "location.hash"); left != "" {
		t.Errorf("the code stays in the address: %s", left)
	}
	guest.pictures("join")
	guest.narrowThere("join")
	guest.enter("#email", "jo@example.com")
	guest.enter("#name", "Sam")
	guest.enter("#password", secretWord)
	guest.pressShown("Join")
	guest.shows("This address has an account already.")
	guest.pressShown("I am new here")
	guest.enter("#name", "Sam")
	guest.enter("#email", "sam@example.com")
	guest.enter("#password", secretWord)
	guest.pressShown("Join")
	guest.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))

	b.goToLink("")
	b.goToLink("people")
	b.shows("Sam")
	b.pictures("people")
	b.narrowThere("people")
	b.resize(1280, 900)
	guest.goToLink("people")
	guest.shows("The owner of the home invites and removes people.")
	if buttons := read[int](guest, `[...document.querySelectorAll("main button")].filter(b => b.textContent !== "Leave").length`); buttons != 0 {
		t.Errorf("a member has %d buttons", buttons)
	}

	// A code that was used is refused as a wrong one is.
	late := open(t, 390, 844)
	late.tolerate("422 (Unprocessable Entity)") // a code that was used
	t.Cleanup(late.close)
	refused := func(code string) string {
		late.do(chromedp.Navigate("about:blank"), chromedp.Navigate(at+"/#join="+code), chromedp.WaitVisible(chromedp.CSS("#name")))
		late.enter("#name", "Eve")
		late.enter("#email", "eve@example.com")
		late.enter("#password", secretWord)
		late.pressShown("Join")
		late.waitFor(`document.querySelector(".wrong")?.textContent !== ""`)
		return read[string](late, `document.querySelector(".wrong").textContent`)
	}
	used, wrong := refused(code), refused("7K2M-Q9XA")
	if used != wrong || !strings.Contains(used, "Ask for another") {
		t.Errorf("used: %s; wrong: %s", used, wrong)
	}

	// The owner shows a member the link for a new password.
	b.pressShown("⋯")
	b.pressShown("New password")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog")))
	b.pressShown("Go on")
	b.waitFor(`document.querySelector(".copy input")?.value.includes("/reset#token=") === true`)
	b.pictures("people-reset")

	// Removing somebody ends their page at once.
	b.pressShown("Remove")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog")))
	b.pictures("people-remove")
	b.waitFor(`document.querySelector("dialog").open`)
	read[bool](b, `document.querySelector("dialog button.main").click() === undefined`)
	guest.shows("You belong to no home yet")
	b.shows("Only you belong to this home.")
}

func TestLookSessionsAndExport(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 900)
	other := open(t, 390, 844)
	b.tolerate("403 (Forbidden)") // the password is asked for
	s := play(b, true)
	t.Cleanup(other.close)
	jo := own(t, s)
	at := strings.Replace("http://"+s.HTTP, "127.0.0.1", lanName, 1)
	for _, page := range []*browser{b, other} {
		page.do(chromedp.Navigate(at))
		page.signIn("jo@example.com")
		page.goToLink("me")
		page.shows("Where you are signed in")
	}
	b.shows("Chrome on Linux")
	b.pictures("me")
	b.pressShown("Dark")
	b.pressShown("200 %")
	b.do(chromedp.Reload())
	b.shows("Where you are signed in")
	if kept := read[string](b, `document.documentElement.dataset.theme + document.documentElement.dataset.size`); kept != "dark200" {
		t.Errorf("after reloading: %s", kept)
	}
	if dark := read[string](b, `getComputedStyle(document.body).backgroundColor`); dark != "rgb(15, 19, 23)" {
		t.Errorf("dark is %s", dark)
	}
	for _, screen := range []string{"me", "people", ""} {
		b.goToLink(screen)
		b.waitFor(`document.querySelector("h1") !== null && document.querySelector("[aria-busy=true]") === null`)
		b.narrowThere("200 % of " + screen)
	}
	b.pictures("large")
	b.resize(1280, 900)
	b.goToLink("me")
	b.pressShown("100 %")
	b.pressShown("As the device")

	// The language is kept on the box: the other browser has it after reloading.
	b.chooseLanguage("fr")
	b.shows("Où vous êtes connecté")
	b.pictures("me-fr")
	other.do(chromedp.Reload())
	other.shows("Où vous êtes connecté")
	for _, c := range [][2]string{{"de", "Wo du angemeldet bist"}, {"en", "Where you are signed in"}} {
		code, said := c[0], c[1]
		b.chooseLanguage(code)
		b.shows(said)
		if code == "de" {
			b.goToLink("people")
			b.shows("Nur du gehörst")
			b.pictures("people-de")
			b.goToLink("me")
		}
	}

	// Ending the other session leads its page to the sign-in, and back to where it was.
	b.waitFor(`document.querySelectorAll(".sessions li").length >= 2`)
	for read[int](b, `document.querySelectorAll(".sessions li button").length`) > 0 {
		before := read[int](b, `document.querySelectorAll(".sessions li").length`)
		read[bool](b, `document.querySelector(".sessions li button").click() === undefined`)
		b.waitFor(fmt.Sprintf(`document.querySelectorAll(".sessions li").length < %d`, before))
	}
	other.do(chromedp.WaitVisible(chromedp.CSS("#password")))
	if place := read[string](other, "location.hash"); place != "#/me" {
		t.Errorf("after signing in the page would be at %s", place)
	}

	// The export, as the page fetches it.
	files := exported(b)
	if !strings.Contains(files["account.json"], "jo@example.com") || !strings.Contains(files["home-1/home.json"], `"home"`) || files["home-1/motion.csv"] == "" {
		t.Errorf("the export has %v", files)
	}
	// The appliance wants the password when the log-in is old, which here the page is made to believe.
	read[bool](b, `(() => {
		const real = window.fetch;
		window.fetch = (path, options) => {
			if (path !== "/web/v1/export") return real(path, options);
			window.fetch = real;
			return Promise.resolve(new Response('{"code": "step_up"}', {status: 403}));
		};
		return true;
	})()`)
	b.pressShown("Download")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog input[type=password]")))
	b.pictures("step-up")
	b.enter("dialog input[type=password]", "wrong")
	b.pressShown("Go on")
	b.shows("This is not your password.")
	b.enter("dialog input[type=password]", secretWord)
	b.pressShown("Go on")
	b.shows("The file is saved.")

	// Deleting the account.
	b.pressShown("Delete my account")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog input")))
	b.pictures("me-delete")
	if read[bool](b, `!document.querySelector("dialog button.main").disabled`) {
		t.Error("the account goes without anything typed")
	}
	b.enter("dialog input", "jo@example.com")
	b.pressShown("Delete for ever")
	b.do(chromedp.WaitVisible(chromedp.CSS("#email")))
	b.waitFor(`document.querySelector("dialog") === null`)
	r, err := http.Post(jo.at+"/api/v1/sessions", "application/json", strings.NewReader(`{"email":"jo@example.com","password":"`+secretWord+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		t.Errorf("signing in after the deletion: %d", r.StatusCode)
	}
}

// exported returns the files of an export, fetched with both halves of a page's session.
func exported(b *browser) map[string]string {
	b.t.Helper()
	read[bool](b, `fetch("/web/v1/export", {headers: {"X-Sensegate": localStorage.getItem("sensegate-proof")}})
		.then(a => a.arrayBuffer()).then(a => { window.exported = btoa(String.fromCharCode(...new Uint8Array(a))); }) !== null`)
	b.waitFor(`window.exported !== undefined`)
	raw, err := base64.StdEncoding.DecodeString(read[string](b, `window.exported`))
	if err != nil {
		b.t.Fatal(err)
	}
	return unzip(b.t, raw)
}

func unzip(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// TestPageConfirmsAnAddressWhenItsButtonIsPressed opens the link of a mail.
func TestPageConfirmsAnAddressWhenItsButtonIsPressed(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("403 (Forbidden)") // a wrong password
	s := play(b, true)
	jo := own(t, s)
	jo.call(http.MethodPost, "/member_invites", `{"emails":["new@example.com"]}`, nil)
	person{t: t, at: jo.at}.call(http.MethodPost, "/users", `{"email":"new@example.com","password":"`+secretWord+`"}`, nil)
	link := func(kind string) string {
		t.Helper()
		var box struct {
			Data []struct {
				Kind string
				Link string
			}
		}
		jo.call(http.MethodGet, "/outbox", "", &box)
		for _, m := range box.Data {
			if m.Kind == kind {
				return m.Link
			}
		}
		t.Fatalf("no mail %s in %+v", kind, box)
		return ""
	}
	visit := func(link string) {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#password")))
		b.waitFor(`location.pathname + location.search + location.hash === "/"`)
	}
	confirm := link("confirm")
	visit(confirm)
	b.pictures("confirm")
	r, err := http.Post(jo.at+"/api/v1/sessions", "application/json", strings.NewReader(`{"email":"new@example.com","password":"`+secretWord+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusForbidden {
		t.Errorf("the link alone confirms: %d", r.StatusCode)
	}
	b.enter("#password", "wrong")
	b.pressShown("Confirm")
	b.shows("This is not the password of the account.")
	b.enter("#password", secretWord)
	b.pressShown("Confirm")
	b.shows("Your address is confirmed")
	visit(confirm)
	b.enter("#password", secretWord)
	b.pressShown("Confirm")
	b.shows("This link was used already")

	// The link of an invitation, as mails that are older have it.
	visit(strings.Replace(link("invite"), "#", "?", 1))
	b.pressShown("I have an account")
	b.enter("#email", "new@example.com")
	b.enter("#password", secretWord)
	b.pressShown("Join")
	b.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))

	// A new password, by the link that the owner shows.
	jo.call(http.MethodPost, "/password_resets", `{"email":"new@example.com"}`, nil)
	visit(link("reset"))
	b.pictures("reset")
	b.enter("#password", "another horse battery")
	b.pressShown("Set password")
	b.shows("Your new password is set")
	person{t: t, at: jo.at}.call(http.MethodPost, "/sessions", `{"email":"new@example.com","password":"another horse battery"}`, nil)
}
