package webtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// web calls an operation of the web app's own interface, as another page of theirs does.
func (p person) web(method, path, body string) []byte {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.at+"/web/v1"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", p.token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 {
		p.t.Fatalf("%s %s: %d %s %v", method, path, got.StatusCode, raw, err)
	}
	return raw
}

// edited are the rooms on the screen that edits them; tiles are those on Home or on the wall.
const (
	edited = `[...document.querySelectorAll(".edit .list .grow")].map((e) => e.textContent).join()`
	tiles  = `[...document.querySelectorAll(".tile .name")].map((e) => e.textContent).join()`
)

// roomButton focuses the button of a room: "name Kitchen" renames it, "1 Kitchen" moves it down.
func (b *browser) roomButton(focus string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`(document.querySelector('[data-focus="%[1]s"]')?.focus(), document.activeElement.dataset.focus === "%[1]s")`, focus))
}

// wantFocus waits until the button of a room has the focus.
func (b *browser) wantFocus(focus string) {
	b.t.Helper()
	b.waitFor(`document.activeElement.dataset.focus === "` + focus + `"`)
}

// rename opens the form of a room by the keyboard, fills it in and sends it.
func (b *browser) rename(room, name string) {
	b.t.Helper()
	b.roomButton("name " + room)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.activeElement.matches(".edit form input")`)
	b.do(chromedp.SetValue(chromedp.CSS(".edit form input"), name), chromedp.KeyEvent(kb.Enter))
}

func TestOwnerNamesAndOrdersTheRooms(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("404 (Not Found)", "409 (Conflict)", "422 (Unprocessable Entity)") // rooms that cannot be named so
	b.beforePages(hearing)
	s := play(b, true)
	jo := own(t, s)
	b.do(chromedp.Navigate("http://" + s.HTTP))
	b.signIn("jo@example.com")
	b.pressOn("a.edit")
	b.waitFor(edited + ` === "Bathroom,Bedroom,Hallway,Kitchen,Living room,Office" && document.activeElement.matches("h1")`)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, v := range b.violations() {
			t.Errorf("%s: %s: %s %v", scheme, v.ID, v.Help, v.Nodes)
		}
	}

	// The keyboard moves a room, the focus goes along, and who does not see it is told.
	b.roomButton("-1 Hallway")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	b.waitFor(edited + `.startsWith("Hallway,Bathroom,Bedroom,Kitchen") && document.querySelector(".edit [role=status]").textContent === "Hallway is now number 1 of 6."`)
	b.wantFocus("-1 Hallway")
	if end := read[bool](b, `document.activeElement.getAttribute("aria-disabled") === "true"`); !end {
		t.Error("the first room says that it can be moved up")
	}
	b.pictures("rooms")
	b.resize(390, 844)

	// A new name keeps the place; names that cannot be are told beside the form.
	b.rename("Bathroom", "Kitchen")
	b.waitFor(`document.querySelector(".edit form .wrong").textContent.includes("already is a room called Kitchen") && document.activeElement.matches(".edit form input")`)
	b.pictures("rooms-taken")
	b.wantNarrow("the form of a room")
	b.do(chromedp.SetValue(chromedp.CSS(".edit form input"), "<Spa>"), chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.querySelector(".edit form .wrong").textContent.startsWith("A name has letters")`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wantFocus("name Bathroom")
	b.rename("Bathroom", "Große Küche 2")
	b.waitFor(edited + `.startsWith("Hallway,Große Küche 2,Bedroom,") && document.querySelector(".edit [role=status]").textContent === "Bathroom is now called Große Küche 2."`)
	b.wantFocus("name Große Küche 2")

	// Others see it, after a reload too.
	const rooms = `"Hallway,Große Küche 2,Bedroom,Kitchen,Living room,Office"`
	b.do(chromedp.Reload())
	b.waitFor(edited + ` === ` + rooms)
	b.visitHere("#/")
	b.waitFor(tiles + ` === ` + rooms)
	b.visitHere("#/history")
	b.waitFor(`[...document.querySelectorAll(".daychart .who")].map((e) => e.textContent).join() === ` + rooms)
	b.visitHere("#/wall")
	b.waitFor(tiles + ` === ` + rooms)

	// A room that gets another name elsewhere meanwhile.
	b.visitHere("#/rooms")
	b.waitFor(edited + ` !== "" && document.activeElement.matches("h1")`) // which takes the focus once
	b.roomButton("name Office")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.activeElement.matches(".edit form input")`)
	jo.web(http.MethodPut, "/rooms/Office", `{"name":"Study"}`)
	b.do(chromedp.SetValue(chromedp.CSS(".edit form input"), "Den"), chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.querySelector(".edit > .wrong").textContent.startsWith("There is no room called Office any more") && document.activeElement.matches("h1")`)
	b.waitFor(edited + `.endsWith("Living room,Study") && document.querySelector(".edit form") === null`)
	b.visitHere("#/")
	b.waitFor(tiles + `.endsWith("Study")`)
	jo.web(http.MethodPut, "/rooms/Study", `{"name":"Library"}`)
	read[bool](b, `document.dispatchEvent(new Event("visibilitychange"))`)
	b.waitFor(tiles + `.endsWith("Library")`)

	for _, language := range []string{"de", "fr"} {
		b.speakHere(language)
		b.visitHere("#/rooms")
		b.waitFor(edited + ` !== ""`)
		b.isTranslated("the rooms in "+language, language)
		b.fitsNarrow("the rooms in " + language)
	}
}

