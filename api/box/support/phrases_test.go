package support

import (
	"bytes"
	"compress/flate"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write phrases.deflate anew, from the messages of the program")

// sources are the folders and files whose messages may stand in a bundle.
var sources = []string{"api/admin/commands.go", "api/appliance", "api/auth", "api/box", "api/lan", "api/mdns", "api/pki", "api/server", "api/update", "broker", "motion", "store"}

// silent are folders below, whose texts are for people at home or for Home Assistant.
var silent = regexp.MustCompile(`test$|/(?:homeassistant|household|notify|provision|timezone)$`)

// A message that nobody has written into the list yet is shown as "…", so a few may be missing.
func TestPhrasesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	said := phrasesOfProgram(t)
	if *update {
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(strings.Join(said, "\n"))); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("phrases.deflate", out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	var missing []string
	for _, phrase := range said {
		if got := ours().find(phrase); len(got) == 0 || got[0].begin > 0 || got[0].end < len(phrase) {
			missing = append(missing, phrase)
		}
	}
	if len(said) < 1000 || len(missing) > len(said)/25 {
		t.Errorf("%d of %d phrases are missing: make docs\n%s", len(missing), len(said), strings.Join(missing, "\n"))
	}
	if len(packed) > 24_000 {
		t.Errorf("%d bytes in the program", len(packed))
	}
}

// phrasesOfProgram returns the runs of two and more words between the values in the string literals of the
// program, in order.
func phrasesOfProgram(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	for _, folder := range sources {
		err := filepath.WalkDir(filepath.Join("../../..", folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && silent.MatchString(path):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "phrases.go":
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if ok && literal.Kind == token.STRING && literal.Value[0] == '"' { // in ` are tags and patterns
					text, err := strconv.Unquote(literal.Value)
					for _, part := range verb.Split(text, -1) {
						for _, phrase := range split(part) {
							all[phrase] = err == nil
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

var (
	verb     = regexp.MustCompile(`%[-+# 0-9.\[\]*]*[a-zA-Z%]`)
	plainish = regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9./'_=+-]*|--?[a-zA-Z][a-z-]*)$`)
)

// split returns the runs of two and more words of a text, parted where there is something else.
func split(text string) (list []string) {
	var run []string
	end := func() {
		if len(run) > 1 {
			list = append(list, strings.Join(run, " "))
		}
		run = nil
	}
	for _, w := range cores(text) {
		if !plainish.MatchString(w.text) {
			end()
			continue
		}
		run = append(run, w.text)
	}
	end()
	return list
}
