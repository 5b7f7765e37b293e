package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources writes files below the folder src of a web app and returns it.
func sources(t *testing.T, files map[string]string) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "src")
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(src, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// sample are sources with words.
func sample() map[string]string {
	return map[string]string{
		"words/a.en.ts": "export const a = {\n  yes: \"Yes\",\n  no: \"No\",\n};\n",
		"words/b.en.ts": "export const b = {\n  // In tables.\n  tab: \"Tab\",\n\n  say: \"Say \\\"{x}\\\"\",\n  state_on: \"on\",\n  state_off: \"off\",\n};\n",
		"words/b.de.ts": "import type { b as english } from \"./b.en\";\n\nexport const b: typeof english = {\n  state_on: \"an\",\n  say: \"Sag {x}\",\n  tab: \"Reiter\",\n  state_off: \"aus\",\n};\n",
		"words/en.ts":   "import { a } from \"./a.en\";\nexport const first = { ...a };\n",
		"app.tsx":       "const ways = [\"tab\"]; t(ok ? \"yes\" : \"no\"); t(\"say\", { x: \"no\" }); codeText(\"state_\", s); other(\"tab\");",
	}
}

// TestWordsAreNumbered: what is said at once has a number, what is named at run time keeps its name.
func TestWordsAreNumbered(t *testing.T) {
	t.Parallel()
	src := sources(t, sample())
	w, err := numberWords(src)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(w.named)); !slices.Equal(got, []string{"no", "state_off", "state_on", "tab"}) {
		t.Errorf("named at run time: %v", got)
	}
	for file, want := range map[string]string{
		"words/b.en.ts": `export const b = { 2: "Tab\nSay \"{x}\"\non\noff", names2: "tab  state_on state_off" };` + "\n",
		"words/b.de.ts": `export const b = { 2: "Reiter\nSag {x}\nan\naus" };` + "\n",
		"words/en.ts":   sample()["words/en.ts"],
	} {
		if got, err := w.packed(filepath.Join(src, file)); err != nil || got != want {
			t.Errorf("%s is\n%s, %v, want\n%s", file, got, err, want)
		}
	}
	for content, want := range map[string]string{
		`t("yes")`:                       `t(0)`,
		`t(a === "yes" ? "yes" : "no")`:  `t(a === "yes" ? 0 : 1)`,
		`t(a ? "yes" : b ? "no" : "x")`:  `t(a ? 0 : b ? 1 : "x")`,
		`t(of("yes") ? "no" : f("yes"))`: `t(of("yes") ? 1 : f("yes"))`,
		`su("say", { x: t("no") })`:      `su(3, { x: t(1) })`,
		"t(`yes`) + set(\"yes\")":        "t(`yes`) + set(\"yes\")",
		`t(say, "yes")`:                  `t(say, "yes")`,
	} {
		if got, _ := w.withNumbers(content); got != want {
			t.Errorf("%s becomes %s, want %s", content, got, want)
		}
	}
}

// TestWordsAreRefused: a word that nothing uses, one that a language lacks, one that stands twice,
// a line that is none, and one that comes too late.
func TestWordsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, old, new, want string }{
		"unused": {"app.tsx", `t(ok ? "yes" : "no")`, `t("no")`, "no source uses the words yes"},
		"lacks":  {"words/b.de.ts", "  state_on: \"an\",\n", "", "has no state_on"},
		"twice":  {"words/a.en.ts", "  no:", "  tab: \"Tab\",\n  no:", "the word tab is there twice"},
		"line":   {"words/a.en.ts", `"No"`, `NO`, "want NAME"},
		"late":   {"app.tsx", "other", "another", "app.tsx needs the word"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := sample()
			files[c.file] = strings.ReplaceAll(files[c.file], c.old, c.new)
			src := sources(t, files)
			w, err := numberWords(src)
			if err == nil {
				_, err = w.packed(filepath.Join(src, "words/b.de.ts"))
			}
			if err == nil {
				err = w.checkFirst(metafile{}) // nothing is imported
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestWordsComeInTime: what the first view imports has its words there.
func TestWordsComeInTime(t *testing.T) {
	t.Parallel()
	w, err := numberWords(sources(t, sample()))
	if err != nil {
		t.Fatal(err)
	}
	meta, err := readMetafile(`{"inputs": {"src/app.tsx": {"imports": [{"path": "src/words/en.ts", "kind": "import-statement"}]},
		"src/words/en.ts": {"imports": [{"path": "src/words/a.en.ts", "kind": "import-statement"}, {"path": "src/words/b.en.ts", "kind": "dynamic-import"}]}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.checkFirst(meta); err == nil {
		t.Error("words that are fetched later are there")
	}
	meta.Inputs["src/words/en.ts"].Imports[1].Kind = "import-statement"
	if err := w.checkFirst(meta); err != nil {
		t.Error(err)
	}
}
