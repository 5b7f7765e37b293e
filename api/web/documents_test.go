package web_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentTellsThePasswordRuleOfThePage: both say the same length.
func TestDocumentTellsThePasswordRuleOfThePage(t *testing.T) {
	t.Parallel()
	words, err := os.ReadFile("src/words/common.en.ts")
	if err != nil {
		t.Fatal(err)
	}
	hint := regexp.MustCompile(`passwordHint: "(.+)\."`).FindSubmatch(words)
	if hint == nil {
		t.Fatal("words/common.en.ts has no passwordHint")
	}
	document, err := os.ReadFile("../../docs/first-run.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(document)), " ")
	if rule := strings.ToLower(string(hint[1])); !strings.Contains(text, rule) {
		t.Errorf("docs/first-run.md does not say %q", rule)
	}
}
