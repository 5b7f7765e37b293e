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

// shownAs is what the app calls a device of the installation before somebody names it, and the
// refused one, which is let in nowhere yet.
func shownAs(list []install.Device, d install.Device) string {
	at := slices.IndexFunc(list, func(o install.Device) bool { return o.ID == d.ID })
	switch {
	case d.Name == install.RefusedNode:
		return d.ID
	case d.Node && at == 0:
		return "GWA1000133"
	case d.Node:
		return fmt.Sprintf("EXA%d", 1000133+at)
	default:
		return strings.ReplaceAll(strings.ToLower(d.Name), " ", "-")
	}
}

// device is the entry of a device in the list of the fourth step and of the devices.
func deviceRow(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".su-device")].find((li) => li.querySelector(".su-what").innerText.includes(%q))`, name)
}

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
	b.waitFor(`document.querySelectorAll(".su-device").length === 1`)
	b.shot("f4-first")
	list := play.Devices()
	for _, d := range list[1:] {
		play.Next()
		b.waitFor(deviceRow(shownAs(list, d)) + ` !== undefined`)
		t.Logf("%s: %s", d.Name, read[string](b, deviceRow(shownAs(list, d))+`.innerText`))
	}
	b.shot("f4-all")
	b.waitFor(`/radio frame/.test(document.body.innerText)`)
	b.shot("f4-deaf")
	t.Log(read[string](b, `document.body.innerText`))
}
