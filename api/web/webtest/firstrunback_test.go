package webtest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// phoneBack presses the phone's way back.
func (b *browser) phoneBack() {
	b.t.Helper()
	read[bool](b, `history.back() === undefined`)
}

// choice is the room that is chosen for a device.
const choice = `(() => {
	const label = [...document.querySelectorAll(".fr-devices label")].find((l) => l.textContent === "GWA1000133");
	return label && document.getElementById(label.htmlFor).value;
})()`

// TestFirstRunAndTheWayBack: the phone's way back leads one step back, from the first step into the app, and
// loses nothing.
func TestFirstRunAndTheWayBack(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	h := &hand{browser: b}
	p.plugIn(b, 0)
	b.do(chromedp.Navigate(p.page(lanName)), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.tap("Set it up")
	h.at("Enter the setup code")
	h.types("#code", p.code)
	h.tap("Go on")
	h.at("Make your account")
	b.phoneBack()
	h.at("Enter the setup code")
	if kept := read[string](b, `document.querySelector("#code").value`); kept != p.code {
		t.Errorf("the code is %q then", kept)
	}
	h.tap("Go on")
	h.account("Robin", "robin@example.com")
	h.at("One home was found")
	b.enter("#name", "Ho\u200bme") // which nobody can see
	h.tap("This is the home")
	b.shows("A name has letters, digits, spaces")
	b.enter("#name", "Home")
	h.tap("This is the home")
	h.at("Plug in the devices")
	h.tap("Go on")
	h.at("Which room is each device in?")
	b.waitFor(`document.querySelectorAll(".fr-devices select").length >= 12`)
	h.rooms(map[string]string{"GWA1000133": "Office"})
	b.phoneBack()
	h.at("Plug in the devices")
	h.tap("Go on")
	h.at("Which room is each device in?")
	b.waitFor(choice + ` === "Office"`)
	h.tap("Go on")
	h.at("Walk through each room")
	h.tap("Go on without")
	h.at("Who lives here?")
	b.phoneBack()
	h.at("Walk through each room")
	h.tap("Back") // the page's own, which goes the same way
	h.at("Which room is each device in?")
	b.do(chromedp.Reload())
	h.at("Which room is each device in?")
	b.waitFor(choice + ` === "Office"`)
	b.phoneBack()
	h.at("Plug in the devices")
	b.phoneBack()
	b.do(chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.shows("This home is not set up yet. Next: Devices.")
}

// TestAddressForDevices: they often resolve no names, so that the page tells them the box's IP address.
func TestAddressForDevices(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.signedIn()
	b.tolerate("status of 503")
	b.beforePages(`{ // a minute passes at once
		const wait = globalThis.setTimeout;
		globalThis.setTimeout = (fn, ms, ...rest) => wait(fn, ms === 60_000 ? 100 : ms, ...rest);
	}`)
	b.do(chromedp.Navigate(fixed(t, answers{"/web/v1/setup": {change: map[string]any{"homes": []any{}}}}) + "/#/setup"))
	b.shows("http://192.168.1.20:8080/gatekeeper")
}

// TestInstallerHasAnAccount: who lives in no home changes their own account as members do.
func TestInstallerHasAnAccount(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.signedIn()
	b.tolerate("status of 404", "status of 503")
	b.do(chromedp.Navigate(fixed(t, answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "")}})+"/#/installs"), chromedp.WaitVisible(chromedp.CSS(".ways")))
	read[bool](b, `document.querySelector('.ways a[href="#/me"]').click() === undefined`)
	for _, text := range []string{"sam@example.com", "Name and address", "Change the password", "Where you are signed in", "A ZIP file with your account and your sessions.", "Delete my account"} {
		b.shows(text)
	}
	if said := read[string](b, `document.querySelector("main").innerText`); said == "" || read[bool](b, has("Give up")) || read[bool](b, has("Phones that get")) {
		t.Errorf("an installer is offered what is for members: %s", said)
	}
	b.shot("installer-me")
}
