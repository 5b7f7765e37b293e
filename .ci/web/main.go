// Command web bundles the web app, api/web/src, into api/web/dist, and the API reference,
// api/web/reference, into api/web/dist-docs: go -C .ci/web run .
// With -check it changes nothing and fails when one of them is of another source. It needs Go alone:
// esbuild is a Go module, and the libraries are in api/web/lib.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
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
		packed := pack(content)
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
	lib, err := filepath.Abs(filepath.Join(root, "lib"))
	if err != nil {
		return nil, err
	}
	src := filepath.Join(root, "src")
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(src, "app.tsx"), filepath.Join(src, "app.css"), filepath.Join(src, "setup.css"), filepath.Join(src, "box.css")},
		Outdir:      filepath.Join(root, "dist"), Bundle: true, Splitting: true, Format: api.FormatESModule,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", NodePaths: []string{lib}, Target: api.ES2022,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning, ChunkNames: "[name]-[hash]", Metafile: true,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("%d errors", len(result.Errors))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		if files[name], err = os.ReadFile(filepath.Join(src, name)); err != nil {
			return nil, err
		}
	}
	files["index.html"], err = preload(files["index.html"], result.Metafile)
	return files, err
}

// bundleReference returns the files of dist-docs by name.
func bundleReference(root string) (map[string][]byte, error) {
	lib, err := filepath.Abs(filepath.Join(root, "lib"))
	if err != nil {
		return nil, err
	}
	src := filepath.Join(root, "reference")
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(src, "reference.tsx"), filepath.Join(src, "reference.css")},
		Outdir:      filepath.Join(root, "dist-docs"), Bundle: true, Format: api.FormatESModule,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", NodePaths: []string{lib}, Target: api.ES2022,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("%d errors", len(result.Errors))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	files["index.html"], err = os.ReadFile(filepath.Join(src, "index.html"))
	return files, err
}

// script is the element of index.html that loads the app.
const script = `<script type="module" src="app.js"></script>`

// preload adds to index.html what app.js imports, and what that imports, so that the browser asks
// for all of it at once. meta is the metafile of esbuild.
func preload(page []byte, meta string) ([]byte, error) {
	var built struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(meta), &built); err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	var follow func(output string)
	follow = func(output string) {
		for _, imported := range built.Outputs[output].Imports {
			if imported.Kind == "import-statement" && !needed[imported.Path] {
				needed[imported.Path] = true
				follow(imported.Path)
			}
		}
	}
	for output := range built.Outputs {
		if path.Base(output) == "app.js" {
			follow(output)
		}
	}
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

// pack compresses a file.
func pack(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a valid one
	}
	_, _ = w.Write(content) // of a buffer
	_ = w.Close()
	return b.Bytes()
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
