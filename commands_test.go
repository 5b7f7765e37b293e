package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// goTest is a command of a document that runs tests, up to the end of its code.
	goTest = regexp.MustCompile("`go test ((?:\\./[a-z0-9/.]+ )+)([^`]*)`")
	// chosen is a flag that names tests, benchmarks or fuzz tests.
	chosen = regexp.MustCompile(`-(run|bench|fuzz) (?:'([^']*)'|(\S+))`)
)

// TestCommandsOfDocumentsFindTests: whoever follows a document to the tests that show something finds some:
// each alternative of a pattern names one at least.
func TestCommandsOfDocumentsFindTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(raw), `\|`, "|") // as in a table
		for _, command := range goTest.FindAllStringSubmatch(text, -1) {
			var names []string
			for _, directory := range strings.Fields(command[1]) {
				found := testsBelow(t, directory)
				if len(found) == 0 {
					t.Errorf("%s: %s has no tests (%s)", file, directory, command[0])
				}
				names = append(names, found...)
			}
			for _, flag := range chosen.FindAllStringSubmatch(command[2], -1) {
				for pattern := range strings.SplitSeq(flag[2]+flag[3], "|") {
					pattern, _, _ = strings.Cut(pattern, "/")
					if pattern == "^$" {
						continue
					}
					count++
					match := regexp.MustCompile(pattern)
					kind := map[string]string{"run": "", "bench": "Benchmark", "fuzz": "Fuzz"}[flag[1]]
					found := false
					for _, name := range names {
						found = found || strings.HasPrefix(name, kind) && match.MatchString(name)
					}
					if !found {
						t.Errorf("%s: no test is named %s: %s", file, pattern, command[0])
					}
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("found %d patterns, want at least 100", count)
	}
}

// testsBelow returns the names of the tests of a package, and with /... of those below it.
func testsBelow(t *testing.T, pattern string) (names []string) {
	t.Helper()
	directory, below := strings.CutSuffix(pattern, "/...")
	if !below {
		return testsOf(t, directory)
	}
	err := filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			names = append(names, testsOf(t, path)...)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}
