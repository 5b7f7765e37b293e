package webtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// pressAny clicks a button with a text, wherever it is.
func (b *browser) pressAny(text string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll("button, summary")].find(b => b.textContent.trim() === %q && !b.disabled);
		found?.click(); // at once: the page may be drawn anew at any moment
		return found !== undefined;
	})()`, text))
}

// pressMoving clicks on something at once, once it is shown, where the page moves with what is sensed:
// a click of the mouse finds the place first and comes too late.
func (b *browser) pressMoving(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	b.waitFor(fmt.Sprintf(`document.querySelector(%[1]q) !== null && document.querySelector(%[1]q).click() === undefined`, selector))
}

// speakHere chooses a language, and comes back to the screen that was shown.
func (b *browser) speakHere(language string) {
	b.t.Helper()
	back := read[string](b, "location.hash")
	b.speak(language)
	b.visitHere(back)
}

// waitLong waits until an expression is true, for what takes the appliance minutes.
func (b *browser) waitLong(expression string) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && !read[bool](b, expression); {
		time.Sleep(time.Second)
	}
	b.waitFor(expression)
}

// visitHere goes to a screen by its address.
func (b *browser) visitHere(hash string) {
	b.t.Helper()
	read[bool](b, fmt.Sprintf(`(location.hash = %q) !== undefined`, hash))
}

// narrow fails when the page scrolls sideways on the narrowest screen.
func (b *browser) narrow(what string) {
	b.t.Helper()
	b.resize(320, 700)
	if wide := read[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		b.t.Errorf("%s: at 320 px the page is %d px wide", what, wide)
	}
	b.resize(390, 844)
}

func has(text string) string { return fmt.Sprintf(`document.body.textContent.includes(%q)`, text) }

func TestHomeIsPausedLeftAndPlayedWith(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	b.narrow("Home with the demo's bar")
	b.pressAny("Pause")
	b.pictures("pause-menu")
	b.pressAny("1 hour")
	b.waitFor(sentence + ` === "Sensing is paused" && /goes on by itself at \d\d:\d\d/.test(document.body.textContent)`)
	b.pictures("paused")
	b.pressAny("End the pause")
	b.waitFor(sentence + ` !== "Sensing is paused"`)
	b.pressAny("Away")
	b.waitFor(`/Away in \d+ s/.test(document.body.textContent)`)
	b.pictures("leaving")
	b.pressAny("Undo")
	b.waitFor(`!/Away in \d+ s/.test(document.body.textContent)`)
	b.pressAny("Leave")
	b.waitFor(`/switched to away at/.test(document.body.textContent)`)
	b.pictures("away")
	b.pressAny("At home")
	b.waitFor(`!/switched to away at/.test(document.body.textContent)`)

	b.waitFor(`/^Quiet/.test(` + sentence + `)`)
	b.pressAny("Walk now")
	b.waitFor(`/^Motion in/.test(` + sentence + `)`)
	b.pressAny("Unplug a node")
	b.waitFor(has("Plug Office extender in again"))
	b.waitLong(`[...document.querySelectorAll(".tile.blind")].some(tile => /Office/.test(tile.textContent) && /offline/.test(tile.textContent))`)
	b.pictures("unplugged")
	b.pressAny("Plug Office extender in again")
	b.waitFor(has("Unplug a node"))
	for language, words := range map[string][]string{"de": {"Demo: simuliertes Zuhause", "Jemand läuft"}, "fr": {"Démo : logement simulé", "Marcher maintenant"}} {
		b.speakHere(language)
		for _, w := range words {
			b.waitFor(has(w))
		}
	}
	b.narrow("Home in French")
}

// TestHomeNamesTheRoomsInOneOfWhichMotionIs changes what comes in, since a simulated walk is mostly in one room.
func TestHomeNamesTheRoomsInOneOfWhichMotionIs(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false)
	b.beforePages(`WebSocket = class extends WebSocket {
		set onmessage(take) {
			super.onmessage = (m) => take({ data: JSON.stringify({ ...JSON.parse(m.data), motion_tripped: 1, loc_name: "Kitchen", rooms: ["Hallway", "Kitchen"] }) });
		}
	}
	const ask = fetch;
	asked = 0;
	fetch = async (...of) => {
		const answer = await ask(...of);
		if (!/overview/.test(of[0])) return answer;
		const home = await answer.json();
		asked++;
		return Response.json({ ...home, state: "motion", rooms: home.rooms.map((r) => ({ ...r, state: "motion" })) });
	}`)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	b.waitFor(sentence + ` === "Motion in Hallway or Kitchen now"`)
	b.waitFor(`[...document.querySelectorAll(".tile.motion")].map(tile => /Kitchen/.test(tile.textContent)).join() === "true"`)
	before := read[int](b, "asked")
	read[bool](b, `document.dispatchEvent(new Event("visibilitychange"))`)
	b.waitFor(fmt.Sprintf("asked > %d", before))
	b.waitFor(`[...document.querySelectorAll(".tile.motion")].map(tile => /Kitchen/.test(tile.textContent)).join() === "true"`)
	b.speakHere("de")
	b.waitFor(sentence + ` === "Bewegung: Hallway oder Kitchen"`)
}

func TestLiveDrawsWhatIsSensed(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 800)
	b.tolerate("willReadFrequently") // this test reads what is drawn
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	b.visitHere("#/live")
	b.do(chromedp.WaitVisible(chromedp.CSS(".plot canvas")))
	b.pressAny("Walk now")
	b.waitFor(`document.querySelectorAll(".lines tbody tr").length === 6 && [...document.querySelectorAll(".lines tbody td:nth-child(4)")].some(td => parseInt(td.textContent) > 0)`)
	b.waitFor(`/The strongest: [A-Z]\w+/.test(document.querySelector(".plot").getAttribute("aria-label"))`)
	drawn := `(() => { const c = document.querySelector(".plot canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n })()`
	b.waitFor(drawn + ` > 2000`) // the lines grow
	b.pictures("live-rooms")
	b.narrow("Live")
	b.resize(1280, 800)
	b.pressAny("Links")
	b.waitFor(`document.querySelectorAll(".lines tbody tr").length >= 9 && document.querySelectorAll(".lines tbody input:checked").length === 8`)
	b.waitFor(`[...document.querySelectorAll(".lines tbody td:last-child")].some(td => td.textContent === "senses")`)
	b.pressMoving(".lines tbody input")
	b.waitFor(`document.querySelectorAll(".lines tbody input:checked").length !== 8`)
	b.pictures("live-links")
	b.pressAny("Hold still")
	held := read[string](b, `document.querySelector(".lines").textContent`)
	time.Sleep(1500 * time.Millisecond)
	if now := read[string](b, `document.querySelector(".lines").textContent`); now != held {
		t.Error("the numbers go on while the plot is held still")
	}
	b.pressAny("Go on")
	b.pressAny("5 min")
	b.waitFor(`document.querySelector(".plot").getAttribute("aria-label").includes("5 minutes")`)
	b.pressAny("1 min")
	busy := func() float64 {
		for _, m := range command(b, performance.GetMetrics, cdp.Empty{}).Metrics {
			if m.Name == "TaskDuration" {
				return m.Value
			}
		}
		return 0
	}
	command(b, performance.Enable, performance.EnableParams{})
	if testing.Verbose() { // a figure to look at, not to fail by
		before := busy()
		time.Sleep(20 * time.Second)
		t.Logf("the page's thread is busy for %.2f s of 20", busy()-before)
	}
	for language, words := range map[string][]string{"de": {"Strecken", "die Schwelle, die jede Strecke gerade hat"}, "fr": {"Liaisons", "une liaison remarque un mouvement"}} {
		b.speakHere(language)
		for _, w := range words {
			b.waitFor(has(w))
		}
	}
}

func TestInsightsTellOfDaysAndNights(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".demobar")))
	b.visitHere("#/insights")
	b.waitFor(`document.querySelectorAll(".bars .past").length >= 6`)
	b.waitFor(`document.querySelectorAll(".nightlist li").length >= 3 && /(Quiet|Restless) night: \d\d:\d\d( [AP]M)? to \d\d:\d\d/.test(document.body.textContent)`)
	b.pictures("insights")
	b.narrow("Insights")
	b.pressAny("Switch it off")
	b.waitFor(has("nothing leaves the box"))
	b.pictures("insights-offer")
	b.pressAny("Switch it on")
	b.waitFor(`document.querySelectorAll(".nightlist li").length >= 3`)
	for language, words := range map[string][]string{"de": {"Nächte", "Bewegung in"}, "fr": {"Nuits", "Du mouvement pendant"}} {
		b.speakHere(language)
		for _, w := range words {
			b.waitFor(has(w))
		}
	}
	b.narrow("Insights in French")
}

func TestWallShowsTheHomeAcrossTheRoom(t *testing.T) {
	t.Parallel()
	b := open(t, 1280, 800)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page))
	b.pressMoving(".truth .wide a")
	b.do(chromedp.WaitVisible(chromedp.CSS(".wall h1")))
	if n := read[int](b, `document.querySelectorAll(".ways").length`); n != 0 {
		t.Error("the wall shows the way to other screens")
	}
	if size := read[string](b, `getComputedStyle(document.querySelector(".wall h1")).fontSize`); size != "72px" {
		t.Errorf("the sentence is %s high, want 72px", size)
	}
	b.waitFor(`document.querySelectorAll(".wall .tile").length === 6 && /^\d\d:\d\d/.test(document.querySelector(".wall .clock").textContent)`)
	b.waitFor(`document.querySelector(".wall .tile.motion") !== null`)
	b.pictures("wall")
	b.narrow("the wall")
	read[bool](b, `dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}))`)
	b.do(chromedp.WaitVisible(chromedp.CSS(".ways")))
	b.visitHere("#/wall")
	b.pressMoving(".wall h1")
	b.do(chromedp.WaitVisible(chromedp.CSS(".ways")))
}
