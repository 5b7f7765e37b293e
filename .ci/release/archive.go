package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is a file or directory of an archive.
type entry struct {
	name     string // a directory's ends with a slash
	mode     int64
	uid, gid int
	content  []byte
}

// writeTar writes entries, in their order, all of one time.
func writeTar(w io.Writer, at time.Time, entries []entry) error {
	to := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.gid, Size: int64(len(e.content)), ModTime: at, Typeflag: tar.TypeReg}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := to.WriteHeader(h); err != nil {
			return err
		}
		if _, err := to.Write(e.content); err != nil {
			return err
		}
	}
	return to.Close()
}

// writeArchive writes the tar.gz of a binary: with it, what a machine without a package manager needs.
func writeArchive(s source, b binary, out string) error {
	name := "sensegate-" + s.version + "-linux-" + b.name
	entries := []entry{{name: name + "/", mode: 0o755}}
	for _, f := range []struct{ in, from string }{
		{"LICENSE", s.file("LICENSE")}, {"README.md", s.file("README.md")},
		{"config.example.yaml", s.file("config.example.yaml")}, {"config.yaml", s.packaged("debian/config.yaml")},
		{"install.md", s.file("docs/install.md")}, {"licenses.md", s.file("docs/licenses.md")}, {"operation.md", s.file("docs/operation.md")},
		{"privileged-ports.conf", s.packaged("privileged-ports.conf")}, {"sensegate", b.path},
		{"sensegate.service", s.packaged("sensegate.service")},
	} {
		content, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if f.in == "sensegate" {
			mode = 0o755
		}
		entries = append(entries, entry{name: name + "/" + f.in, mode: mode, content: content})
	}
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(zipped, s.date, entries); err != nil {
		return fmt.Errorf("archive for %s: %w", b.name, err)
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+".tar.gz"), packed.Bytes(), 0o644)
}
