package webtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// screens are the addresses of the app, as they are for somebody who is signed in to the demo. A
// new screen has its row here.
var screens = []string{
	"#/",
	"#/history",
	"#/history?span=week",
	"#/history?span=month",
	"#/alerts",
	"#/alerts/new/night",
	"#/people",
	"#/live",
	"#/insights",
	"#/inbox",
	"#/me",
	"#/wall",
	"#/devices",
	"#/links",
	"#/walk",
	"#/tuning",
	"#/map",
	"#/sensors",
	"#/setup",
	"#/installs",
}

// member is the home of somebody who is not its owner.
var member = map[string]any{"home": map[string]any{
	"id": 17, "name": "Home", "timezone": "America/Toronto", "role": "member", "scene": "home", "since": 1763308800, "live": false, "asked": true, "scene_at": 0, "scene_by": "", "away_at": 0,
}}

// gone is what the appliance answers of a home that has moved.
var gone = answer{status: 404, code: "network_away", detail: "network 17 has moved to http://192.168.10.3:8080/gatekeeper, where its devices are sent: nothing of it is read or changed here any more"}

// states are what the demo does not show: who asks, and what the appliance answers.
var states = []struct {
	name    string
	signed  bool
	address string
	answers answers
}{
	{"sign-in of an appliance without an owner", false, "", answers{"/web/v1/boot": {change: map[string]any{"claimed": false}}}},
	{"no home", true, "", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: map[string]any{"code": false, "homes": []any{}}}}},
	{"no answer at all", true, "", answers{"/web/v1/overview": {status: 503}}},
	{"no rooms", true, "", answers{"/web/v1/overview": {change: map[string]any{"rooms": []any{}, "state": "unknown"}}}},
	{"paused, in two homes", true, "", answers{"/web/v1/overview": {change: map[string]any{
		"state": "paused", "homes": []any{map[string]any{"id": 17, "name": "Home"}, map[string]any{"id": 18, "name": "Cottage by the lake with a very long name"}},
	}}}},
	{"no alerts", true, "#/alerts", answers{"/web/v1/alerts": {change: map[string]any{"alerts": []any{}}}}},
	{"alerts refused", true, "#/alerts", answers{"/web/v1/alerts": {status: 503}}},
	{"a day without data", true, "#/history/2025-11-10", answers{"/web/v1/rooms/history": {change: map[string]any{"days": []any{}, "rooms": []any{}}}}},
	{"history refused", true, "#/history", answers{"/web/v1/rooms/history": {status: 503}}},
	{"a moment that is gone", true, "#/moment/x", answers{"/web/v1/moments/x": {status: 404}}},
	{"insights without data", true, "#/insights", answers{"/web/v1/days": {change: map[string]any{"days": []any{}}}, "/web/v1/nights": {change: map[string]any{"nights": []any{}}}}},
	{"insights without nights", true, "#/insights", answers{"/web/v1/nights": {change: map[string]any{"enabled": false}}}},
	{"an empty inbox", true, "#/inbox", nil},
	{"the inbox refused", true, "#/inbox", answers{"/web/v1/notices": {status: 503}}},
	{"people refused", true, "#/people", answers{"/api/v1/network_memberships": {status: 503}}},
	{"live motion refused", true, "#/live", nil},
	{"an account that cannot be asked for", true, "#/me", answers{"/api/v1/users/10": {status: 503}, "/web/v1/sessions": {status: 503}}},
	{"every kind of device, and the window open", true, "#/devices", nil},
	{"nothing is heard yet", true, "#/devices", answers{"/web/v1/devices": {change: map[string]any{"devices": []any{}, "window_until": nil}}}},
	{"devices refused", true, "#/devices", answers{"/web/v1/devices": {status: 503}}},
	{"devices of somebody who does not set up", true, "#/devices", answers{"/web/v1/overview": {change: member}}},
	{"a device", true, "#/devices/leaf/603", nil},
	{"a device that is gone", true, "#/devices/node/9", nil},
	{"links of every kind", true, "#/links", nil},
	{"no links", true, "#/links", answers{"/web/v1/links": {change: map[string]any{"links": []any{}}}, "/web/v1/calibrations": {change: map[string]any{"calibrations": []any{}}}}},
	{"links refused", true, "#/links", answers{"/web/v1/links": {status: 503}}},
	{"a link", true, "#/links/GW.02bb00000031", nil},
	{"a link that is gone", true, "#/links/none", nil},
	{"a walk test that somebody else runs", true, "#/walk", nil},
	{"a walk test that is over", true, "#/walk", answers{"/web/v1/walk-tests": {change: map[string]any{"running": false, "room": ""}}}},
	{"no rooms to walk", true, "#/walk", answers{"/web/v1/walk-tests": {change: map[string]any{"id": "", "running": false, "room": "", "rooms": []any{}, "ends_at": nil}}, "/web/v1/devices": {change: map[string]any{"devices": []any{}}}, "/web/v1/links": {change: map[string]any{"links": []any{}}}}},
	{"tuning while sensing is paused", true, "#/tuning", answers{"/api/v1/network_motion_config": {change: map[string]any{"motion_paused": true}}}},
	{"tuning refused", true, "#/tuning", answers{"/api/v1/network_motion_config": {status: 503}}},
	{"a map of several layers", true, "#/map", nil},
	{"an empty map", true, "#/map", answers{"/api/v1/topologies": {change: map[string]any{"devices": []any{}, "links": []any{}}}}},
	{"the map refused", true, "#/map", answers{"/api/v1/topologies": {status: 503}}},
	{"sensors", true, "#/sensors", nil},
	{"sensors switched off", true, "#/sensors", answers{"/api/v1/sensors/integrations": {status: 404}}},
	{"sensors without a hub", true, "#/sensors", answers{"/api/v1/sensors/devices": {change: map[string]any{"devices": []any{}}}}},
	{"sensors of Home Assistant", true, "#/sensors", answers{"/web/v1/sensor-providers": {change: map[string]any{"used": "home_assistant"}}, "/api/v1/sensors/devices": {change: map[string]any{"devices": []any{}}}}},
	{"sensors refused", true, "#/sensors", answers{"/api/v1/sensors/integrations": {status: 503}}},
	{"a home that has moved", true, "", answers{"/web/v1/overview": gone}},
	{"a home on its way", true, "", answers{"/web/v1/overview": {status: 404, code: "network_away"}}},
	{"somebody whom Home Assistant may show", true, "#/me", answers{"/web/v1/overview": {change: map[string]any{"presence_shown": true}}}},
	{"too little room on the disk", true, "", answers{"/web/v1/overview": {change: map[string]any{"read_only": true}}}},
}

