package webtest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMovedHomeSaysWhereItIs, and leads there, instead of looking as if there had never been one. Who
// looks after the box gets to it.
func TestMovedHomeSaysWhereItIs(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.signedIn()
	b.tolerate("404 (Not Found)")
	b.do(chromedp.Navigate(fixed(t, boxed(answers{"/web/v1/overview": gone}))), chromedp.WaitVisible(chromedp.CSS("h1")))
	b.waitFor(sentence + ` === "Your home has moved to another box"`)
	if href := read[string](b, `document.querySelector("main a").getAttribute("href")`); href != "http://192.168.10.3:8080" {
		t.Errorf("it leads to %q", href)
	}
	b.pictures("moved")
	b.waitFor(`document.querySelector('main a[href="#/box"]')?.click() === undefined && location.hash === "#/box"`)
	b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1")))
}

// keepsMeta plays /api/v1/user/meta: what is sent is kept, unless globalThis.full.
const keepsMeta = `{
	const ask = globalThis.fetch;
	const kept = globalThis.keptMeta = {};
	globalThis.fetch = async (path, given = {}) => {
		if (path !== "/api/v1/user/meta") return ask(path, given);
		if (given.method === "PATCH" && globalThis.full) return Response.json({status: 503, code: "unavailable", detail: "why"}, {status: 503});
		if (given.method === "PATCH") Object.assign(kept, JSON.parse(given.body));
		return Response.json(kept);
	};
}`

// TestMemberDecidesWhetherHomeAssistantKnows that they are at home: off at first, theirs alone, and shown
// where Home Assistant is told of members, or who has agreed once.
func TestMemberDecidesWhetherHomeAssistantKnows(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.signedIn()
	b.beforePages(keepsMeta)
	b.do(chromedp.Navigate(fixed(t, answers{"/web/v1/overview": {change: map[string]any{"presence_shown": true}}})+"/#/me"), chromedp.WaitVisible(chromedp.CSS(".me h1")))
	const box = `[...document.querySelectorAll(".me label.check")].find((l) => l.textContent.includes("Show there whether I am at home"))?.querySelector("input")`
	b.waitFor(box + `?.checked === false`)
	read[bool](b, `((globalThis.full = true), `+box+`.click(), true)`)
	b.waitFor(`[...document.querySelectorAll(".wrong")].some((e) => e.textContent !== "")`)
	if read[bool](b, box+`.checked`) {
		t.Error("it says that they agree, which was not kept")
	}
	read[bool](b, `((globalThis.full = false), `+box+`.click(), true)`)
	b.waitFor(box + `.checked`)
	b.waitFor(`keptMeta.home_assistant_presence === true`)
	b.showsTop(".me section.form > .check")
	b.pictures("presence")
	read[bool](b, `(`+box+`.click(), true)`)
	b.waitFor(box + `.checked === false`)
	b.waitFor(`keptMeta.home_assistant_presence === false`)
	b.do(chromedp.Navigate(fixed(t, nil)+"/#/me"), chromedp.WaitVisible(chromedp.CSS(".me h1")))
	b.waitFor(`document.querySelector(".sessions") !== null`)
	if read[bool](b, box+` !== undefined`) {
		t.Error("it is asked where nothing is told")
	}
}
