package webtest

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the pictures anew")

// pictured are the screens of which testdata has a picture. A new one has its row here and its
// answers in testdata/answers.json.
var pictured = []struct {
	name, address string
	signed        bool
}{
	{"home", "#/", true},
	{"history", "#/history/2025-11-23", true},
	{"moment", "#/moment/01a20faf-4350-7217-b6de-c0267d5203c3", true},
	{"alerts", "#/alerts", true},
	{"insights", "#/insights", true},
	{"people", "#/people", true},
	{"me", "#/me", true},
	{"box", "#/box", true},
	{"accounts", "#/box/accounts", true},
	{"audit", "#/box/audit", true},
	{"signin", "", false},
}

// lettersPage tells one machine's letters from another's: by a picture of it.
const lettersPage = `data:text/html,<body style="font:32px system-ui,sans-serif"><p>Quiet for 14 minutes 0123456789<p style="font-weight:600">Küche, Séjour`

// TestPicturesAreAsKept compares static screens, with data and a clock that stand still, with the
// pictures in testdata, point by point. Letters differ between machines: elsewhere than where the
// pictures were made it is skipped.
func TestPicturesAreAsKept(t *testing.T) {
	t.Parallel()
	for _, signed := range []bool{true, false} {
		b := open(t, 390, 844)
		b.scheme("light")
		b.do(chromedp.Navigate(lettersPage))
		letters := fmt.Sprintf("%x\n", sha256.Sum256(b.picture()))
		if kept, err := os.ReadFile("testdata/letters"); !*update && (err != nil || string(kept) != letters) {
			t.Skipf("the letters of this machine (%.12s) are not those of the pictures (%.12s): -update makes them anew", letters, kept)
		}
		b.stopClock()
		if signed {
			b.signedIn()
		}
		for _, p := range pictured {
			if p.signed != signed {
				continue
			}
			b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(fixed(t, nil)+"/"+p.address), chromedp.WaitVisible(chromedp.CSS("h1")))
			b.settled(p.address)
			b.waitFor(`[...document.images].every((i) => i.complete) && document.getAnimations().length === 0`)
			b.compare(p.name)
		}
		if *update {
			keep(t, "testdata/letters", []byte(letters))
		}
	}
}

// picture returns what is shown, as PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	return run(b, chromedp.CaptureScreenshot())
}

// compare compares what is shown with the picture of a name.
func (b *browser) compare(name string) {
	b.t.Helper()
	raw := b.picture()
	path := filepath.Join("testdata", name+".png")
	if *update {
		keep(b.t, path, raw)
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		b.t.Errorf("%v: make it with -update", err)
		return
	}
	// Chromium draws a few points of a curve anew now and then; a changed letter is about 200.
	differing := differences(b.t, kept, raw)
	if differing <= 20 {
		return
	}
	where := "SENSEGATE_PICTURES=DIR keeps the new one"
	if pictureFolder != "" {
		where = filepath.Join(pictureFolder, name+"-new.png")
		keep(b.t, where, raw)
	}
	b.t.Errorf("%s differs in %d points from its picture; %s; -update if it is meant", name, differing, where)
}

func keep(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// differences returns in how many points two pictures differ.
func differences(t *testing.T, a, b []byte) (n int) {
	t.Helper()
	first, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	second, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	all := first.Bounds().Union(second.Bounds())
	for y := all.Min.Y; y < all.Max.Y; y++ {
		for x := all.Min.X; x < all.Max.X; x++ {
			at := image.Pt(x, y)
			if !at.In(first.Bounds()) || !at.In(second.Bounds()) || color.NRGBAModel.Convert(first.At(x, y)) != color.NRGBAModel.Convert(second.At(x, y)) {
				n++
			}
		}
	}
	return n
}

func TestDifferencesAreCounted(t *testing.T) {
	t.Parallel()
	drawn := func(width int, dots ...int) []byte {
		img := image.NewGray(image.Rect(0, 0, width, 2))
		for _, x := range dots {
			img.SetGray(x, 1, color.Gray{Y: 9})
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		a, b []byte
		want int
	}{
		"the same":     {drawn(4, 1), drawn(4, 1), 0},
		"one dot more": {drawn(4, 1), drawn(4, 1, 3), 1},
		"a moved dot":  {drawn(4, 1), drawn(4, 2), 2},
		"a wider one":  {drawn(4), drawn(5), 2},
	} {
		if got := differences(t, c.a, c.b); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
