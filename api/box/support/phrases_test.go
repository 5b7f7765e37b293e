package support

import (
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write phrases.deflate anew, from the messages of the program")

// sources are the folders and files whose messages may stand in a bundle.
var sources = []string{"api/admin/client.go", "api/admin/commands.go", "api/admin/config.go", "api/admin/configenv.go", "api/admin/configfile.go", "api/appliance", "api/auth", "api/box", "api/lan", "api/mdns", "api/pki", "api/server", "api/update", "broker", "motion", "motion/notify/config.go", "store"}

// silent are files below folders, whose texts are for people at home or for Home Assistant.
var silent = regexp.MustCompile(`/(?:homeassistant|household|notify|timezone)/[^/]*$`)

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
		if ours().keys[phrase] {
			continue
		}
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
// program, and its keys, in order.
func phrasesOfProgram(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	keys := keyed{}
	for _, source := range sources {
		root := filepath.Join("../../..", source)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && strings.HasSuffix(path, "test"):
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
				switch n := n.(type) {
				case *ast.TypeSpec:
					if of, is := n.Type.(*ast.StructType); is {
						keys.add(path, file.Name.Name, n.Name.Name, of)
					}
				case *ast.ValueSpec:
					if of, is := n.Type.(*ast.StructType); is {
						keys.add(path, file.Name.Name, fmt.Sprint(n.Pos()), of)
					}
				case *ast.CompositeLit:
					if of, is := n.Type.(*ast.StructType); is {
						keys.add(path, file.Name.Name, fmt.Sprint(n.Pos()), of)
					}
				}
				if ok && (path == root || !silent.MatchString(path)) && literal.Kind == token.STRING && literal.Value[0] == '"' { // in ` are tags and patterns
					text, err := strconv.Unquote(literal.Value)
					for _, part := range verb.Split(text, -1) {
						for _, phrase := range append(split(part), split(afterKey.ReplaceAllString(part, ""))...) {
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
	for root, is := range keys {
		for _, field := range is {
			all[field.key] = true
		}
		if root == "appliance.Config" || root == "provision.Document" || strings.HasPrefix(root, "wire.") {
			keys.below(root, "", all)
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// keyed are the fields of types that have keys, by package and name such as uplink.Config.
type keyed map[string][]struct{ key, of string }

// add notes the fields of a type of a package.
func (k keyed) add(path, in, name string, s *ast.StructType) {
	for _, field := range s.Fields.List {
		if field.Tag == nil {
			continue
		}
		key, inline := keyOf(path, field.Tag.Value)
		if !plainKey.MatchString(key) && !inline {
			continue
		}
		of := field.Type
		for {
			if list, is := of.(*ast.ArrayType); is {
				of = list.Elt
			} else if pointer, is := of.(*ast.StarExpr); is {
				of = pointer.X
			} else {
				break
			}
		}
		kind := ""
		switch of := of.(type) {
		case *ast.Ident:
			kind = in + "." + of.Name
		case *ast.SelectorExpr:
			kind = of.X.(*ast.Ident).Name + "." + of.Sel.Name
		}
		k[in+"."+name] = append(k[in+"."+name], struct{ key, of string }{key, kind})
	}
}

// below adds the keys of a type, and of those in it, each behind those above it.
func (k keyed) below(of, above string, all map[string]bool) {
	for _, field := range k[of] {
		if field.key == "" {
			k.below(field.of, above, all)
			continue
		}
		all[above+field.key] = true
		k.below(field.of, above+field.key+".", all)
	}
}

// keyOf returns the key that a tag gives a field of a configuration, or of a message of a device; the fields
// of one that is inline have theirs beside it.
func keyOf(path, tag string) (key string, inline bool) {
	kind := "yaml"
	if strings.Contains(path, "broker/wire") {
		kind = "json"
	}
	key, option, _ := strings.Cut(reflect.StructTag(strings.Trim(tag, "`")).Get(kind), ",")
	return key, option == "inline"
}

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	afterKey = regexp.MustCompile(`^[a-z0-9_.]+: `) // another key may stand there
	verb     = regexp.MustCompile(`%[-+# 0-9.\[\]*]*[a-zA-Z%]`)
	plainish = regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9./:'_=+[-]*|--?[a-zA-Z][a-z-]*)$`)
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
