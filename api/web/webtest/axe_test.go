package webtest

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core.
var axe = sync.OnceValues(func() (string, error) {
	packed, err := os.Open("axe/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return "", err
	}
	source, err := io.ReadAll(plain)
	return string(source), err
})

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"` // what breaks it, and why
}

// runAxe runs the rules of WCAG 2.2 A and AA and returns those that are broken. What DevTools
// evaluate is not under the policy of the page.
const runAxe = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]}).then((r) =>
	r.violations.map((v) => ({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + " " + n.failureSummary)})))`

// violations returns what axe-core finds on the page.
func (b *browser) violations() []violation {
	b.t.Helper()
	if !read[bool](b, `"axe" in window`) {
		source, err := axe()
		if err != nil {
			b.t.Fatal(err)
		}
		read[bool](b, source+`;true`)
	}
	return awaited[[]violation](b, runAxe)
}

func TestAxeIsAsReleased(t *testing.T) {
	t.Parallel()
	source, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile("axe/SOURCE.md")
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(source))); err != nil || !strings.Contains(string(told), sum) {
		t.Errorf("SOURCE.md (%v) does not have %s", err, sum)
	}
}

// TestAxeFindsWhatIsWrong: a page with a picture without words, and pale text, is refused.
func TestAxeFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(`data:text/html,<html lang=en><title>t</title><main><h1>Title</h1><img src="data:,"><p style="color:%23ccc">pale`))
	found, err := json.Marshal(b.violations())
	if err != nil || !strings.Contains(string(found), "image-alt") || !strings.Contains(string(found), "color-contrast") {
		t.Errorf("found %s, %v", found, err)
	}
}
