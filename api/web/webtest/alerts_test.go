package webtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// goTo opens a screen of the app by its address and waits for its heading.
func (b *browser) goTo(hash, heading string) {
	b.t.Helper()
	read[string](b, `location.hash = "`+hash+`"`)
	b.waitFor(`document.querySelector("h1")?.textContent === "` + heading + `"`)
}

// speak changes the language of the page.
func (b *browser) speak(language string) {
	b.t.Helper()
	read[string](b, `location.hash = "#/me"`)
	b.do(chromedp.WaitVisible(chromedp.CSS("#language")))
	b.chooseLanguage(language)
	b.waitFor(`document.documentElement.lang === "` + language + `"`)
}

// chooseLanguage chooses and says so at once: what draws itself anew in between has the language of before again.
func (b *browser) chooseLanguage(language string) {
	b.t.Helper()
	read[bool](b, `(l => { l.value = "`+language+`"; return l.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#language"))`)
}

// press clicks the button or link with a text, in the page's main part.
func (b *browser) press(text string) {
	b.t.Helper()
	find := `[...document.querySelectorAll("main button, main a, main summary")].find((e) => e.textContent.trim() === "` + text + `")`
	b.waitFor(find + ` !== undefined && !` + find + `.disabled`)
	read[bool](b, find+`.click() === undefined`)
}

const mainText = `(document.querySelector("main")?.innerText ?? "")`

