package main

import (
	"fmt"
	"go/ast"
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

// unheld are the rules that no test holds yet. This list only shrinks: a rule that has
// got a test fails the check until it is off the list.
var unheld = []string{}

// ruled is a numbered section of a document, or a numbered rule of one.
type ruled struct {
	document string // its name below docs/spec
	place    string // of a section 4.9, of a rule with its number
	text     string // its own, without the sections and rules below it
	line     int
	whole    bool // a section that has rules: they are held, not it
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
				section.text, current = "\n", section
				continue
			}
			if m := item.FindStringSubmatch(line); m != nil && !code && section != nil {
				section.whole = true
				current = add(section.place + " no. " + m[1])
			}
			if current != nil {
				current.text += line + "\n"
			}
		}
	}
	return all, documents
}

// held is the end of a rule: the tests that hold it, by package.
var held = regexp.MustCompile(`(?s)\bHeld by:\s(.*)\.\s*$`)

// TestSpecRulesAreHeld finds the test that holds each rule.
func TestSpecRulesAreHeld(t *testing.T) {
	t.Parallel()
	all, _ := rules(t)
	seen, tests := map[string]bool{}, map[string][]string{}
	count := 0
	for _, rule := range all {
		if seen[rule.name()] {
			t.Errorf("%s/%s:%d: %s stands twice", spec, rule.document, rule.line, rule.place)
		}
		seen[rule.name()] = true
		if rule.whole || strings.TrimSpace(rule.text) == "" {
			continue
		}
		count++
		m := held.FindStringSubmatch(rule.text)
		switch {
		case m == nil:
			t.Errorf("%s/%s:%d: %s does not end with Held by: PACKAGE TestNAME", spec, rule.document, rule.line, rule.place)
		case m[1] == "nothing yet":
			if !slices.Contains(unheld, rule.name()) {
				t.Errorf("%s/%s:%d: no test holds %s: write one", spec, rule.document, rule.line, rule.place)
			}
		default:
			if slices.Contains(unheld, rule.name()) {
				t.Errorf("%s is held: take it off the list", rule.name())
			}
			checkHolders(t, rule, strings.Join(strings.Fields(m[1]), " "), tests)
		}
	}
	for _, name := range unheld {
		if !seen[name] {
			t.Errorf("%s is on the list of what no test holds, and is no rule", name)
		}
	}
	if count < 100 {
		t.Errorf("found %d rules, want at least 100", count)
	}
}

// checkHolders looks for the tests in "motion/engine TestA, TestB; api/app TestC".
func checkHolders(t *testing.T, rule *ruled, holders string, tests map[string][]string) {
	t.Helper()
	for part := range strings.SplitSeq(holders, "; ") {
		dir, names, ok := strings.Cut(part, " ")
		if !ok {
			t.Errorf("%s/%s:%d: %s: %q names no test", spec, rule.document, rule.line, rule.place, part)
			continue
		}
		if _, read := tests[dir]; !read {
			tests[dir] = testsOf(t, dir)
		}
		for name := range strings.SplitSeq(names, ", ") {
			if !slices.Contains(tests[dir], name) {
				t.Errorf("%s/%s:%d: %s: %s has no %s", spec, rule.document, rule.line, rule.place, dir, name)
			}
		}
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]`)

// testsOf returns the names of the tests, fuzz tests and benchmarks of a package.
func testsOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

var (
	document = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// place is what follows a document: sections, each with a rule or several or none.
	place = regexp.MustCompile(`^(?: |, | and | to )(?:(\d+(?:\.\d+)?)\b(?: no\. (\d+)\b)?|no\. (\d+)\b)`)
	stray = regexp.MustCompile(`\bno\. \d+|\binterface document\b|§`)
)

// citation is what a text cites, such as "payloads.md 4.9", or what is wrong with how it
// does, and where in the text.
type citation struct {
	place string
	wrong string
	at    int
}

// citations reads the citations of a text whose words stand apart by one space.
func citations(text, dir string, documents []string) (all []citation) {
	covered := 0 // the text up to here is read
	for _, m := range document.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if !slices.Contains(documents, name) {
			if !exists(name) && !exists(path.Join(dir, name)) {
				all = append(all, citation{wrong: name + " is not in the repository", at: m[0]})
			}
			continue
		}
		all = append(all, strays(text, covered, m[0])...)
		covered = m[1]
		for section := ""; ; {
			p := place.FindStringSubmatch(text[covered:])
			if p == nil {
				break
			}
			covered += len(p[0])
			if p[1] != "" {
				section = p[1]
			}
			cited := name + " " + section
			if number := p[2] + p[3]; number != "" {
				cited += " no. " + number
			}
			all = append(all, citation{place: cited, at: m[0]})
		}
	}
	return append(all, strays(text, covered, len(text))...)
}

// strays returns what looks like a citation in text[from:to], and names no document.
func strays(text string, from, to int) (all []citation) {
	for _, m := range stray.FindAllStringIndex(text[from:to], -1) {
		all = append(all, citation{wrong: text[from+m[0]:from+m[1]] + " belongs to no document", at: from + m[0]})
	}
	return all
}

// join returns the words of lines, one space apart, and where each line starts.
func join(lines []string) (text string, starts []int) {
	for _, line := range lines {
		starts = append(starts, len(text))
		for _, word := range strings.Fields(line) {
			text += word + " "
		}
	}
	return text, starts
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
	check := func(lines []string, dir string, at func(line int) string) {
		text, starts := join(lines)
		for _, c := range citations(text, dir, documents) {
			line, _ := slices.BinarySearch(starts, c.at+1)
			switch {
			case c.wrong != "":
				t.Errorf("%s: %s", at(line-1), c.wrong)
			case !places[c.place]:
				t.Errorf("%s: %s is not in %s", at(line-1), c.place, spec)
			}
			if c.place != "" {
				count++
			}
		}
	}
	for _, rule := range all {
		check(strings.Split(rule.text, "\n"), spec, func(line int) string {
			return fmt.Sprintf("%s/%s:%d", spec, rule.document, rule.line+line)
		})
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
			var lines []string
			for _, comment := range group.List {
				lines = append(lines, strings.Split(strings.TrimLeft(comment.Text, "/"), "\n")...)
			}
			first := set.Position(group.Pos()).Line
			check(lines, filepath.ToSlash(filepath.Dir(file)), func(line int) string { return fmt.Sprintf("%s:%d", file, first+line) })
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
		"(payloads.md 4.9)":                                  "payloads.md 4.9",
		"(payloads.md 4.6, 4.12 and 6 no. 10)":               "payloads.md 4.6|payloads.md 4.12|payloads.md 6 no. 10",
		"(interfaces.md 6 no. 3 to no. 5; payloads.md 1): 2": "interfaces.md 6 no. 3|interfaces.md 6 no. 5|payloads.md 1",
		"see ARCHITECTURE.md, 3 of them":                     "",
		"(storage.md)":                                       "storage.md is not in the repository",
		"payloads.md 1, as section 6 no. 3 says":             "payloads.md 1|no. 3 belongs to no document",
		"the interface document":                             "interface document belongs to no document",
	} {
		var got []string
		for _, c := range citations(text, ".", []string{"payloads.md", "interfaces.md"}) {
			got = append(got, c.place+c.wrong)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
}

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
