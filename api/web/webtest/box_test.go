package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestEveryPartOfTheBox holds the parts of the box, in each language, against the rules for all
// screens.
func TestEveryPartOfTheBox(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.beforePages(hearing)
	b.stopClock()
	b.signedIn()
	page := fixed(t, boxed(nil))
	b.do(chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	for _, language := range []string{"en", "de", "fr"} {
		read[bool](b, `localStorage.setItem("sensegate-language", "`+language+`") === undefined`)
		b.do(chromedp.Navigate(page+"/#/"), chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("h1")))
		for _, address := range boxParts {
			read[bool](b, `(location.hash = "`+address+`") !== ""`)
			b.settled(address)
			b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1")))
			name := address + " in " + language
			b.hasOneHeading(name)
			b.isTranslated(name, language)
			if language == "en" {
				b.isAccessible(name)
				b.pictures(strings.ReplaceAll(address[2:], "/", "-"))
			}
			b.fitsNarrow(name)
		}
	}
}