func TestAlertTellsOfMotionWhileAway(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.goTo("#/alerts", "Alerts")
	b.waitFor(`document.querySelectorAll(".card").length === 2 && !` + mainText + `.includes("Another app")`) // of the demo, as this page makes them
	b.pictures("alerts-demo")
	for left := range 2 {
		read[bool](b, `(document.querySelector(".card details").open = true)`)
		b.press("Delete")
		b.press("Yes, delete it")
		b.waitFor(fmt.Sprintf(`document.querySelectorAll(".card").length === %d`, 1-left))
	}
	b.waitFor(mainText + `.includes("Nothing tells you yet")`)
	b.pictures("alerts-empty")
	b.press("Motion while away Tells you at once, while the home is set to away.")
	b.waitFor(`document.querySelectorAll(".runs li").length === 5 && document.querySelector(".told")?.textContent.includes("seven days") === true`)
	if said := read[string](b, `document.querySelector(".said").textContent`); said != "Every day: tell everyone at once of motion, while the home is set to away" {
		t.Errorf("the rule in words: %q", said)
	}
	read[bool](b, `document.querySelector(".preview").scrollIntoView() === undefined`)
	b.pictures("alerts-form")
	b.resize(320, 700)
	if read[bool](b, "document.documentElement.scrollWidth > 320") {
		t.Error("the form scrolls sideways at 320 px")
	}
	b.press("Save")
	b.waitFor(`document.querySelectorAll(".card").length === 1 && ` + mainText + `.includes("Watching now")`)

	b.goTo("#/alerts/new/night", "New alert") // looks at motion, and is kept switched off
	b.waitFor(`document.querySelector(".told")?.textContent.startsWith("It would have told everyone") === true`)
	b.press("Save")
	b.waitFor(`document.querySelectorAll(".card").length === 2`)
	b.do(chromedp.Click(chromedp.CSS(".card:nth-of-type(2) .switch")))
	b.waitFor(`document.querySelector(".card:nth-of-type(2) .switch")?.getAttribute("aria-checked") === "false"`)
	b.goTo("#/alerts/new/morning", "New alert")
	b.waitFor(`document.querySelector(".said")?.textContent.includes("when nobody moved from 06:00 to 10:00, while the home is set to at home") === true`)
	b.press("Save")
	b.waitFor(`document.querySelectorAll(".card").length === 3`)
	b.pictures("alerts-list")

	read[string](b, `location.hash = "#/"`)
	b.pressMoving(".scene button:nth-of-type(2)")
	b.goTo("#/inbox", "Inbox")
	b.waitFor(`[...document.querySelectorAll(".notice.unread strong")].some((e) => e.textContent === "Motion while away")`)
	b.waitFor(`/^\(\d+\) Inbox/.test(document.title) && document.querySelector(".ways .badge") !== null`)
	b.pictures("inbox")
	b.resize(320, 700)
	if read[bool](b, "document.documentElement.scrollWidth > 320") {
		t.Error("the inbox scrolls sideways at 320 px")
	}
	read[string](b, `location.hash = "#/"`) // back home, so that no more comes
	b.pressMoving(".scene button:nth-of-type(1)")
	b.do(chromedp.WaitVisible(chromedp.CSS(".scene button:nth-of-type(1)[aria-pressed=true]")))
	b.goTo("#/inbox", "Inbox")
	b.press("Mark all as read")
	b.waitFor(`document.querySelectorAll(".notice.unread").length === 0 && document.title.startsWith("Inbox")`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".notice")))
	if n := read[int](b, `document.querySelectorAll(".notice.unread").length`); n != 0 {
		t.Errorf("after a reload %d are unread", n)
	}

	b.goTo("#/alerts", "Alerts")
	b.waitFor(`document.querySelectorAll(".card").length === 3`)
	read[bool](b, `(document.querySelector(".card details").open = true)`)
	b.press("Try it: send it to me")
	b.waitFor(mainText + `.includes("Sent to you as a trial")`)
	b.press("8 hours")
	b.waitFor(mainText + `.includes("Asleep, wakes up at")`)
	b.pictures("alerts-asleep")
	b.press("Wake it up now")
	b.waitFor(`!` + mainText + `.includes("Asleep")`)
	b.goTo("#/inbox", "Inbox")
	b.waitFor(`document.querySelector(".notice.unread .tag:nth-of-type(2)")?.textContent === "trial"`)

	for language, words := range map[string][]string{"de": {"Meldungen", "Posteingang", "Beginne mit", "Neue Meldung"}, "fr": {"Alertes", "Messages", "Pour commencer", "Nouvelle alerte"}} {
		b.speak(language)
		b.goTo("#/inbox", words[1])
		b.pictures("inbox-" + language)
		b.goTo("#/alerts/new/own", words[3])
		b.pictures("alerts-form-" + language)
		b.goTo("#/alerts", words[0])
		b.waitFor(`document.querySelectorAll(".card").length === 3`)
		for _, english := range []string{"Every day", "Next", "Delete", "Snooze", "Edit", "Watching", "everyone"} {
			if read[bool](b, mainText+`.includes("`+english+`")`) {
				t.Errorf("%s: %q is left in English", language, english)
			}
		}
	}
	b.speak("en")
	b.goTo("#/alerts", "Alerts")
	b.waitFor(`document.querySelectorAll(".card").length === 3`)
	read[bool](b, `(document.querySelector(".card:nth-of-type(3) details").open = true)`)
	read[bool](b, `[...document.querySelectorAll(".card:nth-of-type(3) button")].find((e) => e.textContent === "Delete").click() === undefined`)
	b.press("Keep it")
	read[bool](b, `[...document.querySelectorAll(".card:nth-of-type(3) button")].find((e) => e.textContent === "Delete").click() === undefined`)
	b.press("Yes, delete it")
	b.waitFor(`document.querySelectorAll(".card").length === 2`)
}

// app calls an operation of App Cloud with a token.
func app(t *testing.T, s started, token, method, path, body string, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTP+"/api/v1"+path, strings.NewReader(body))
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
		t.Fatalf("%s %s: %d %s %v", method, path, got.StatusCode, raw, err)
	}
}

