package webtest

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sensegate/motion/uplink/uplinktest"
)

// uplinkCard is the card of an uplink.
const uplinkCard = `document.querySelector("section.bx-section:has(h2)")`

// inCard is true once the card of the uplink says something.
func inCard(text string) string {
	return fmt.Sprintf(`(`+uplinkCard+`?.textContent ?? "").includes(%q)`, text)
}

// fields returns what the form that is shown first is filled with.
func (b *browser) fields() string {
	b.t.Helper()
	return read[string](b, `[...document.querySelector("form").elements].filter((e) => e.name).map((e) => e.name + "=" + (e.type === "checkbox" ? e.value + (e.checked ? "+" : "-") : e.value)).join(" ")`)
}

// showsTop scrolls to something, for a picture.
func (b *browser) showsTop(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	read[bool](b, `(document.querySelector("`+selector+`").scrollIntoView(), true)`)
}

// TestUplinkIsMadeTriedChangedAndRemoved with a real broker: a wrong password is told in words of the
// page, nothing is made then; the right one connects; the form of a change is filled in and keeps the
// password; what is changed holds after a reload; removing is asked first.
func TestUplinkIsMadeTriedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: map[string]string{"box": "right word"}})
	host, port, err := net.SplitHostPort(broker.Address())
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 390, 844)
	b.tolerate("net::", "422 (Unprocessable")
	s := play(b, false) // whose guest looks after the box
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.visitHere("#/box/uplinks")
	b.waitFor(has("Nothing is sent out of the box"))
	b.isAccessible("a new uplink")
	b.pictures("uplink-new")

	b.fill("Broker", host)
	b.fill("Port", port)
	b.fill("User name", "box")
	b.fill("Password", "wrong word")
	b.pressShown("Try and keep")
	b.waitFor(has("It refuses this user name and password: check both."))
	b.waitFor(`[...document.querySelectorAll(".bx-checks li")].map((e) => e.className).join() === "bx-ok,bx-bad"`)
	b.isAccessible("a test that went wrong")
	b.showsTop(".bx-checks")
	b.pictures("uplink-wrong")
	if read[bool](b, uplinkCard+` !== null`) {
		t.Fatal("an uplink that does not work was made without being asked")
	}
	b.fill("Password", "right word")
	b.pressShown("Try and keep")
	heard := broker.Listen("homeassistant/#")
	b.waitFor(inCard("connected"))
	b.waitFor(`document.querySelector("h1").textContent === "One uplink, connected"`)
	b.waitFor(inCard("All homes → "+broker.Address()) + ` && ` + inCard("entities for Home Assistant, and their commands"))
	if m := heard.Next(); len(m.Payload) == 0 {
		t.Errorf("Home Assistant gets nothing at %s", m.Topic)
	}
	b.pressShown("Test homeassistant")
	b.waitFor(`[...document.querySelectorAll(".bx-checks li")].map((e) => e.textContent).join() === "✓The broker answers fine,✓It lets the box in fine,✓It takes messages fine"`)
	b.isAccessible("an uplink")
	b.fitsNarrow("an uplink")
	b.pictures("uplink")

	b.pressShown("Edit homeassistant")
	want := "user=box password= network= tls=on- use=home_assistant+ use=events- use=history- use=live- use=commands- prefix= ca="
	if got := b.fields(); got != fmt.Sprintf("host=%s port=%s ", host, port)+want {
		t.Errorf("the form has %s, want %s", got, want)
	}
	b.isAccessible("a change of an uplink")
	b.fitsNarrow("a change of an uplink")
	b.showsTop(".bx-section form")
	b.pictures("uplink-change")
	const use = `document.querySelector("form input[value=home_assistant]").click() === undefined`
	read[bool](b, use)
	b.pressShown("Try and keep")
	b.waitFor(has("use: want one or more of")) // a mistake is told, not only that there is one
	read[bool](b, use)
	read[bool](b, `document.querySelector("form input[value=events]").click() === undefined`)
	b.pressShown("Try and keep")
	b.waitFor(inCard("every event, at once") + ` && ` + uplinkCard + `.querySelector("form") === null && ` + inCard("connected"))
	b.waitFor(`document.activeElement.textContent === "Edit homeassistant"`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".bx h1")))
	b.waitFor(inCard("every event, at once") + ` && ` + inCard("connected"))

	b.speakHere("de")
	b.pressShown("Ändern homeassistant")
	b.fill("Passwort", "wrong word")
	b.pressShown("Probieren und behalten")
	b.waitFor(inCard("Er lehnt Benutzername und Passwort ab: beide prüfen."))
	b.waitFor(`document.querySelector("h1").textContent === "Ein Uplink, verbunden"`) // nothing was changed
	b.waitFor(`document.querySelector("input[name=anyway]").click() === undefined`)
	b.pressShown("Probieren und behalten")
	b.waitFor(`document.querySelector("h1").textContent === "homeassistant ist nicht verbunden" && ` + uplinkCard + `.querySelector("form") === null`)
	b.waitFor(inCard("Er lehnt Benutzername und Passwort ab: beide prüfen."))
	b.pictures("uplink-refused")
	b.speakHere("en")

	b.pressShown("Remove homeassistant")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog.ask")), chromedp.Click(chromedp.CSS("dialog.ask button[type=button]")))
	b.waitFor(`document.querySelector("dialog") === null && ` + uplinkCard + ` !== null`)
	b.pressShown("Remove homeassistant")
	b.inDialog("")
	b.waitFor(has("Nothing is sent out of the box"))
}

