package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spec is where the documents are that comments cite: as payloads.md 4.9 (a section),
// payloads.md 6 no. 16 (a rule of one), or several: payloads.md 4.6, 4.12 and 6 no. 10.
const spec = "docs/spec"

// ruled is a numbered section of a document, or a numbered rule of one.
type ruled struct {
	document string // its name below docs/spec
	place    string // of a section 4.9, of a rule with its number
	text     string // its own, without the sections and rules below it
	line     int
}

func (r ruled) name() string { return r.document + " " + r.place }

var (
	heading = regexp.MustCompile(`^#{2,} (\d+(?:\.\d+)?)\b`)
	item    = regexp.MustCompile(`^(\d+)\. `)
)

// rules reads the documents of docs/spec.
func rules(t *testing.T) (all []*ruled, documents []string) {
	t.Helper()
	files, err := filepath.Glob(spec + "/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in %s: %v", spec, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document := filepath.Base(file)
		documents = append(documents, document)
		var section, current *ruled
		code := false
		for i, line := range strings.Split(string(raw), "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			add := func(place string) *ruled {
				all = append(all, &ruled{document: document, place: place, line: i + 1})
				return all[len(all)-1]
			}
			if m := heading.FindStringSubmatch(line); m != nil && !code {
				section = add(m[1])
				current = section
				continue
			}
			if m := item.FindStringSubmatch(line); m != nil && !code && section != nil {
				current = add(section.place + " no. " + m[1])
			}
			if current != nil {
				current.text += line + "\n"
			}
		}
	}
	return all, documents
}

var (
	document = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// place is what follows a document: sections, each with a rule or several or none.
	place    = regexp.MustCompile(`^(?: |, | and | to )(?:(\d+(?:\.\d+)?)\b(?: no\. (\d+)\b)?|no\. (\d+)\b)`)
	numbered = regexp.MustCompile(`\bno\. \d+|interface document\b|§`)
)

// citations returns what a text cites, such as "payloads.md 4.9", and what is wrong with
// how it does.
func citations(text, dir string, documents []string) (cited, wrong []string) {
	rest := ""
	for {
		m := document.FindStringIndex(text)
		if m == nil {
			rest += text
			break
		}
		rest += text[:m[0]]
		name := text[m[0]:m[1]]
		text = text[m[1]:]
		if !slices.Contains(documents, name) {
			if !exists(name) && !exists(path.Join(dir, name)) {
				wrong = append(wrong, name+" is not in the repository")
			}
			continue
		}
		cited = append(cited, name)
		section := ""
		for {
			p := place.FindStringSubmatch(text)
			if p == nil {
				break
			}
			text = text[len(p[0]):]
			switch {
			case p[3] != "":
				cited = append(cited, name+" "+section+" no. "+p[3])
			case p[2] != "":
				section = p[1]
				cited = append(cited, name+" "+section+" no. "+p[2])
			default:
				section = p[1]
				cited = append(cited, name+" "+section)
			}
		}
	}
	for _, m := range numbered.FindAllString(rest, -1) {
		wrong = append(wrong, m+" belongs to no document")
	}
	return cited, wrong
}

func exists(file string) bool {
	_, err := os.Stat(filepath.FromSlash(file))
	return err == nil
}

// TestSpecCitationsResolve looks up what comments cite, and the documents of docs/spec
// themselves.
func TestSpecCitationsResolve(t *testing.T) {
	t.Parallel()
	all, documents := rules(t)
	places := map[string]bool{}
	for _, name := range documents {
		places[name] = true
	}
	for _, rule := range all {
		places[rule.name()] = true
	}
	count := 0
	check := func(at, dir, text string) {
		cited, wrong := citations(strings.Join(strings.Fields(text), " "), dir, documents)
		for _, c := range cited {
			if strings.Contains(c, " ") {
				count++
			}
			if !places[c] {
				t.Errorf("%s: %s is not in %s", at, c, spec)
			}
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", at, w)
		}
	}
	for _, rule := range all {
		check(path.Join(spec, rule.document)+" "+rule.place, spec, rule.text)
	}
	written := count
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range f.Comments {
			check(set.Position(group.Pos()).String(), filepath.ToSlash(filepath.Dir(file)), group.Text())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if count-written < 300 {
		t.Errorf("found %d citations in comments, want at least 300", count-written)
	}
}

func TestSpecCitationIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(payloads.md 4.9)":                                  "payloads.md|payloads.md 4.9",
		"(payloads.md 4.6, 4.12 and 6 no. 10)":               "payloads.md|payloads.md 4.6|payloads.md 4.12|payloads.md 6 no. 10",
		"(interfaces.md 6 no. 3 to no. 5; payloads.md 1): 2": "interfaces.md|interfaces.md 6 no. 3|interfaces.md 6 no. 5|payloads.md|payloads.md 1",
		"see ARCHITECTURE.md, 3 of them":                     "",
	} {
		cited, wrong := citations(text, ".", []string{"payloads.md", "interfaces.md"})
		if got := strings.Join(cited, "|"); got != want || wrong != nil {
			t.Errorf("%s: %s, %v, want %s", text, got, wrong, want)
		}
	}
	for _, text := range []string{"(storage.md)", "as section 6 no. 3 says", "the interface document", "§6"} {
		if _, wrong := citations(text, ".", []string{"payloads.md"}); len(wrong) != 1 {
			t.Errorf("%s: %v, want one mistake", text, wrong)
		}
	}
}