// TestReadingOfOneMarksNothingOfAnother: and an alert that another client made stays as it is.
func TestReadingOfOneMarksNothingOfAnother(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 800)
	s := play(b, true)
	const password = "correct horse battery"
	tokens := map[string]string{}
	account := func(name, more string) string {
		return fmt.Sprintf(`{"first_name":%q,"email":"%s@example.com","password":%q%s}`, name, name, password, more)
	}
	logIn := func(name string) {
		var session struct{ Token string }
		app(t, s, "", http.MethodPost, "/sessions?multi=true", account(name, ""), &session)
		tokens[name] = session.Token
	}
	app(t, s, "", http.MethodPost, "/users", account("mum", `,"setup_code":"`+s.Setup+`"`), &struct{}{})
	logIn("mum")
	var house struct{ ID int }
	app(t, s, tokens["mum"], http.MethodPost, "/find", `{"guardian_id":"a41f00c2d97b4e5580136c2e"}`, &house)
	app(t, s, tokens["mum"], http.MethodPost, "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d,"setup_code":%q}`, house.ID, s.Setup), &struct{}{})
	app(t, s, tokens["mum"], http.MethodPost, "/member_invites", fmt.Sprintf(`{"network_id":%d,"emails":["sam@example.com"]}`, house.ID), &struct{}{})
	app(t, s, "", http.MethodPost, "/users", account("sam", ""), &struct{}{})
	var mails struct{ Data []struct{ Link string } }
	app(t, s, tokens["mum"], http.MethodGet, "/outbox", "", &mails)
	_, token, _ := strings.Cut(mails.Data[0].Link, "token=")
	app(t, s, "", http.MethodPut, "/confirmations", fmt.Sprintf(`{"token":%q,"password":%q}`, token, password), &struct{}{})
	logIn("sam")
	app(t, s, tokens["sam"], http.MethodPost, "/network_memberships", fmt.Sprintf(`{"role":"member","network_id":%d}`, house.ID), &struct{}{})
	app(t, s, tokens["mum"], http.MethodPut, "/scenes", `{"scene_id":1}`, &struct{}{})
	app(t, s, tokens["mum"], http.MethodPut, "/scenes", `{"scene_id":4}`, &struct{}{})
	var made, kept struct {
		UUID, RRule string
		Enabled     bool
		Monitor     any
	}
	app(t, s, tokens["sam"], http.MethodPost, "/universal-alert", `{"alert_name":"Bins","rrule":"DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=MONTHLY;BYDAY=1MO",
		"monitor":{"monitor_mode":"NONE"},"no_motion_actions":[{"action":"fcm_push","payload":{"data":{"title":"Bins"}}}]}`, &made)
	signIn := func(name string) {
		t.Helper()
		b.do(chromedp.WaitVisible(chromedp.CSS("#password")), chromedp.SetValue(chromedp.CSS("#email"), name+"@example.com"), chromedp.SetValue(chromedp.CSS("#password"), password),
			chromedp.Click(chromedp.CSS("button.main")), chromedp.WaitVisible(chromedp.CSS(".ways")))
		b.goTo("#/inbox", "Inbox")
		b.waitFor(`document.querySelectorAll(".notice").length > 0`)
	}
	unread := func(text string) string {
		return `[...document.querySelectorAll(".notice.unread")].some((e) => e.textContent.includes("` + text + `"))`
	}
	b.do(chromedp.Navigate("http://" + s.HTTP))
	signIn("mum")
	if !read[bool](b, unread("sam joined the household")) || read[bool](b, unread("mum set the home to away")) {
		t.Error("mum has not read that sam joined, and knows what she did herself")
	}
	b.press("Mark all as read")
	b.waitFor(`document.querySelectorAll(".notice.unread").length === 0`)

	b.goTo("#/alerts", "Alerts")
	b.waitFor(mainText + `.includes("Another app made this alert")`)
	b.pictures("alerts-foreign")
	b.do(chromedp.Click(chromedp.CSS(".card .switch")))
	b.waitFor(`document.querySelector(".card .switch")?.getAttribute("aria-checked") === "false"`)
	app(t, s, tokens["sam"], http.MethodGet, "/universal-alert/"+made.UUID, "", &kept)
	if kept.Enabled || kept.RRule != made.RRule || fmt.Sprint(kept.Monitor) != fmt.Sprint(made.Monitor) {
		t.Errorf("switched off it is %+v, and was %+v", kept, made)
	}
	read[string](b, `location.hash = "#/me"`)
	b.press("Sign out")
	signIn("sam")
	if !read[bool](b, unread("mum set the home to away")) {
		t.Error("what mum has read is read for sam")
	}
}
