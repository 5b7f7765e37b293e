package auth

import (
	"bufio"
	options "flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

var passwordList = options.String("passwords", "", "a list of passwords, the commonest first, to make common/passwords.rice from")

// TestCommonPasswordsAreInTheFilter makes the set from a list, if one is named.
func TestCommonPasswordsAreInTheFilter(t *testing.T) {
	if *passwordList != "" {
		words := commonWords(t, *passwordList)
		commonPasswords = makeCommon(t, words)
		for word := range words {
			if !isCommon(word) {
				t.Errorf("%s is not", word)
			}
		}
		if err := os.WriteFile("common/passwords.rice", commonPasswords, 0o644); err != nil {
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
}

// TestFewOthersAreTakenForCommonPasswords looks up many passwords in a map of the places, and
// some of them as they are looked up when somebody chooses one.
func TestFewOthersAreTakenForCommonPasswords(t *testing.T) {
	t.Parallel()
	places := map[uint64]bool{}
	for place := range commonSet(commonPasswords) {
		places[place] = true
	}
	const tried = 1_000_000
	wrong := 0
	for n := range tried {
		word := fmt.Sprintf("no such password %d", n)
		known := places[commonPlace(word)]
		if known {
			wrong++
		}
		if (known || n%10_000 == 0) && isCommon(word) != known {
			t.Errorf("%s: %v, want %v", word, !known, known)
		}
	}
	if wrong > tried/10_000*3/2 {
		t.Errorf("%d of %d are taken for common ones", wrong, tried)
	}
}

func BenchmarkCommonPassword(b *testing.B) {
	for b.Loop() {
		isCommon("correct horse battery")
	}
}

// A few passwords share a place.
func TestCommonPasswordsAreAHundredThousand(t *testing.T) {
	t.Parallel()
	count, last := 0, uint64(0)
	for place := range commonSet(commonPasswords) {
		if place < last || place >= commonPlaces {
			t.Fatalf("place %d after %d", place, last)
		}
		count, last = count+1, place
	}
	if count < 99_950 || count > 100_001 {
		t.Errorf("%d places", count)
	}
}

// TestAnySetIsReadAsItWasWritten holds the encoding of few places, far from each other and near.
func TestAnySetIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		distances := rapid.SliceOf(rapid.OneOf(rapid.Uint64Range(1, 20), rapid.Uint64Range(1, 300_000))).Draw(t, "distances")
		var places []uint64
		place := uint64(0)
		for _, distance := range distances {
			place += distance
			places = append(places, place)
		}
		got := slices.Collect(commonSet(packCommon(places)))
		if len(got) > len(places) { // the last byte has room for another one
			got = got[:len(places)]
		}
		if !slices.Equal(got, places) {
			t.Errorf("%v, want %v", got, places)
		}
	})
}

// commonWords returns the 100,000 first passwords of a list that are long enough to be chosen.
func commonWords(t *testing.T, path string) map[string]bool {
	t.Helper()
	const count = 100_000
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
	return words
}

// makeCommon returns the set of passwords.
func makeCommon(t *testing.T, words map[string]bool) []byte {
	t.Helper()
	var places []uint64
	for word := range words {
		places = append(places, commonPlace(word))
	}
	slices.Sort(places)
	return packCommon(slices.Compact(places))
}

// packCommon returns places, in order, as commonSet reads them.
func packCommon(places []uint64) []byte {
	var set []byte
	at := 0
	add := func(bit uint64) {
		if at%8 == 0 {
			set = append(set, 0)
		}
		set[at/8] |= byte(bit << (at % 8))
		at++
	}
	last := uint64(0)
	for _, place := range places {
		distance := place - last
		for range distance >> commonRice {
			add(1)
		}
		add(0)
		for bit := range commonRice {
			add(distance >> bit & 1)
		}
		last = place
	}
	return append(set, make([]byte, commonEnd)...)
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