// TestUplinkOfTheConfigurationIsReadOnly, and says so.
func TestUplinkOfTheConfigurationIsReadOnly(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/uplinks", nil)
	cards := read[[]string](b, `[...document.querySelectorAll("section.bx-section")].map((e) => [...e.querySelectorAll("button")].map((e) => e.textContent).join())`)
	if strings.Join(cards, "; ") != "Test homeassistant,Edit homeassistant,Remove homeassistant; Test fleet" {
		t.Errorf("one can %v", cards)
	}
	b.waitFor(has("It stands in the configuration file: change it there.") + ` && ` + has("Nothing listens there: check host and port, and that the broker runs."))
	b.pictures("uplinks")
	b.pressAny("Edit homeassistant")
	b.waitFor(has("Leave it empty to keep the present one"))
	b.fill("Port", "8883")
	b.waitFor(`document.querySelector("input[name=tls]").click() === undefined`)
	b.pressAny("Try and keep")
	b.inDialog("right")
	b.waitFor(`document.querySelector("section.bx-section form") === null`)
	body := `{"name":"homeassistant","username":"sensegate","password":"","networks":[17],"url":"mqtts://homeassistant.local:8883","uses":["home_assistant"],"prefix":"","ca":""}`
	b.wantSent("POST uplinks/test "+body, "POST uplinks/test "+body, "PUT uplinks/homeassistant "+body)
}

// TestUserForHomeAssistant has no topics of its own, and is told from others.
func TestUserForHomeAssistant(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/mqtt", nil)
	b.waitFor(`/for Home Assistant/.test(` + row("homeassistant") + `.textContent) && /zigbee2mqtt\/#/.test(` + row("zigbee2mqtt") + `.textContent)`)
	b.waitFor(`document.querySelector(".bx-new").open = true`)
	b.fill("Name", "ha")
	read[bool](b, `document.querySelector(".bx-new input[type=checkbox]").click() === undefined`)
	b.waitFor(`document.querySelector("input[name=prefix]") === null`)
	b.isAccessible("a new MQTT user")
	b.fitsNarrow("a new MQTT user")
	b.pictures("mqtt-user")
	b.pressAny("Make")
	b.inDialog("right")
	b.waitFor(secretShown + ` !== ""`)
	if got := read[string](b, secretShown); got != "mqtt://192.168.1.20:1883 laptop Xk3v9QpLm2Rt8wZa" {
		t.Errorf("it shows %s", got)
	}
	body := `POST mqtt-users {"name":"ha","topic_prefix":"","home_assistant":true}`
	b.wantSent(body, body)
}