// TestEveryScreen holds every screen, on a phone and on a desk, in light and dark, against the
// rules for all of them.
func TestEveryScreen(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.beforePages(hearing)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	for _, language := range []string{"en", "de", "fr"} {
		read[bool](b, `localStorage.setItem("sensegate-language", "`+language+`") === undefined`)
		b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("h1")))
		for _, address := range screens {
			read[bool](b, `(location.hash = "`+address+`") !== ""`)
			b.settled(address)
			name := address + " in " + language
			b.hasOneHeading(name)
			b.isTranslated(name, language)
			if language == "en" {
				b.isAccessible(name)
			}
			b.fitsNarrow(name)
		}
	}
}

// TestEveryState holds what the demo does not show against the same rules.
func TestEveryState(t *testing.T) {
	t.Parallel()
	for _, signed := range []bool{false, true} {
		b := open(t, 390, 844)
		b.tolerate("status of 403", "status of 404", "status of 503")
		if signed {
			b.signedIn()
		}
		for _, state := range slices.Concat(states, firstRunStates, boxStates, nodeStates) {
			if state.signed == signed {
				b.do(chromedp.Navigate(fixed(t, state.answers)+"/"+state.address), chromedp.WaitVisible(chromedp.CSS("h1")))
				b.settled(state.address)
				if strings.HasPrefix(state.name, "box: ") {
					b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1, .fr-installs h1")))
				}
				b.hasOneHeading(state.name)
				b.isAccessible(state.name)
				b.fitsNarrow(state.name)
			}
		}
	}
}

// settled waits until the screen of an address shows what it asked for.
func (b *browser) settled(address string) {
	b.t.Helper()
	b.waitFor(`("` + address + `" === "" || location.hash === "` + address + `") && document.querySelector("h1") !== null && !document.querySelector("[aria-busy=true]")`)
}

