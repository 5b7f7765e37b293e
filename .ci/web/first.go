package main

import (
	"encoding/json"
	"fmt"
	"path"
)

// imports are the sources of a bundle, or the files of the result, with what each imports.
type imports map[string]struct {
	Imports []struct{ Path, Kind string }
}

// metafile is what esbuild says of a bundle.
type metafile struct{ Inputs, Outputs imports }

func readMetafile(text string) (m metafile, err error) {
	return m, json.Unmarshal([]byte(text), &m)
}

// reached returns the files of these names, what they import, and what that imports, without what
// is fetched later.
func reached(all imports, names ...string) map[string]bool {
	found := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		found[name] = true
		for _, imported := range all[name].Imports {
			if imported.Kind == "import-statement" && !found[imported.Path] {
				follow(imported.Path)
			}
		}
	}
	for _, name := range names {
		follow(name)
	}
	return found
}

// checkFirst fails when a source that does not wait for fetchWords needs a word that only
// words/rest.en.ts brings.
func (w *words) checkFirst(m metafile) error {
	there := reached(m.Inputs, "src/app.tsx", "src/screen/signin.tsx")
	late := map[string]bool{}
	for group, list := range w.groups {
		for _, name := range list.names {
			late[name] = !there["src/words/"+group+".en.ts"]
		}
	}
	return w.eachSource(func(file, content string) error {
		if !there[path.Join("src", file)] {
			return nil
		}
		_, said, named := w.uses(content)
		for _, name := range append(said, named...) {
			if late[name] {
				return fmt.Errorf("%s needs the word %s before the words of rest.en.ts are fetched", file, name)
			}
		}
		return nil
	})
}
