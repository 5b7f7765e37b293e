package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The sources name each word, t("signOut"), and each file of words, NAME.LANGUAGE.ts, has the name
// beside the text. In the bundle a word has a number instead: the place of its name in the English
// files. A file of words becomes the list of its texts, which words/pack.ts reads. The names that
// are put together at run time, or that stand in tables, are kept, in the English files alone.

// word is a line of a file of words: a name and a text.
var word = regexp.MustCompile(`^\s+(\w+): "((?:[^"\\]|\\.)*)",$`)

// wordsFile is the name of a file of words: the name of its group and its language.
var wordsFile = regexp.MustCompile(`^(\w+)\.(en|de|fr)\.ts$`)

// wordList is what a file of words has, in its order.
type wordList struct{ names, texts []string }

// readWords reads a file of words. ok is false when the file has none.
func readWords(content string) (list wordList, ok bool, err error) {
	_, body, ok := strings.Cut(content, "= {\n")
	if !ok {
		return list, false, nil
	}
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		if m := word.FindStringSubmatch(line); m != nil {
			list.names, list.texts = append(list.names, m[1]), append(list.texts, m[2])
		} else if trimmed := strings.TrimSpace(line); trimmed == "};" {
			return list, len(list.names) > 0, nil
		} else if trimmed != "" && !strings.HasPrefix(trimmed, "//") {
			return list, false, fmt.Errorf("want NAME: \"TEXT\", not %s", trimmed)
		}
	}
	return list, false, fmt.Errorf("the words have no end")
}

// words are the numbers of all words.
type words struct {
	src    string
	groups map[string]wordList // of the English files
	first  map[string]int      // number of the first word of a group
	number map[string]int      // by name
	named  map[string]bool     // whether the name is needed at run time
}

// numberWords numbers the words of the sources in src.
func numberWords(src string) (*words, error) {
	w := &words{src, map[string]wordList{}, map[string]int{}, map[string]int{}, map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(src, "words", "*.en.ts"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		list, ok, err := readWords(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if !ok {
			continue // it puts others together
		}
		group := wordsFile.FindStringSubmatch(filepath.Base(file))[1]
		w.groups[group], w.first[group] = list, len(w.number)
		for _, name := range list.names {
			if _, twice := w.number[name]; twice {
				return nil, fmt.Errorf("%s: the word %s is there twice", file, name)
			}
			w.number[name] = len(w.number)
		}
	}
	return w, w.findNamed()
}

// prefix is how a source names words of which the end is known at run time alone.
var prefix = regexp.MustCompile("(?:codeText|suCode|suCounted|counted)\\(\"(\\w+)\"|`(\\w{2,})\\$\\{")

// literal is a string of a source that may be the name of a word.
var literal = regexp.MustCompile(`"(\w+)"`)

// findNamed finds the words whose names are needed at run time, and fails when a word is used by
// no source.
func (w *words) findNamed() error {
	used := map[string]bool{}
	err := w.eachSource(func(_, content string) error {
		_, said, named := w.uses(content)
		for _, name := range slices.Concat(said, named) {
			used[name] = true
		}
		for _, name := range named {
			w.named[name] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	var unused []string
	for name := range w.number {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	if unused != nil {
		slices.Sort(unused)
		return fmt.Errorf("no source uses the words %s", strings.Join(unused, ", "))
	}
	return nil
}

// uses returns a source that says words by their numbers, the names of these words, and those of
// the words that it may name at run time.
func (w *words) uses(content string) (numbered string, said, named []string) {
	numbered, said = w.withNumbers(content)
	for _, m := range literal.FindAllStringSubmatch(numbered, -1) {
		if _, is := w.number[m[1]]; is {
			named = append(named, m[1])
		}
	}
	for _, m := range prefix.FindAllStringSubmatch(content, -1) {
		for name := range w.number {
			if strings.HasPrefix(name, m[1]+m[2]) {
				named = append(named, name)
			}
		}
	}
	return numbered, said, named
}

// eachSource calls do with the path below src and the content of each source that is no file of words.
func (w *words) eachSource(do func(file, content string) error) error {
	return fs.WalkDir(os.DirFS(w.src), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(path.Ext(file), ".ts") || wordsFile.MatchString(entry.Name()) {
			return err
		}
		content, err := os.ReadFile(filepath.Join(w.src, file))
		if err != nil {
			return err
		}
		return do(file, string(content))
	})
}

// say is the beginning of a call that says a word.
var say = regexp.MustCompile(`\b(?:t|su)\(`)

// withNumbers returns a source that says words by their numbers, and the names of these words.
func (w *words) withNumbers(content string) (numbered string, said []string) {
	var out strings.Builder
	done := 0
	for _, call := range say.FindAllStringIndex(content, -1) {
		for _, s := range choices(content, call[1]) {
			name := content[s.from+1 : s.to-1]
			if n, is := w.number[name]; is {
				said = append(said, name)
				fmt.Fprintf(&out, "%s%d", content[done:s.from], n)
				done = s.to
			}
		}
	}
	return out.String() + content[done:], said
}

// span is a part of a source.
type span struct{ from, to int }

// choices returns the strings that the first argument of a call may be, with their quotes: all of
// it, or what stands behind ? and :. at is where the argument begins.
func choices(content string, at int) (found []span) {
	depth, before := 0, byte('(')
	for i := at; i < len(content); i++ {
		c := content[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			continue
		case c == '"' || c == '`' || c == '\'':
			length := strings.IndexByte(content[i+1:], c)
			if length < 0 {
				return found
			}
			s := span{i, i + length + 2}
			if after := strings.TrimSpace(content[s.to:]); depth == 0 && c == '"' && strings.IndexByte("(?:", before) >= 0 && after != "" && strings.IndexByte("),:", after[0]) >= 0 {
				found = append(found, s)
			}
			i = s.to - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth == 0 && (c == ')' || c == ','):
			return found
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		before = c
	}
	return found
}

// packed returns the module of a file of words.
func (w *words) packed(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	list, ok, err := readWords(string(raw))
	if err != nil || !ok {
		return string(raw), err
	}
	m := wordsFile.FindStringSubmatch(filepath.Base(file))
	group, english := m[1], w.groups[m[1]]
	texts, names := make([]string, len(english.names)), make([]string, len(english.names))
	for i, name := range english.names {
		at := slices.Index(list.names, name)
		if at < 0 {
			return "", fmt.Errorf("%s has no %s", file, name)
		}
		if texts[i] = list.texts[at]; w.named[name] {
			names[i] = name
		}
	}
	kept := ""
	if m[2] == "en" {
		kept = fmt.Sprintf(", names%d: %q", w.first[group], strings.TrimRight(strings.Join(names, " "), " "))
	}
	return fmt.Sprintf("export const %s = { %d: \"%s\"%s };\n", group, w.first[group], strings.Join(texts, `\n`), kept), nil
}

// plugin gives esbuild the sources with numbers in place of the names of words.
func (w *words) plugin() api.Plugin {
	return api.Plugin{Name: "words", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `/src/.*\.tsx?$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			loader := api.LoaderTS
			if strings.HasSuffix(args.Path, "x") {
				loader = api.LoaderTSX
			}
			if wordsFile.MatchString(filepath.Base(args.Path)) {
				content, err := w.packed(args.Path)
				return api.OnLoadResult{Contents: &content, Loader: loader}, err
			}
			raw, err := os.ReadFile(args.Path)
			content, _ := w.withNumbers(string(raw))
			return api.OnLoadResult{Contents: &content, Loader: loader}, err
		})
	}}
}
