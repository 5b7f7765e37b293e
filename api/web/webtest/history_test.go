package webtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// visit opens a screen of the app by its address and waits for something on it.
func (b *browser) visit(hash, shows string) {
	b.t.Helper()
	read[bool](b, `(location.hash = "`+hash+`") !== ""`)
	b.do(chromedp.WaitVisible(chromedp.CSS(shows)))
}

// pressOn clicks on something in the middle of the window, where nothing covers it.
func (b *browser) pressOn(selector string) {
	b.t.Helper()
	read[bool](b, "document.querySelector(`"+selector+"`).scrollIntoView({block: `center`}) === undefined")
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// text is all that the screen says, read or heard, without what people have named.
const text = `[document.querySelector("main").textContent, ...[...document.querySelectorAll("main [aria-label], main [aria-valuetext]")].flatMap((e) => [e.ariaLabel, e.ariaValueText])].join(" | ")`

func TestHistoryLeadsToTheWhyOfAMoment(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("404 (Not Found)") // a moment that is gone
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".newest .moments a"))) // somebody walks
	b.pictures("moments-home")
	b.resize(390, 844)
	b.do(chromedp.Click(chromedp.CSS(`.ways a[href="#/history"]`)), chromedp.WaitVisible(chromedp.CSS(".daychart")))
	b.pictures("history-today")
	b.resize(390, 844)
	b.do(chromedp.Click(chromedp.CSS(`.steps a[aria-label=Earlier]`)))
	// The way to an earlier day leads on from the new one once that is drawn: until then the strips are of today.
	b.waitFor(`/^#\/history\/\d{4}-\d\d-\d\d$/.test(location.hash) && document.querySelector(".steps a[aria-label=Earlier]").hash !== location.hash && document.querySelectorAll(".daychart .strip").length === 6`)
	day := read[string](b, `location.hash.slice(-10)`)

	// The slider speaks, and keys move it.
	const slider, said = `document.querySelector("input[type=range]")`, `document.querySelector("input[type=range]").ariaValueText`
	read[bool](b, slider+`.focus() === undefined`)
	b.do(chromedp.KeyEvent(kb.Home))
	b.waitFor(said + `.startsWith("00:00: ")`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.waitFor(said + `.startsWith("00:15: ")`)
	moving := read[int](b, `[...document.querySelectorAll(".daychart .strip")].flatMap((s) => [...s.querySelectorAll("rect")].flatMap((r, i) => r.classList.contains("heat5") || r.classList.contains("heat4") ? [i] : []))[0] ?? -1`)
	if moving < 0 {
		t.Fatal("a day of the demo without motion")
	}
	for range moving - 1 {
		b.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.waitFor(`/^\d\d:\d\d: .* \d+ %/.test(` + said + `)`)
	b.waitFor(`document.querySelectorAll(".hour .moments a").length > 0`)
	b.pictures("history-day")
	b.wantNarrow("the day")
	b.wantFile(day)

	// Day, then hour, then why.
	b.resize(390, 844)
	moment := read[string](b, `document.querySelector(".hour .moments a").hash`)
	b.pressOn(".hour .moments a")
	b.do(chromedp.WaitVisible(chromedp.CSS(".links li")))
	b.waitFor(`/, \d\d:\d\d to \d\d:\d\d$/.test(` + sentence + `) && document.querySelector(".curve svg").ariaLabel.includes("%")`)
	if plain := read[bool](b, `/(^|\s)(02bb|GWA)/.test(document.querySelector(".links ul").textContent)`); plain {
		t.Error("links are shown by addresses, although their devices have names")
	}
	b.pressOn(".tags button:nth-of-type(3)")
	b.waitFor(`document.querySelector(".tags button:nth-of-type(3)").ariaPressed === "true"`)
	b.pictures("moment")
	b.wantNarrow("the moment")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(`.tags button[aria-pressed=true]`)))
	if tag := read[string](b, `document.querySelector(".tags button[aria-pressed=true]").textContent`); tag != "A pet" {
		t.Errorf("after a reload the moment is tagged %q", tag)
	}
	b.visit("#/moment/00000000-0000-7000-8000-000000000000", ".note a")
	b.waitFor(sentence + `=== "This moment is no longer kept"`)

	b.visit("#/history/"+day+"?span=week", ".week .strip")
	if days := read[int](b, `document.querySelectorAll(".week li").length`); days != 7 {
		t.Errorf("a week of %d days", days)
	}
	b.pictures("history-week")
	b.wantNarrow("the week")
	b.visit("#/history/"+day+"?span=week&room=Kitchen", ".week .strip")
	b.waitFor(`document.querySelector("#history-room").value === "Kitchen"`)
	b.visit("#/history/"+day+"?span=month", ".month a.cell")
	b.pictures("history-month")
	b.wantNarrow("the month")
	b.pressOn(`.month a.cell[href="#/history/` + day + `"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS(".daychart")))

	b.visit("#/history/2020-01-01", ".note strong")
	b.waitFor(`document.querySelector(".note strong").textContent.startsWith("Begins with your claim, ")`)
	b.pictures("history-empty")
	for _, language := range []string{"de", "fr"} {
		b.speak(language)
		for hash, shows := range map[string]string{
			"#/history/" + day: ".hour .moments a, .hour .muted", "#/history/" + day + "?span=week": ".week .strip",
			"#/history/" + day + "?span=month": ".month .cell", moment: ".links li", "#/history/2020-01-01": ".note strong",
		} {
			b.visit(hash, shows)
			if left := read[string](b, `(`+text+`).match(/\b(Motion|Earlier|Later|Day|Week|Month|Show|Download|why|hour|saw|strongly|clearly|just|alarm|noticed|shaded|quiet|time|data|evening|morning|afternoon|home|claim|pet|Somewhere)\b/)?.[0] ?? ""`); left != "" {
				t.Errorf("%s in %s says %q", hash, language, left)
			}
			b.wantNarrow(hash + " in " + language)
		}
	}
}

// wantNarrow checks that what is shown fits a narrow phone.
func (b *browser) wantNarrow(what string) {
	b.t.Helper()
	b.resize(320, 700)
	if wide := read[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		b.t.Errorf("%s scrolls sideways at 320 px: it is %d wide", what, wide)
	}
}

// wantFile downloads the day that is shown and looks into the file.
func (b *browser) wantFile(day string) {
	b.t.Helper()
	folder := b.t.TempDir()
	command(b, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: folder})
	read[bool](b, `[...document.querySelectorAll("main button")].find((e) => e.textContent.includes("CSV")).click() === undefined`)
	file := filepath.Join(folder, "sensegate-"+day+"-day.csv")
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(time.Minute); ; <-again.C {
		content, err := os.ReadFile(file)
		if lines := strings.Split(strings.TrimSpace(string(content)), "\r\n"); err == nil && len(lines) > 90 {
			if !strings.HasPrefix(lines[0], "\ufefftime,utc_seconds,home,") || !strings.HasPrefix(lines[1], day+" 00:00,") {
				b.t.Errorf("the file begins with %q", lines[:2])
			}
			return
		}
		if time.Now().After(end) {
			b.t.Errorf("no file: %v", err)
			return
		}
	}
}
