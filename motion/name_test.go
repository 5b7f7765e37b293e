package motion_test

import (
	"testing"

	"sensegate/motion"
)

func TestNamesCanBeSeen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Home", "  Home ", "Mum & Dad's", "Zoë", "Zoe\u0308", "子供部屋", "می\u200cخواهم", "क\u094d\u200dष", "👨\u200d👩\u200d👧", "❤\ufe0f", "Pet<b>", "שלום"} {
		if wrong := motion.NameMistake(name); wrong != "" {
			t.Errorf("%+q: %s", name, wrong)
		}
	}
	for what, name := range map[string]string{
		"blanks": " \u00a0\u3000", "a tab alone": "\t", "zero": "a\x00b", "a new line": "a\nb", "delete": "a\x7f", "next line": "a\u0085b", "line separator": "a\u2028b",
		"an override": "\u202eabc", "an isolate": "a\u2066b", "a mark of direction": "a\u200fb", "zero width space": "a\u200bb", "byte order mark": "\ufeffa",
		"soft hyphen": "a\u00adb", "a joiner between latin letters": "pay\u200dpal", "a joiner first": "\u200da", "a joiner last": "می\u200c", "hangul filler": "\u3164",
		"empty braille": "\u2800", "a grapheme joiner": "a\u034fb", "a mark alone": "\u0301", "tags": "a\U000e0041",
	} {
		if motion.NameMistake(name) == "" {
			t.Errorf("%s passes: %+q", what, name)
		}
	}
}
