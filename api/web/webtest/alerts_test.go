package webtest

import (
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
	b.do(chromedp.WaitVisible(chromedp.CSS("#language")), chromedp.SetValue(chromedp.CSS("#language"), language))
	read[bool](b, `document.querySelector("#language").dispatchEvent(new Event("change", {bubbles: true}))`)
	b.waitFor(`document.documentElement.lang === "` + language + `"`)
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
	b.waitFor(`document.querySelector(".scene button:nth-of-type(2)") !== null`)
	b.do(chromedp.Click(chromedp.CSS(".scene button:nth-of-type(2)")))
	b.goTo("#/inbox", "Inbox")
	b.waitFor(`[...document.querySelectorAll(".notice.unread strong")].some((e) => e.textContent === "Motion while away")`)
	b.waitFor(`/^\(\d+\) Inbox/.test(document.title) && document.querySelector(".ways .badge") !== null`)
	b.pictures("inbox")
	b.resize(320, 700)
	if read[bool](b, "document.documentElement.scrollWidth > 320") {
		t.Error("the inbox scrolls sideways at 320 px")
	}
	read[string](b, `location.hash = "#/"`) // back home, so that no more comes
	b.waitFor(`document.querySelector(".scene button:nth-of-type(1)") !== null`)
	b.do(chromedp.Click(chromedp.CSS(".scene button:nth-of-type(1)")), chromedp.WaitVisible(chromedp.CSS(".scene button:nth-of-type(1)[aria-pressed=true]")))
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

	for language, words := range map[string][]string{"de": {"Meldungen", "Posteingang", "Beginne mit", "Neue Meldung"}, "fr": {"Alertes", "Boîte de réception", "Pour commencer", "Nouvelle alerte"}} {
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