// hasOneHeading: the one h1 has the focus.
func (b *browser) hasOneHeading(name string) {
	b.t.Helper()
	b.waitFor(`document.querySelectorAll("h1").length !== 1 || document.activeElement === document.querySelector("h1")`)
	if n := read[int](b, `document.querySelectorAll("h1").length`); n != 1 {
		b.t.Errorf("%s: %d h1, want one", name, n)
	}
}

// isAccessible: axe-core finds nothing, on a phone and on a desk, in light and dark.
func (b *browser) isAccessible(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		b.resize(width, 844)
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for _, v := range b.violations() {
				b.t.Errorf("%s, %d px, %s: %s: %s\n\t%s", name, width, scheme, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
			}
		}
	}
}

// tooWide are the elements that stand out at the right.
const tooWide = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
	.filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.slice(0, 40))`

// fitsNarrow: at 320 px, and with text of twice the size, nothing is scrolled sideways.
func (b *browser) fitsNarrow(name string) {
	b.t.Helper()
	b.resize(320, 700)
	for _, size := range []string{"100%", "200%"} {
		read[string](b, `document.documentElement.style.fontSize = "`+size+`"`)
		if wide := read[[]string](b, tooWide); len(wide) > 0 {
			b.t.Errorf("%s: at 320 px and %s text these stand out: %v", name, size, wide)
		}
	}
	read[string](b, `document.documentElement.style.fontSize = ""`)
	b.resize(390, 844)
}

// hearing keeps what the appliance answers, so that data are told from words.
const hearing = `{
	const ask = globalThis.fetch;
	globalThis.heard = "";
	globalThis.fetch = async (...given) => {
		const answer = await ask(...given);
		answer.clone().text().then((text) => (globalThis.heard += text), () => {});
		return answer;
	};
}`

// shown are the texts on the page, and those for who does not see it, that are no data.
const shown = `(() => {
	const texts = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) texts.add(walk.currentNode.data.trim());
	for (const e of document.querySelectorAll("[aria-label]")) texts.add(e.getAttribute("aria-label").trim());
	return [...texts].filter((text) => /[a-z]{4}/.test(text) && !heard.includes(JSON.stringify(text).slice(1, -1)));
})()`

// word is a message in a file of words.
var word = regexp.MustCompile(`(?m)^\s+(\w+):\s*"((?:[^"\\]|\\.)*)"`)

// words returns the messages of a language by key.
func words(t *testing.T, language string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../src/words/*." + language + ".ts")
	if err != nil || len(files) == 0 {
		t.Fatalf("no words in %s: %v", language, err)
	}
	all := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range word.FindAllStringSubmatch(string(raw), -1) {
			all[m[1]] = m[2]
		}
	}
	return all
}

// isTranslated: the page says its language, and has no text that is a message of English and none
// of its own language's, nor one that is no message and no data.
func (b *browser) isTranslated(name, language string) {
	b.t.Helper()
	b.waitFor(`document.documentElement.lang === "` + language + `"`)
	own, english := words(b.t, language), words(b.t, "en")
	pattern := regexp.MustCompile(`\\\{\w+\\\}`)
	var messages []*regexp.Regexp
	for _, message := range own {
		messages = append(messages, regexp.MustCompile("^"+pattern.ReplaceAllString(regexp.QuoteMeta(message), ".*")+"$"))
	}
	known := []string{"English", "Deutsch", "Français"}
	for _, text := range read[[]string](b, shown) {
		if slices.Contains(known, text) || slices.ContainsFunc(messages, func(m *regexp.Regexp) bool { return m.MatchString(text) }) {
			continue
		}
		for key, message := range english {
			if text == message {
				b.t.Errorf("%s: %q is English (%s)", name, text, key)
			}
		}
		if language != "en" && englishWord.MatchString(text) {
			b.t.Errorf("%s: %q looks English and stands in no words", name, text)
		}
	}
}

// englishWord is a word that neither German nor French has.
var englishWord = regexp.MustCompile(`(?i)\b(the|and|with|your|this|that|is|are|of|to|ago|minutes?\s+ago|nothing|show|hours?)\b`)

func TestWordsAreFound(t *testing.T) {
	t.Parallel()
	if got := words(t, "de")["signOut"]; got != "Abmelden" {
		t.Errorf("signOut is %q", got)
	}
}
