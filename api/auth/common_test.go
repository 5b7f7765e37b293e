package auth

import (
	"bufio"
	options "flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

var passwordList = options.String("passwords", "", "a list of passwords, the commonest first, to make common/passwords.bloom from")

// TestCommonPasswordsAreInTheFilter makes the filter from a list, if one is named.
func TestCommonPasswordsAreInTheFilter(t *testing.T) {
	if *passwordList != "" {
		commonPasswords = makeCommon(t, *passwordList)
		if err := os.WriteFile("common/passwords.bloom", commonPasswords, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"123456", "password", "PASSWORD", "Qwerty123", "letmein", "iloveyou", "111111"} {
		if !isCommon(word) {
			t.Errorf("%s is not", word)
		}
	}
	for _, word := range []string{"correct horse battery", "a longer pass phrase", "xk7!pqz0-vvm"} {
		if isCommon(word) {
			t.Errorf("%s is", word)
		}
	}
	const tried = 100_000
	wrong := 0
	for n := range tried {
		if isCommon(fmt.Sprintf("no such password %d", n)) {
			wrong++
		}
	}
	if wrong > tried/10_000*3 {
		t.Errorf("%d of %d are taken for common ones", wrong, tried)
	}
}

// makeCommon returns the filter of the 100,000 first passwords of a list that are long
// enough to be chosen.
func makeCommon(t *testing.T, path string) []byte {
	t.Helper()
	const count, bitsEach = 100_000, 19.2
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	words := map[string]bool{}
	for lines := bufio.NewScanner(file); len(words) < count && lines.Scan(); {
		if word := strings.ToLower(lines.Text()); utf8.RuneCountInString(word) >= home.MinPassword {
			words[word] = true
		}
	}
	if len(words) < count {
		t.Fatalf("%s has %d passwords only", path, len(words))
	}
	filter := make([]byte, int(count*bitsEach/8))
	for word := range words {
		for _, bit := range commonBits(word, len(filter)) {
			filter[bit/8] |= 1 << (bit % 8)
		}
	}
	return filter
}

func TestOwnAddressIsNoPassword(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]fault.Kind{
		"someone@example.com": fault.Invalid, "Someone@Example.com": fault.Invalid, "someone": fault.Invalid, "SOMEONE": fault.Invalid,
		"second@example.com": fault.Invalid, "someone else": 0, "example.com": 0,
	} {
		if err := checkChoice(word, "Someone@example.com", "second@example.com"); fault.KindOf(err) != want {
			t.Errorf("%s: %v", word, err)
		}
	}
}
