package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Where all devices log in nobody is asked; a rule that asks for it shows that it does.
func TestAlertCountsDevicesThatLogInAlone(t *testing.T) {
	t.Parallel()
	for _, others := range []bool{true, false} {
		b := open(t, 390, 844)
		b.signedIn()
		b.stopClock()
		page := fixed(t, answers{"/web/v1/alerts": {change: map[string]any{"unauthenticated": others}}})
		b.do(chromedp.Navigate(page+"/#/alerts/new/night"), chromedp.WaitVisible(chromedp.CSS(".ruleform")))
		const box = `document.querySelector("input[name=authenticated]")`
		if asked := read[bool](b, box+" !== null"); asked != others {
			t.Fatalf("a home with nodes that do not log in %v: asked %v", others, asked)
		}
		if !others {
			continue
		}
		read[bool](b, box+".click() === undefined")
		b.waitFor(`document.querySelector(".said").textContent.endsWith("; only devices that log in count")`)
		if body := read[string](b, `document.querySelector(".said").textContent`); !strings.HasPrefix(body, "Every day") {
			t.Errorf("the rule in words: %q", body)
		}
		b.resize(320, 700)
		if read[bool](b, "document.documentElement.scrollWidth > 320") {
			t.Error("the form scrolls sideways at 320 px")
		}
		read[bool](b, fmt.Sprintf(`[...document.querySelectorAll("input[type=radio]")].find((e) => e.value === %q).click() === undefined`, "Time"))
		b.waitFor(box + ` === null && !document.querySelector(".said").textContent.includes("log in")`)
	}
}
