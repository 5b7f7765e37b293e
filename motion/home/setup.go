package home

import "strings"

// SetupCodeLetters are the letters of setup codes: digits and capitals without I, L, O
// and U, which are easily misread (Crockford's base 32).
const SetupCodeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// SetupCode returns the one form of a setup code, however a person has typed it:
// without dashes and spaces, in capitals, with 0 for O and 1 for I and L.
func SetupCode(text string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
}
