package webtest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sensegate/firmware-sim/install"
	"sensegate/firmware-sim/sim"
)

// installIn lets the installation with its faults ask for the appliance until the test ends.
func (p *vacant) installIn(b *browser) *install.Installation {
	t := p.t
	t.Helper()
	play, err := install.New(install.Config{
		Gatekeeper: "http://" + p.HTTP + "/gatekeeper", Seed: 1, Log: slog.New(slog.DiscardHandler),
		Refused: sim.OtherNetwork, Deaf: true, Moved: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- play.Run(ctx) }()
	t.Cleanup(func() {
		b.close()
		stop()
		<-ended // its appliance may be gone before it
	})
	return play
}

// shownAs is what the app calls a device of the installation before somebody names it.
func shownAs(list []install.Device, d install.Device) string {
	at := slices.IndexFunc(list, func(o install.Device) bool { return o.ID == d.ID })
	switch {
	case d.Node && at == 0:
		return "GWA1000133"
	case d.Node:
		return fmt.Sprintf("EXA%d", 1000133+at)
	default:
		return strings.ReplaceAll(strings.ToLower(d.Name), " ", "-")
	}
}

// deviceRow is the entry of a device in the lists of the fourth step and of the devices.
func deviceRow(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".su-device")].find((li) => li.querySelector(".su-what").innerText.includes(%q))`, name)
}

// tells waits until the entry of a device says all of the texts.
func (b *browser) tells(device string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.waitFor(fmt.Sprintf(`%s?.innerText.includes(%q) === true`, deviceRow(device), text))
	}
}

// come lets the next devices come, so many, and waits for each of them.
func (b *browser) come(play *install.Installation, many int) {
	b.t.Helper()
	list := play.Devices()
	for range many {
		d, ok := play.Next()
		if !ok {
			b.t.Fatal("no device is left to come")
		}
		b.waitFor(deviceRow(shownAs(list, d)) + ` !== undefined`)
	}
}

// What the devices with a fault are called.
const (
	refusedShown = "EXA1000137"
	deafShown    = "EXA1000136"
)

// TestFirstRunWithFaults: devices come one after the other, one is refused, one is deaf and one says
// that it is in another room; each is told with what to do, and is fine once that is done. In the
// middle of it the box is restarted.
func TestFirstRunWithFaults(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	h := &hand{browser: b}
	play := p.installIn(b)
	b.do(chromedp.Navigate(p.page(lanName)+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.account("Robin", "robin@example.com")
	h.at("One home was found")
	h.tap("This is the home")
	h.at("Plug in the devices")
	b.devicesWithFaults(p, play)
	h.tap("Go on")
	h.at("Which room is each device in?")
	h.roomsOf(play)
	h.tap("Go on")
	h.walkAstray(play)
}

// devicesWithFaults plays the fourth step.
func (b *browser) devicesWithFaults(p *vacant, play *install.Installation) {
	t := b.t
	t.Helper()
	read[bool](b, `globalThis.loaded = true`)
	b.waitFor(`document.querySelectorAll(".su-device").length === 1`)
	b.shot("faults-4-first")
	b.come(play, 4)
	b.tells(refusedShown, "refused", "It belongs to another network of this box.", "Unplug it and let new devices in.")
	b.tells(deafShown, "no radio frame of it is heard", "Unplug it, wait ten seconds")
	b.come(play, 2)

	p.again()
	b.come(play, 6)
	if read[string](b, `document.querySelector("h1").textContent`) != "Plug in the devices" || !read[bool](b, `globalThis.loaded === true`) {
		t.Error("after the restart of the box the page is another one")
	}
	b.tells(refusedShown, "It belongs to another network of this box.")
	b.tells(deafShown, "no radio frame of it is heard")
	b.tells("fridge", "No access point hears it.")
	b.shot("faults-4-all")

	if err := play.SetRefused(sim.NotRefused); err != nil {
		t.Fatal(err)
	}
	play.SetDeaf(false)
	b.waitFor(`document.querySelectorAll(".su-device.su-online").length === 13 && document.querySelectorAll(".su-device").length === 13`)
	b.shot("faults-4-fine")
}

// roomsOf chooses the rooms of the nodes; those of the others follow from their names.
func (h *hand) roomsOf(play *install.Installation) {
	h.t.Helper()
	h.waitFor(`document.querySelectorAll(".fr-devices select").length === 13 && document.querySelector("[aria-busy=true]") === null`)
	list, rooms := play.Devices(), map[string]string{refusedShown: "Bathroom"}
	for _, d := range list {
		if d.Node && d.Name != install.RefusedNode {
			rooms[shownAs(list, d)] = d.Room
		}
	}
	h.rooms(rooms)
	h.shot("faults-5-rooms")
}

// walkAstray walks through the office, whose device stands in the bedroom at first. How much a walk moves
// each link is chance, as it is in a home; who is told something unexpected walks again, a few times.
func (h *hand) walkAstray(play *install.Installation) {
	h.t.Helper()
	const tries = 5
	walkUntil := func(outcome string) {
		h.t.Helper()
		for try := 1; ; try++ {
			h.waitFor(`document.querySelector(".su-now.su-walking") !== null`)
			if err := play.Walk("Office"); err != nil {
				h.t.Fatal(err)
			}
			h.waitFor(`document.querySelector(".su-now.su-seen, .su-now.su-unseen") !== null`)
			if try == tries || read[bool](h.browser, outcome) {
				break
			}
			play.Stop()
			h.tap("Walk here again")
		}
		h.waitFor(outcome)
	}
	h.at("Walk through each room")
	h.waitFor(`document.querySelectorAll(".su-rooms label").length === 6`)
	for _, room := range []string{"Bathroom", "Bedroom", "Hallway", "Kitchen", "Living room"} {
		h.taps++
		read[bool](h.browser, `[...document.querySelectorAll(".su-rooms label")].find((l) => l.textContent.trim() === "`+room+`").click() === undefined`)
	}
	h.tap("Start in Office")
	walkUntil(`/Office was not sensed\s+Motion was sensed in (?!Office)[A-Z]/.test(document.body.innerText)`)
	h.shows("Check that each device stands in the room it has here")
	h.shot("faults-6-elsewhere")

	play.Stop()
	play.SetMoved(false)
	h.tap("Walk here again")
	walkUntil(`document.querySelector(".su-now.su-seen") !== null`)
	h.shows("Office is sensed")
	h.shows("printer")
	h.shot("faults-6-seen")
	h.tap("End the test")
	h.waitFor(`document.querySelector(".su-results .su-seen") !== null`)
	h.tap("Go on")
	h.at("Who lives here?")
}
