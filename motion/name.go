package motion

import (
	"strings"
	"unicode"
)

// The characters that join emoji and the letters of some scripts.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// blankLetters are letters and marks that show nothing.
const blankLetters = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"

// NameMistake says what is wrong with a name that a person has typed, for their home, a room, a device
// or themselves; "" when nothing is. It refuses names of blanks alone and characters that one cannot
// see, that break the line, or that turn the text around them (UAX #9): such a name passes for
// another one, or for none. An empty name is right.
func NameMistake(name string) string {
	seen := name == ""
	last := ' '
	for _, r := range name {
		if hidden(r) && !joins(last, r) {
			return "want characters that can be seen: no control characters, none of zero width, and none that turn the text around"
		}
		seen = seen || !unicode.IsSpace(r) && !unicode.IsMark(r) && !hidden(r)
		last = r
	}
	switch {
	case !seen:
		return "must not be blank"
	case last == zeroWidthJoiner || last == zeroWidthNonJoiner:
		return "must not end with a character of zero width"
	}
	return ""
}

// hidden reports whether a character shows nothing of itself, and is no space.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || strings.ContainsRune(blankLetters, r)
}

// joins reports whether a character may have no width after the one before it: in emoji, and in scripts
// whose letters are written apart or together by it (as in RFC 5892, Appendix A.1 and A.2).
func joins(before, r rune) bool {
	return (r == zeroWidthJoiner || r == zeroWidthNonJoiner) &&
		unicode.In(before, unicode.So, unicode.Sk, unicode.Mn, unicode.Mc, unicode.Arabic, unicode.Syriac, unicode.Mongolian)
}