func TestMembersNameRoomsAndSeeWhoOrdersThem(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, true)
	jo := own(t, s)
	var made struct{ Code string }
	if err := json.Unmarshal(jo.web(http.MethodPost, "/join-codes", ""), &made); err != nil {
		t.Fatal(err)
	}
	jo.web(http.MethodPost, "/join-account", fmt.Sprintf(`{"code":%q,"email":"mum@example.com","password":%q,"first_name":"Mum","stay":true}`, made.Code, secretWord))
	b.do(chromedp.Navigate("http://" + s.HTTP))
	b.signIn("mum@example.com")
	b.goToLink("rooms")
	b.waitFor(edited + ` !== "" && document.activeElement.matches("h1") && document.querySelector(".edit > p").textContent.startsWith("The owner of the home decides")`)
	if n := read[int](b, `document.querySelectorAll(".edit .step").length`); n != 0 {
		t.Errorf("a member has %d buttons that only refuse", n)
	}
	b.rename("Bedroom", "Den")
	b.waitFor(edited + `.includes("Den") && !` + edited + `.includes("Bedroom")`)
}

// outside are the parts of a thing that reach beyond the window.
func outside(selector string) string {
	return `[...document.querySelectorAll("` + selector + `")].filter((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth }).map((e) => e.textContent)`
}

func TestPauseAndTheBarOfTheDemoFitAPhone(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	height := func() int {
		return read[int](b, `Math.round(document.querySelector(".demobar").getBoundingClientRect().height)`)
	}
	for _, language := range []string{"fr", "de", "en"} {
		b.speakHere(language)
		b.waitFor(`document.querySelector(".scene .menu") !== null`)
		for _, width := range []int64{320, 360, 390} {
			b.resize(width, 700)
			read[bool](b, `document.querySelector(".scene .menu").open = true`)
			if out := read[[]string](b, outside(".scene .menu li button, .scene summary, .demobar *")); len(out) > 0 {
				t.Errorf("%d px, %s: %q reach over the edge", width, language, out)
			}
			if n := read[int](b, `document.querySelectorAll(".scene .menu li button").length`); n != 5 {
				t.Errorf("%d times to pause for, want 5", n)
			}
			if high := height(); high > 210 {
				t.Errorf("%d px, %s: the bar takes %d px", width, language, high)
			}
		}
	}
	b.resize(1280, 800)
	if gap := read[int](b, `Math.round(document.querySelector(".home").getBoundingClientRect().right - document.querySelector(".home .side").getBoundingClientRect().right)`); gap > 32 {
		t.Errorf("on a desk %d px beside the home are empty", gap)
	}
	b.pictures("desk")
	read[bool](b, `document.querySelector(".scene .menu summary").focus() === undefined`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.waitFor(`!document.querySelector(".scene .menu").open`)
	b.resize(320, 700)
	b.pictures("bar")
	b.resize(390, 700)
	b.do(chromedp.Click(chromedp.CSS(".demobar .told button")))
	b.waitFor(`document.querySelector(".demobar .told") === null`)
	b.do(chromedp.Click(chromedp.CSS(".demobar .title")))
	b.waitFor(`document.querySelector(".demobar .acts").hidden`)
	if high := height(); high > 48 {
		t.Errorf("the closed bar takes %d px", high)
	}
	b.pictures("bar-closed")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	b.waitFor(`document.querySelector(".demobar .acts").hidden && document.querySelector(".demobar .title").ariaExpanded === "false"`)
	b.do(chromedp.Click(chromedp.CSS(".demobar .title")), chromedp.WaitVisible(chromedp.CSS(".demobar .acts button")))
}
