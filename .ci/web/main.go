// Command web bundles the web app, api/web/src, into api/web/dist, and the API reference,
// api/web/reference, into api/web/dist-docs: go -C .ci/web run .
// With -check it changes nothing and fails when one of them is of another source. It needs Go alone:
// esbuild is a Go module, and the libraries are in api/web/lib. CONTRIBUTING.md, "A page", says how
// the bundle is kept small.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"sensegate.web/deflate"
)

func main() {
	check := flag.Bool("check", false, "compare with what is there, and change nothing")
	root := flag.String("root", "../../api/web", "folder of the web app")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// site is a folder of bundled files. Beside it NAME.sum has the sums of its sources.
type site struct {
	name    string
	sources []string
	bundle  func(root string) (map[string][]byte, error)
}

var sites = []site{
	{"dist", []string{"src", "lib"}, bundle},
	{"dist-docs", []string{"reference", "lib", "src/css/tokens.css"}, bundleReference},
}

func run(root string, check bool) error {
	for _, s := range sites {
		if err := s.run(root, check); err != nil {
			return err
		}
	}
	return nil
}

// run bundles a site, or checks it.
func (s site) run(root string, check bool) error {
	files, err := s.bundle(root)
	if err != nil {
		return err
	}
	sources, err := sum(root, s.sources...)
	if err != nil {
		return err
	}
	dist, sums := filepath.Join(root, s.name), filepath.Join(root, s.name+".sum")
	if check {
		return compare(dist, sums, files, sources)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	total := 0
	for name, content := range files {
		packed := deflate.Gzip(content)
		total += len(packed)
		if err := os.WriteFile(filepath.Join(dist, name+".gz"), packed, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d files, %.1f KB gz\n", s.name, len(files), float64(total)/1000)
	return os.WriteFile(sums, []byte(sources), 0o644)
}

// bundle returns the files of dist by name.
func bundle(root string) (map[string][]byte, error) {
	w, err := numberWords(filepath.Join(root, "src"))
	if err != nil {
		return nil, err
	}
	files, meta, err := build(root, []string{"src/app.tsx", "src/app.css", "src/setup.css", "src/box.css", "src/worker.ts"}, w.plugin())
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"index.html", "icon.svg", "manifest.json"} {
		if files[name], err = os.ReadFile(filepath.Join(root, "src", name)); err != nil {
			return nil, err
		}
	}
	if files["index.html"], err = preload(files["index.html"], meta); err != nil {
		return nil, err
	}
	return files, w.checkFirst(meta)
}

// bundleReference returns the files of dist-docs by name.
func bundleReference(root string) (map[string][]byte, error) {
	files, _, err := build(root, []string{"reference/reference.tsx", "reference/reference.css"})
	if err != nil {
		return nil, err
	}
	files["index.html"], err = os.ReadFile(filepath.Join(root, "reference", "index.html"))
	return files, err
}

// build bundles sources below root.
func build(root string, sources []string, plugins ...api.Plugin) (map[string][]byte, metafile, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, metafile{}, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: sources, Outdir: "dist", EntryNames: "[name]", ChunkNames: "[name]-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", NodePaths: []string{filepath.Join(root, "lib")},
		Plugins: plugins, LogLevel: api.LogLevelWarning, Metafile: true,
	})
	if len(result.Errors) > 0 {
		return nil, metafile{}, fmt.Errorf("%d errors", len(result.Errors))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	meta, err := readMetafile(result.Metafile)
	return files, meta, err
}

// script is the element of index.html that loads the app.
const script = `<script type="module" src="app.js"></script>`

// preload adds to index.html what app.js imports, and what that imports, so that the browser asks
// for all of it at once.
func preload(page []byte, meta metafile) ([]byte, error) {
	needed := reached(meta.Outputs, "dist/app.js")
	delete(needed, "dist/app.js")
	var links strings.Builder
	for _, output := range slices.Sorted(maps.Keys(needed)) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s\">\n", path.Base(output))
	}
	before, after, found := bytes.Cut(page, []byte(script))
	if !found {
		return nil, fmt.Errorf("index.html has no %s", script)
	}
	return slices.Concat(before, []byte(links.String()+script), after), nil
}

// sum returns a line with the SHA-256 and the path of each file and of each one in folders, as
// api/web's test computes it.
func sum(root string, folders ...string) (string, error) {
	var lines strings.Builder
	files := os.DirFS(root)
	for _, folder := range folders {
		err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(files, name)
			fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), name)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return lines.String(), nil
}

// compare returns nil when dist holds the files, and the file sums the sums of their sources.
func compare(dist, sums string, files map[string][]byte, sources string) error {
	found, err := os.ReadFile(sums)
	if err != nil || string(found) != sources {
		return fmt.Errorf("%s is of other sources: run make web", dist)
	}
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	if len(entries) != len(files) {
		return fmt.Errorf("%s has %d files, want %d: run make web", dist, len(entries), len(files))
	}
	for name, content := range files {
		packed, err := os.Open(path.Join(dist, name+".gz"))
		if err != nil {
			return err
		}
		plain, err := gzip.NewReader(packed)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(plain)
		packed.Close()
		if err != nil {
			return err
		}
		if !bytes.Equal(got, content) {
			return fmt.Errorf("%s differs from what its sources give: run make web", name)
		}
	}
	return nil
}
